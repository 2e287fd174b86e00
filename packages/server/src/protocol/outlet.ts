// The way out for what a request says before its answer.
import type { OutgoingMessage } from "./messages.js";

/**
 * Where messages to a client go: the stream of one request, or the connection. What cannot be delivered any more is dropped.
 * Never throws.
 */
export interface Outlet {
  send(message: OutgoingMessage): void;
}
