// Sits between the SDK's client and the transport, and works around what the client does not let through:
// - unknown content kinds in a modern answer, which the client would reject, bypass it;
// - a modern answer of kind `task`, which the client rejects as unknown, is passed on as a complete one that contains
// the task;
// - progress of a call that became a task is delivered even after the call's answer, when the SDK has forgotten its
// token;
// - progress arrives at a bounded rate, and values that are nested too deeply do not arrive at all;
// - an event stream that ends without its answer fails the call, which would otherwise wait until it times out.
import { isJSONRPCResultResponse, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";

import { isRecord } from "@trunkline/core";
import { isDeeperThan, MAX_MESSAGE_DEPTH, refusedAnswer } from "@trunkline/protocol";
import { ProgressLimit } from "./progress-limit.js";

/** Where {@link letAnswersThrough} puts a task created instead of a result. */
export const TASK_META_KEY = "trunkline/createdTask";

/** The code for an answer that never came; our own, outside the protocol's range. */
export const STREAM_ENDED_CODE = -32_950;

/** The prefix of our own progress tokens; those of the SDK are numbers. */
export const PROGRESS_TOKEN_PREFIX = "trunkline-";

/** Patches a transport in place. `onProgress` receives progress for our own tokens. */
export function letAnswersThrough(
  transport: Transport,
  onProgress: (params: Readonly<Record<string, unknown>>) => void,
): void {
  const waiting = new Set<string | number>();
  const progress = new ProgressLimit();
  let onmessage: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => onmessage,
    set: (handler: Transport["onmessage"]) => {
      onmessage =
        handler &&
        ((message, extra) => {
          if (!("method" in message)) {
            if (message.id !== undefined && waiting.delete(message.id)) progress.flush();
            handler(shallow(withoutItems(withTask(message))), extra);
          } else if (message.method !== "notifications/progress") {
            if (!isDeeperThan(message, MAX_MESSAGE_DEPTH)) handler(message, extra);
          } else {
            const { params } = message as { params?: Record<string, unknown> };
            progress.take(params?.progressToken, () =>
              isOwnToken(params?.progressToken) ? onProgress({ ...params }) : handler(message, extra),
            );
          }
        });
    },
  });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!("method" in message) || !("id" in message)) return await send(message, options);
    const { id } = message;
    waiting.add(id);
    if (transport.hasPerRequestStream !== true || options?.onRequestStreamEnd !== undefined) {
      return await send(message, options);
    }
    const onRequestStreamEnd = () => {
      if (!waiting.has(id)) return;
      onmessage?.({ jsonrpc: "2.0", id, error: { code: STREAM_ENDED_CODE, message: "no answer arrived" } });
    };
    try {
      await send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      waiting.delete(id);
      throw error;
    }
  };
}

function isOwnToken(token: unknown): boolean {
  return typeof token === "string" && token.startsWith(PROGRESS_TOKEN_PREFIX);
}

/** Replaces an answer that is nested too deeply with an error. */
function shallow(message: JSONRPCMessage): JSONRPCMessage {
  if (!("id" in message) || message.id === undefined || !isDeeperThan(message, MAX_MESSAGE_DEPTH)) return message;
  return refusedAnswer(message.id, "tooDeep", 0) as JSONRPCMessage;
}

/** Holds items that bypass the SDK's schemas. */
const ITEMS_META_KEY = "trunkline/items";

/** The lists in a result whose items may be of any kind. */
const ITEM_LISTS = ["content", "messages", "contents"] as const;

/** Removes the items that the SDK would check from a modern answer; {@link restoreItems} puts them back. */
function withoutItems(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCResultResponse(message) || message.result.resultType !== "complete") return message;
  const { result } = message;
  const list = ITEM_LISTS.find((key) => Array.isArray(result[key]));
  if (list === undefined) return message;
  const _meta = { ...result._meta, [ITEMS_META_KEY]: { list, items: result[list] } };
  return { ...message, result: { ...result, [list]: [], _meta } };
}

/** Restores the result as the server sent it. */
export function restoreItems(result: Record<string, unknown>): Record<string, unknown> {
  if (!isRecord(result._meta)) return result;
  const { [ITEMS_META_KEY]: kept, ..._meta } = result._meta;
  if (!isRecord(kept)) return result;
  const { _meta: _, ...rest } = result;
  return { ...rest, [String(kept.list)]: kept.items, ...(Object.keys(_meta).length === 0 ? {} : { _meta }) };
}

function withTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCResultResponse(message) || message.result.resultType !== "task") return message;
  const { resultType: _, _meta, ...task } = message.result;
  return { ...message, result: { resultType: "complete", content: [], _meta: { ..._meta, [TASK_META_KEY]: task } } };
}
