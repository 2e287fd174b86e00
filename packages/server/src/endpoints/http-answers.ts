// Plain answers over HTTP: one JSON text, or nothing but a status.
import type { ServerResponse } from "node:http";
import { errorMessage, type OutgoingMessage, RPC_CODES, RpcError, type RpcId } from "@trunkline/protocol";

/** A request that goes no further. */
export interface Refusal {
  readonly status: number;
  readonly error: RpcError;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Why a request goes no further, for what the protocol has no code for. */
export function refusal(status: number, message: string, headers?: Readonly<Record<string, string>>): Refusal {
  return { status, error: new RpcError(RPC_CODES.serverError, message), headers };
}

/** The session that the request names is not there: the client has to initialize again. */
export const SESSION_NOT_FOUND = new RpcError(RPC_CODES.sessionNotFound, "Session not found: initialize again.");

/** The body cannot be read as JSON. */
export const NOT_JSON: Refusal = {
  status: 400,
  error: new RpcError(RPC_CODES.parseError, "Parse error: the body is not JSON."),
};

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: OutgoingMessage | readonly OutgoingMessage[],
  headers?: Readonly<Record<string, string>>,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Answers that a request goes no further. */
export function refuse(response: ServerResponse, { status, error, headers }: Refusal, id: RpcId | null = null): void {
  sendJson(response, status, errorMessage(id, error), headers);
}

/** Answers with a status alone. */
export function sendEmpty(response: ServerResponse, status: number, headers?: Readonly<Record<string, string>>): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "content-length": 0, ...headers });
  response.end();
}
