// JSON-RPC messages: what came in, sorted by kind, and what goes out. Everything that is not part of the frame passes as it is.
import { RPC_CODES, RpcError } from "./rpc-errors.js";

export type RpcId = string | number;

/** Parameters, as they came. */
export type RpcParams = Readonly<Record<string, unknown>>;

/** A request of the client. */
export interface RpcRequest {
  readonly kind: "request";
  readonly id: RpcId;
  readonly method: string;
  readonly params: RpcParams;
}

/** A notification of the client. */
export interface RpcNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: RpcParams;
}

/** The client's answer to a request of ours. */
export interface RpcResponse {
  readonly kind: "response";
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** What is JSON and no message. `id` is that of the request it may have been. */
export interface InvalidMessage {
  readonly kind: "invalid";
  readonly id: RpcId | null;
  readonly error: RpcError;
}

/** One message, sorted. */
export type IncomingMessage = RpcRequest | RpcNotification | RpcResponse | InvalidMessage;

/** A message of ours, before it is text. */
export type OutgoingMessage = Readonly<Record<string, unknown>>;

const NO_PARAMS: RpcParams = Object.freeze({});

/** Whether a value is an object that is neither null nor a list: what JSON calls an object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether this can be the id of a request. MCP has no null here, and fractions cannot be told apart reliably. */
export function isRpcId(id: unknown): id is RpcId {
  return typeof id === "string" || (typeof id === "number" && Number.isInteger(id));
}

/** Sorts one message. */
export function readMessage(value: unknown): IncomingMessage {
  if (!isJsonObject(value)) return invalid(null, "a message is a JSON object");
  const { id, method, params } = value;
  if (value.jsonrpc !== "2.0") return invalid(isRpcId(id) ? id : null, '"jsonrpc" has to be "2.0"');
  if (method === undefined) {
    if (id !== undefined && ("result" in value || "error" in value)) {
      return { kind: "response", id, result: value.result, error: value.error };
    }
    return invalid(isRpcId(id) ? id : null, '"method" is missing');
  }
  if (typeof method !== "string") return invalid(isRpcId(id) ? id : null, '"method" has to be a string');
  if (id !== undefined && !isRpcId(id)) return invalid(null, '"id" has to be a string or a whole number');
  if (params !== undefined && !isJsonObject(params)) {
    const error = new RpcError(RPC_CODES.invalidParams, `Invalid params: "params" of ${method} has to be an object.`);
    // A notification is never answered, not even a bad one.
    return id === undefined ? { kind: "notification", method: "", params: NO_PARAMS } : { kind: "invalid", id, error };
  }
  const known = params ?? NO_PARAMS;
  return id === undefined
    ? { kind: "notification", method, params: known }
    : { kind: "request", id, method, params: known };
}

function invalid(id: RpcId | null, why: string): InvalidMessage {
  return { kind: "invalid", id, error: new RpcError(RPC_CODES.invalidRequest, `Invalid request: ${why}.`) };
}

/** The answer to a request. */
export function resultMessage(id: RpcId, result: RpcParams): OutgoingMessage {
  return { jsonrpc: "2.0", id, result };
}

/** The answer to a request that failed, or to what was none. */
export function errorMessage(id: RpcId | null, error: RpcError): OutgoingMessage {
  return { jsonrpc: "2.0", id, error: errorObject(error) };
}

/** The `error` of an answer. */
export function errorObject(error: RpcError): RpcParams {
  const { code, message, data } = error;
  return data === undefined ? { code, message } : { code, message, data };
}

/** A notification of ours. */
export function notificationMessage(method: string, params?: RpcParams): OutgoingMessage {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}
