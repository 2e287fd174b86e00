/** The error codes of JSON-RPC and MCP. */
export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** JSON-RPC's generic server error. */
  serverError: -32_000,
  /** The HTTP session has ended: the client has to initialize again. */
  sessionNotFound: -32_001,
  /** The resource does not exist. Only before 2026-07-28; later revisions use `invalidParams`. */
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  /** The client lacks a capability that the request needs. */
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
  /** The user has to visit a page before the request can be answered. */
  urlElicitationRequired: -32_042,
} as const;

/** A protocol error, sent as a JSON-RPC error. A failed tool call is not one: it is sent as a result. */
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

/** The method does not exist in this revision. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
}
