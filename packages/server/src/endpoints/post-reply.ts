// The answer to one POST: a single JSON text where nothing is said before it, and an event stream from the moment something
// has to be. A call that takes long becomes a stream too, so that whoever is in between does not take it for dead.
import type { ServerResponse } from "node:http";
import type { OutgoingMessage } from "@trunkline/protocol";
import type { Outlet } from "../protocol/outlet.js";
import { EventStream } from "./event-stream.js";
import type { Beating, Heartbeat } from "./heartbeat.js";
import { sendEmpty, sendJson } from "./http-answers.js";

/** One reply of the modern era. */
export class PostReply implements Outlet, Beating {
  readonly #response: ServerResponse;
  readonly #heartbeat: Heartbeat;
  #stream: EventStream | undefined;
  #beats = 0;
  #hasEnded = false;

  constructor(response: ServerResponse, heartbeat: Heartbeat) {
    this.#response = response;
    this.#heartbeat = heartbeat;
    heartbeat.add(this);
  }

  send(message: OutgoingMessage): void {
    if (!this.#hasEnded) this.#upgrade().write({ data: JSON.stringify(message) });
  }

  /** Ends with this message, or, where the request was cancelled, without one. */
  finish(message: OutgoingMessage | undefined, status = 200): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#heartbeat.remove(this);
    if (this.#stream === undefined) {
      if (message === undefined) sendEmpty(this.#response, 202);
      else sendJson(this.#response, status, message);
      return;
    }
    if (message !== undefined) this.#stream.write({ data: JSON.stringify(message) });
    this.#stream.end();
  }

  beat(): void {
    this.#beats += 1;
    // The first beat may come right after the request.
    if (this.#beats > 1) this.#upgrade().comment();
  }

  #upgrade(): EventStream {
    this.#stream ??= new EventStream(this.#response, {});
    return this.#stream;
  }
}
