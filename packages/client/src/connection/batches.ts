// The batches of revision 2025-03-26: a server may put several messages into one JSON array. The SDK understands an array as
// the body of an answer, and our stdio transport one on a line; an array within an event of a stream is taken apart here.
import type { FetchLike } from "@modelcontextprotocol/client";
import { parseJson } from "@trunkline/core";
import { BATCH_REVISION, HEADERS } from "@trunkline/protocol";

/** The same `fetch`; each message of a batch in an event stream comes as an event of its own. */
export function withoutBatches(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream || response.body === null) return response;
    // Before a revision is negotiated there is no header, and batches cannot be ruled out.
    const revision = new Headers(init?.headers).get(HEADERS.protocolVersion) ?? BATCH_REVISION;
    if (revision !== BATCH_REVISION) return response;
    const body = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(eachMessageItsEvent())
      .pipeThrough(new TextEncoderStream());
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

/** Passes the text of an event stream on, with the events that hold a batch split. */
export function eachMessageItsEvent(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      rest += chunk;
      // An event ends with an empty line; a CR at the very end may still be half of a line's end.
      for (let end = endOfEvent(rest); end !== undefined; end = endOfEvent(rest)) {
        controller.enqueue(split(rest.slice(0, end)));
        rest = rest.slice(end);
      }
    },
    flush(controller) {
      if (rest !== "") controller.enqueue(rest);
    },
  });
}

function endOfEvent(text: string): number | undefined {
  const match = /(?:\r\n|\n|\r(?!\n|$))(?:\r\n|\n|\r(?!\n|$))/.exec(text);
  return match === null ? undefined : match.index + match[0].length;
}

function split(event: string): string {
  const lines = event.split(/\r\n|\n|\r/);
  const data = lines.flatMap((line) => /^data:? ?(.*)$/s.exec(line)?.[1] ?? []).join("\n");
  const messages = data.startsWith("[") ? parseArray(data) : undefined;
  if (messages === undefined) return event;
  const others = lines.filter((line) => line !== "" && !line.startsWith("data"));
  // Whoever resumes after this event has seen all of it, so only the last one bears its id.
  const withoutId = others.filter((line) => !line.startsWith("id"));
  return messages
    .map((message, index) => {
      const fields = index === messages.length - 1 ? others : withoutId;
      return [...fields, `data: ${JSON.stringify(message)}`, "", ""].join("\n");
    })
    .join("");
}

function parseArray(text: string): unknown[] | undefined {
  const value = parseJson(text);
  return Array.isArray(value) && value.length > 0 ? value : undefined;
}
