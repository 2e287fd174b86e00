// What clients hear without having asked at that moment: one hub of the service's events for all of them, so that a thousand
// clients cost the service one listener.
import type { McpService } from "../interfaces/mcp-service.js";

/** Resources that one client follows. */
export class ResourceWatches {
  readonly #service: McpService;
  readonly #onUpdated: (uri: string) => void;
  readonly #watches = new Map<string, { stop: Promise<() => Promise<void>>; controller: AbortController }>();
  #closed = false;

  constructor(service: McpService, onUpdated: (uri: string) => void) {
    this.#service = service;
    this.#onUpdated = onUpdated;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** Follows a resource; one that is followed already stays followed once. Rejects where it cannot be. */
  async add(uri: string): Promise<void> {
    const present = this.#watches.get(uri);
    if (present !== undefined) return void (await present.stop);
    const controller = new AbortController();
    const stop = this.#service.subscribe(uri, () => this.#onUpdated(uri), { signal: controller.signal });
    this.#watches.set(uri, { stop, controller });
    try {
      await stop;
    } catch (error) {
      this.#watches.delete(uri);
      throw error;
    }
    if (this.#closed) await this.remove(uri);
  }

  /** Follows it no more. */
  async remove(uri: string): Promise<void> {
    const watch = this.#watches.get(uri);
    if (watch === undefined) return;
    this.#watches.delete(uri);
    watch.controller.abort();
    // Whoever subscribed has heard of the failure.
    const stop = await watch.stop.catch(() => undefined);
    await stop?.();
  }

  /** Follows nothing any more. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([...this.#watches.keys()].map((uri) => this.remove(uri)));
  }
}
