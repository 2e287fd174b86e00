// One request while it is being answered, as its endpoint holds it: who asks, and where messages to them go.
import type { OutgoingMessage } from "@trunkline/protocol";
import type { Caller } from "../interfaces/exchange.js";

/**
 * Where messages to a client go: the stream of one request, or the connection. What cannot be delivered any more is dropped.
 * Never throws.
 */
export interface Outlet {
  send(message: OutgoingMessage): void;
}

/** What the protocol needs to know of the client and cannot read off the request. */
export interface ClientFacts {
  /** The id of the caller. */
  readonly id: string;
  readonly endpoint: Caller["endpoint"];
  readonly lasting: boolean;
  /** Stands for the connection, where there is one. */
  readonly party?: object | undefined;
}

/** One request under way. An object of its own, not a signal: most requests are never cancelled. */
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

  /** What to do when the client cancels; replaces what was said before. */
  onCancel(listener: ((reason: Error) => void) | undefined): void {
    this.#onCancel = listener;
    if (this.#cancelled !== undefined) listener?.(this.#cancelled);
  }

  /** The client has cancelled the request, or has gone. */
  cancel(reason: Error): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    this.#onCancel?.(reason);
  }
}
