// Failures of HTTP requests. A network failure is passed on as it is, with the code of the system.

/** The server refused a request. */
export class HttpError extends Error {
  override readonly name: string = "HttpError";
  readonly status: number;
  /** The beginning of the response's body. */
  readonly text: string;

  constructor(status: number, { reason, text = "" }: { reason?: string; text?: string } = {}) {
    super(reason ?? `HTTP ${status}`);
    this.status = status;
    this.text = text;
  }
}

/** The server does not have the event stream of HTTP+SSE. The status is that of its response; 0 without one. */
export class EventStreamError extends HttpError {
  override readonly name = "EventStreamError";
}

/** The token lacks a scope that the request needs. */
export class InsufficientScopeError extends Error {
  override readonly name = "InsufficientScopeError";
  /** The scopes that the server asks for. */
  readonly requiredScope: string | undefined;

  constructor(requiredScope: string | undefined) {
    super(`Insufficient scope${requiredScope === undefined ? "" : `: required "${requiredScope}"`}`);
    this.requiredScope = requiredScope;
  }
}

/** The stream of a request ended without its answer, and cannot be resumed. The server may have run the request. */
export class StreamEndedError extends Error {
  override readonly name = "StreamEndedError";

  constructor(cause?: unknown) {
    super("the stream ended without an answer", cause === undefined ? undefined : { cause });
  }
}

/** Whether a failure means, by the rules of the specification, that the server does not support this transport. */
export function isOtherTransport(error: unknown): boolean {
  if (!(error instanceof HttpError) || error.status === 401 || error.status === 403) return false;
  if (error instanceof EventStreamError) return true;
  return error.status >= 400 && error.status < 500 && error.status !== 429;
}
