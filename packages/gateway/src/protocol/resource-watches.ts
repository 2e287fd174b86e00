// Unsolicited messages to clients: one shared hub for the service's events, so that a thousand clients cost the service
// one listener.
import type { McpService } from "../interfaces/mcp-service.js";

/** The resources that one client is subscribed to. */
export class ResourceWatches {
  readonly #service: McpService;
  readonly #principal: string;
  readonly #onUpdated: (uri: string) => void;
  readonly #watches = new Map<string, { stop: Promise<() => Promise<void>>; controller: AbortController }>();
  #closed = false;

  constructor(service: McpService, options: { principal: string; onUpdated: (uri: string) => void }) {
    this.#service = service;
    this.#principal = options.principal;
    this.#onUpdated = options.onUpdated;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** Subscribes to a resource; does nothing if already subscribed. Rejects if the subscription fails. */
  async add(uri: string): Promise<void> {
    const present = this.#watches.get(uri);
    if (present !== undefined) return void (await present.stop);
    const controller = new AbortController();
    const stop = this.#service.subscribe(uri, () => this.#onUpdated(uri), {
      principal: this.#principal,
      signal: controller.signal,
    });
    this.#watches.set(uri, { stop, controller });
    try {
      await stop;
    } catch (error) {
      this.#watches.delete(uri);
      throw error;
    }
    if (this.#closed) await this.remove(uri);
  }

  /** Unsubscribes from a resource. */
  async remove(uri: string): Promise<void> {
    const watch = this.#watches.get(uri);
    if (watch === undefined) return;
    this.#watches.delete(uri);
    watch.controller.abort();
    // The subscriber has already received the failure.
    const stop = await watch.stop.catch(() => undefined);
    await stop?.();
  }

  /** Unsubscribes from everything. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([...this.#watches.keys()].map((uri) => this.remove(uri)));
  }
}
