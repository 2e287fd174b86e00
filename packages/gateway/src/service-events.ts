// Sends notifications from the service to clients. Combines changes in quick succession into one.
import { type Logger, messageOf } from "@trunkline/core";
import type { ServiceEvent } from "./interfaces/mcp-service.js";

const QUIET_MS = 50;

export class ServiceEvents implements Disposable {
  readonly #logger: Logger;
  readonly #listeners = new Set<(event: ServiceEvent) => void>();
  readonly #waiting = new Set<ServiceEvent["kind"]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Reports changes until the returned function is called. */
  listen(listener: (event: ServiceEvent) => void): () => void {
    const own = (event: ServiceEvent) => listener(event);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Records a change and reports it shortly after. */
  note(kind: ServiceEvent["kind"]): void {
    this.#waiting.add(kind);
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#tell(), QUIET_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #tell(): void {
    this.#timer = undefined;
    const kinds = [...this.#waiting];
    this.#waiting.clear();
    for (const kind of kinds) {
      for (const listener of this.#listeners) {
        try {
          listener({ kind });
        } catch (error) {
          this.#logger.error("a service listener failed", { error: messageOf(error) });
        }
      }
    }
  }
}
