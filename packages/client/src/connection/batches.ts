// Batches of revision 2025-03-26: a server can send several messages as one JSON array. The SDK accepts an array as a
// response body, and our stdio transport accepts one on a line. An array inside a stream event is split here.
import type { FetchLike } from "@modelcontextprotocol/client";
import { parseJson } from "@trunkline/core";
import { BATCH_REVISION, HEADERS } from "@trunkline/protocol";

/** Wraps `fetch` so that each message of a batch in an event stream becomes its own event. */
export function withoutBatches(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream || response.body === null) return response;
    // Before a revision is negotiated there is no header, and batches are possible.
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

/** Passes an event stream through, splitting events that contain a batch. */
export function eachMessageItsEvent(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      rest += chunk;
      // An event ends with an empty line; a trailing CR may be half of a line ending.
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
  // A client that resumes after this event must have seen the whole batch, so only the last message keeps the id.
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
