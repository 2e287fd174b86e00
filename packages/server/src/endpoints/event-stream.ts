// A stream of server-sent events as the answer to a request. A reader that does not keep up is cut off: its own stream ends,
// and the memory stays where it is.
import type { ServerResponse } from "node:http";

/** One event. */
export interface StreamEvent {
  /** JSON text; empty for an event that only carries its id. */
  readonly data: string;
  readonly id?: string | undefined;
  /** After how long a client that lost the stream should come back. */
  readonly retryMs?: number | undefined;
}

/** What a slow reader may keep waiting. */
export const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** The body of one response. */
export class EventStream {
  readonly #response: ServerResponse;
  #isOpen = true;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>) {
    this.#response = response;
    response.on("close", () => {
      this.#isOpen = false;
    });
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      // Proxies that collect a response before they pass it on would make the stream useless.
      "x-accel-buffering": "no",
      ...headers,
    });
    response.flushHeaders();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Writes an event. Dropped where the reader has gone. */
  write({ data, id, retryMs }: StreamEvent): void {
    const head = `${id === undefined ? "" : `id: ${id}\n`}${retryMs === undefined ? "" : `retry: ${retryMs}\n`}`;
    this.#put(`event: message\n${head}data: ${data}\n\n`);
  }

  /** Keeps whoever is in between from taking the stream for dead. */
  comment(): void {
    this.#put(": keep-alive\n\n");
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#response.end();
  }

  #put(text: string): void {
    if (!this.#isOpen) return;
    if (this.#response.writableLength > MAX_WAITING_BYTES) {
      this.#isOpen = false;
      this.#response.destroy();
      return;
    }
    this.#response.write(text);
  }
}
