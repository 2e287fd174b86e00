// One request in progress, as the endpoint sees it: who asks, and where messages to the client go.
import type { OutgoingMessage } from "@trunkline/protocol";
import type { Caller } from "../interfaces/exchange.js";

/**
 * Where messages to a client go: the stream of one request, or the connection. Undeliverable messages are dropped.
 * Never throws.
 */
export interface Outlet {
  send(message: OutgoingMessage): void;
}

/** Facts about the client that are not part of the request. */
export interface ClientFacts {
  /** The id of the caller. */
  readonly id: string;
  readonly principal: string;
  readonly endpoint: Caller["endpoint"];
  readonly lasting: boolean;
  /** Identifies the connection, if there is one. */
  readonly party?: object;
}

/** One request in progress. A small object instead of an AbortSignal, because most requests are never cancelled. */
export class RequestContext {
  readonly client: ClientFacts;
  readonly outlet: Outlet;
  #cancelled: Error | undefined;
  #onCancel: ((reason: Error) => void) | undefined;

  constructor(client: ClientFacts, outlet: Outlet) {
    this.client = client;
    this.outlet = outlet;
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /** Sets the handler for cancellation; replaces the previous one. */
  onCancel(listener: ((reason: Error) => void) | undefined): void {
    this.#onCancel = listener;
    if (this.#cancelled !== undefined) listener?.(this.#cancelled);
  }

  /** The client has cancelled the request or disconnected. */
  cancel(reason: Error): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    this.#onCancel?.(reason);
  }
}
