// A call must mean the same to everyone who reads it: of `{"operations": […], "operations": […]}`, a program on the way
// may show the first list, and the parser keeps the last.
import { isRecord, repeatedKey } from "@trunkline/core";
import { isRpcId, RPC_CODES, RpcError, type RpcId } from "@trunkline/protocol";

/** Returns why a parsed message, or a batch, is rejected for its text; undefined if it is fine. Only calls are checked. */
export function repeatedKeyError(text: string, value: unknown): RpcError | undefined {
  const isCall = (message: unknown) => isRecord(message) && message.method === "tools/call";
  if (!(Array.isArray(value) ? value.some(isCall) : isCall(value))) return undefined;
  const key = repeatedKey(text);
  if (key === undefined) return undefined;
  return new RpcError(RPC_CODES.invalidParams, `Invalid params: the message repeats the key ${JSON.stringify(key)}.`);
}

/** The id to answer a rejected message with. */
export function answeredId(value: unknown): RpcId | null {
  return isRecord(value) && isRpcId(value.id) ? value.id : null;
}
