// Ends the HTTP request of a call together with the call. The SDK does so only for modern servers: a legacy one is told
// that the call was cancelled, but the response of a server that ignores it, or hangs, would stay open for good.
import type { FetchLike } from "@modelcontextprotocol/client";
import { isRecord, parseJson } from "@trunkline/core";
import { currentCall } from "../channel/in-flight.js";

/** Wraps `fetch` so that the request of a call that timed out or was cancelled is dropped, with its connection. */
export function endedWithCalls(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const call = currentCall()?.deadline.signal;
    const closing = init?.signal ?? undefined;
    // A call that has already ended sends its cancellation.
    if (call === undefined || call.aborted || closing?.aborted || init?.method !== "POST")
      return await fetch(url, init);
    const request = new AbortController();
    const onClosing = () => request.abort(closing?.reason);
    const onCallEnd = () => request.abort(call.reason);
    closing?.addEventListener("abort", onClosing);
    call.addEventListener("abort", onCallEnd);
    const forgetClosing = () => closing?.removeEventListener("abort", onClosing);
    let hasStream = false;
    try {
      const response = await fetch(url, { ...init, signal: request.signal });
      const { body, status, statusText, headers } = response;
      hasStream = body !== null && headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (body === null || !hasStream) return response;
      const ended = untilEndOf(call, body, {
        answer: () => cancelledAnswer(init.body),
        onEnd: () => {
          forgetClosing();
          request.abort(call.reason);
        },
      });
      return new Response(ended, { status, statusText, headers });
    } finally {
      call.removeEventListener("abort", onCallEnd);
      if (!hasStream) forgetClosing();
    }
  };
}

/**
 * Passes on an event stream until the call ends. Its last event is then an answer, so that the SDK does not try to resume
 * the stream.
 */
function untilEndOf(
  call: AbortSignal,
  body: ReadableStream<Uint8Array>,
  { answer, onEnd }: { answer: () => string; onEnd: () => void },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let hasEnded = false;
  let onCallEnd = () => {};
  const end = () => {
    hasEnded = true;
    call.removeEventListener("abort", onCallEnd);
    onEnd();
  };
  return new ReadableStream({
    start(controller) {
      onCallEnd = () => {
        // After the empty line, in case an event is incomplete.
        controller.enqueue(new TextEncoder().encode(`\n\ndata: ${answer()}\n\n`));
        controller.close();
        end();
      };
      call.addEventListener("abort", onCallEnd);
    },
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (hasEnded) return;
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        if (hasEnded) return;
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      if (!hasEnded) end();
      await reader.cancel(reason);
    },
  });
}

/** An answer to the request in the body. No one waits for it any more. */
function cancelledAnswer(body: unknown): string {
  const message = typeof body === "string" ? parseJson(body) : undefined;
  const id = isRecord(message) ? message.id : null;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_603, message: "The call was cancelled." } });
}
