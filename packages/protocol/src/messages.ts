// JSON-RPC messages: classifies incoming ones and builds outgoing ones. Everything outside the envelope passes through
// unchanged.
import { RPC_CODES, RpcError } from "./rpc-errors.js";

export type RpcId = string | number;

/** Parameters as received. */
export type RpcParams = Readonly<Record<string, unknown>>;

/** A request from the client. */
export interface RpcRequest {
  readonly kind: "request";
  readonly id: RpcId;
  readonly method: string;
  readonly params: RpcParams;
}

/** A notification from the client. */
export interface RpcNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: RpcParams;
}

/** The client's response to one of our requests. */
export interface RpcResponse {
  readonly kind: "response";
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Valid JSON that is not a valid message. `id` is the request id, if there is one. */
interface InvalidMessage {
  readonly kind: "invalid";
  readonly id: RpcId | null;
  readonly error: RpcError;
}

export type IncomingMessage = RpcRequest | RpcNotification | RpcResponse | InvalidMessage;

/** A message to send, before serialization. */
export type OutgoingMessage = Readonly<Record<string, unknown>>;

const NO_PARAMS: RpcParams = Object.freeze({});

/** Whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether this is a valid request id. MCP does not allow null, and fractions cannot be compared reliably. */
export function isRpcId(id: unknown): id is RpcId {
  return typeof id === "string" || (typeof id === "number" && Number.isInteger(id));
}

/** Classifies one message. */
export function readMessage(value: unknown): IncomingMessage {
  if (!isJsonObject(value)) return invalid(null, "a message has to be a JSON object");
  const { id, method, params } = value;
  if (value.jsonrpc !== "2.0") return invalid(isRpcId(id) ? id : null, '"jsonrpc" has to be "2.0"');
  if (method === undefined) {
    if (id !== undefined && ("result" in value || "error" in value)) {
      return { kind: "response", id, result: value.result, error: value.error };
    }
    return invalid(isRpcId(id) ? id : null, '"method" is missing');
  }
  if (typeof method !== "string") return invalid(isRpcId(id) ? id : null, '"method" has to be a string');
  if (id !== undefined && !isRpcId(id)) return invalid(null, '"id" has to be a string or an integer');
  if (params !== undefined && !isJsonObject(params)) {
    const error = new RpcError(RPC_CODES.invalidParams, `Invalid params: "params" of ${method} has to be an object.`);
    // A notification never gets a response, even if it is invalid.
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

/** Builds the response to a request. */
export function resultMessage(id: RpcId, result: RpcParams): OutgoingMessage {
  return { jsonrpc: "2.0", id, result };
}

/** Builds the response to a failed request or an invalid message. */
export function errorMessage(id: RpcId | null, error: RpcError): OutgoingMessage {
  return { jsonrpc: "2.0", id, error: errorObject(error) };
}

/** Builds the `error` field of a response. */
export function errorObject(error: RpcError): RpcParams {
  const { code, message, data } = error;
  return data === undefined ? { code, message } : { code, message, data };
}

export function notificationMessage(method: string, params?: RpcParams): OutgoingMessage {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}
