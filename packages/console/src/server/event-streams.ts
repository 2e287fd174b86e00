// The event streams of open pages.
import type { ServerResponse } from "node:http";
import type { ConsoleEvent } from "../contract/index.js";

/** A page that does not read is disconnected; it comes back and asks for everything again. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const TICK_MS = 10_000;

export class EventStreams {
  /** Each with whether its token still counts. */
  readonly #streams = new Map<ServerResponse, () => boolean>();
  readonly #onCount: (count: number) => void;
  #ticking: NodeJS.Timeout | undefined;

  constructor(onCount: (count: number) => void) {
    this.#onCount = onCount;
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Keeps a response open and sends events to it, `first` at once, for as long as its token is valid. */
  open(response: ServerResponse, { first, isValid }: { first: ConsoleEvent; isValid: () => boolean }): void {
    response.write(lineOf(first));
    this.#streams.set(response, isValid);
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS).unref();
    this.#onCount(this.#streams.size);
    response.once("close", () => {
      this.#streams.delete(response);
      if (this.#streams.size === 0) this.#stopTicking();
      this.#onCount(this.#streams.size);
    });
  }

  send(event: ConsoleEvent): void {
    if (this.#streams.size === 0) return;
    const line = lineOf(event);
    for (const response of this.#streams.keys()) {
      if (response.writableLength > MAX_WAITING_BYTES) response.destroy();
      else response.write(line);
    }
  }

  close(): void {
    this.#stopTicking();
    for (const response of this.#streams.keys()) response.end();
  }

  #tick(): void {
    for (const [response, isValid] of this.#streams) if (!isValid()) response.end();
    this.send({ kind: "tick" });
  }

  #stopTicking(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }
}

function lineOf(event: ConsoleEvent): string {
  return `${JSON.stringify(event)}\n`;
}
