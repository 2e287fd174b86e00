// The way out for what a request says before its answer.

/**
 * Where messages to a client go: the stream of one request, or the connection. What cannot be delivered any more is dropped.
 * Never throws.
 */
import type { OutgoingMessage } from "@trunkline/protocol";
export interface Outlet {
  send(message: OutgoingMessage): void;
}
