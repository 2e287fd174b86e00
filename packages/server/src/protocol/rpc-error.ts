/** The codes of JSON-RPC and MCP that the server sends. */
export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** A resource that is not there, before 2026-07-28 (from then on `invalidParams`). */
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  /** The client lacks a capability that the request needs. */
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
  /** A page has to be visited before the request can be answered. */
  urlElicitationRequired: -32_042,
} as const;

/** A protocol error: what becomes a JSON-RPC error on the wire. A failed tool call is not one, but a result. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, options: { data?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }
}
