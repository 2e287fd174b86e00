// What carries messages to a server and back: the pipes of a process, or HTTP requests and their streams. A wire checks
// only that something is a message; what the message means is up to the session that uses the wire.
import type { OutgoingMessage, RpcId } from "@trunkline/protocol";

/** A message as it arrived. Only `jsonrpc` has been checked. */
export type WireMessage = Readonly<Record<string, unknown>> & { readonly jsonrpc: "2.0" };

/** Receives what a wire has to report. */
export interface WireListener {
  /** A message arrived. `owner` is that of the request on whose own stream it came; undefined on a shared stream. */
  onMessage(message: WireMessage, owner: object | undefined): void;
  /** A request will never be answered: it could not be sent, was refused, or its stream ended. */
  onFailure(id: RpcId, error: unknown): void;
  /** Something failed that no request waits for. */
  onError(error: unknown): void;
  /** The stream for messages that belong to no request was lost, and could not be reopened so far. */
  onStreamLost(): void;
  /** The wire has ended, from either side. Called once. */
  onClose(): void;
}

export interface SendOptions {
  /** What the request belongs to. Whatever arrives on the request's own stream is reported with it. */
  readonly owner?: object;
  /** Headers for this request only, if the wire has headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Wire {
  /** Whether each request has its own stream, which carries the server's questions about it. */
  readonly hasOwnStreams: boolean;
  /** Whether the server has given us a session, which it can end. */
  readonly hasSession: boolean;
  /** Starts the process, or prepares the requests. Rejects if there is no way to send anything. */
  start(listener: WireListener): Promise<void>;
  /** Sends a request. Never throws: a failure is reported to the listener, with the request's id. */
  send(request: OutgoingMessage, options?: SendOptions): void;
  /** Sends a notification or an answer. Resolves when the server has accepted it. */
  post(message: OutgoingMessage): Promise<void>;
  /** Gives up a request: its stream is closed, and nothing more is reported about it. */
  drop(id: RpcId): void;
  /** Called once the revision is known. */
  setRevision(revision: string): void;
  /** Opens the stream for messages that belong to no request, if the wire needs one. */
  listen(): void;
  /** Ends the wire, and the server's session unless it has expired. Idempotent; resolves when everything has ended. */
  close(options?: { readonly isExpired?: boolean }): Promise<void>;
}

/** The wire has ended, and with it the requests that were waiting. */
export class WireClosedError extends Error {
  override readonly name = "WireClosedError";

  constructor() {
    super("the connection closed");
  }
}
