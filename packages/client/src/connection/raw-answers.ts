// What the SDK's client does not let through, put right between it and the transport:
// - a modern answer of the kind `task`, which it rejects as unknown, is passed on as a complete one that holds the task;
// - progress of a call that has become a task comes after the call's answer, when the SDK has forgotten its token;
// - an event stream that ends without the answer it was opened for, on which it would wait until the call's time is up.
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/client";

/** Where {@link letAnswersThrough} puts the task that was created in place of a result. */
export const TASK_META_KEY = "trunkline/createdTask";

/** The code of an answer that never came; ours, and outside what the protocol uses. */
export const STREAM_ENDED_CODE = -32_950;

/** Progress tokens of our own begin with this; those of the SDK are numbers. */
export const PROGRESS_TOKEN_PREFIX = "trunkline-";

/** Changes a transport in place. `onProgress` gets the progress that was asked for with a token of our own. */
export function letAnswersThrough(
  transport: Transport,
  onProgress: (params: Readonly<Record<string, unknown>>) => void,
): void {
  const waiting = new Set<string | number>();
  let onmessage: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => onmessage,
    set: (handler: Transport["onmessage"]) => {
      onmessage =
        handler &&
        ((message, extra) => {
          if (isJSONRPCNotification(message) && isOwnProgress(message)) return onProgress({ ...message.params });
          if (!("method" in message) && message.id !== undefined) waiting.delete(message.id);
          handler(withTask(message), extra);
        });
    },
  });
  if (transport.hasPerRequestStream !== true) return;
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (Array.isArray(message) || !isJSONRPCRequest(message) || options?.onRequestStreamEnd !== undefined) {
      return await send(message, options);
    }
    const { id } = message;
    waiting.add(id);
    const onRequestStreamEnd = () => {
      if (!waiting.has(id)) return;
      onmessage?.({ jsonrpc: "2.0", id, error: { code: STREAM_ENDED_CODE, message: "no answer came" } });
    };
    try {
      await send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      waiting.delete(id);
      throw error;
    }
  };
}

function isOwnProgress({ method, params }: { method: string; params?: Record<string, unknown> | undefined }): boolean {
  const token = params?.progressToken;
  return method === "notifications/progress" && typeof token === "string" && token.startsWith(PROGRESS_TOKEN_PREFIX);
}

function withTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCResultResponse(message) || message.result.resultType !== "task") return message;
  const { resultType: _, _meta, ...task } = message.result;
  return { ...message, result: { resultType: "complete", content: [], _meta: { ..._meta, [TASK_META_KEY]: task } } };
}
