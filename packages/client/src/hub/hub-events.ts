// Whom a hub tells of changes. Several changes in one turn of the loop are told once.
import { type Logger, messageOf } from "@trunkline/core";
import type { ListKind } from "../connection/connection-options.js";

/** Told that something has changed; what, is to be asked of the hub. */
export type Listener = () => void;

/** Told which lists have changed, of whatever servers. */
export type CatalogueListener = (changed: readonly ListKind[]) => void;

/** Equal for lists that are equal. */
export type CatalogueFingerprints = Readonly<Record<ListKind, string>>;

const LIST_KINDS: readonly ListKind[] = ["tools", "prompts", "resources"];

/** Told of a notification and of the server that sent it. */
export type NotificationListener = (server: string, method: string, params: Readonly<Record<string, unknown>>) => void;

/** The listeners of one hub. */
export class HubEvents {
  readonly catalogue = new Set<CatalogueListener>();
  readonly status = new Set<Listener>();
  readonly notifications = new Set<NotificationListener>();
  readonly #logger: Logger;
  /** What the servers offer now. */
  readonly #fingerprints: () => CatalogueFingerprints;
  /** The catalogue that listeners were last told of. */
  #told: CatalogueFingerprints = { tools: "", prompts: "", resources: "" };
  #catalogueTurn = false;
  #statusTurn = false;

  constructor(options: { logger: Logger; fingerprints: () => CatalogueFingerprints }) {
    this.#logger = options.logger;
    this.#fingerprints = options.fingerprints;
  }

  /** What there is now is known to everybody. */
  begin(): void {
    this.#told = this.#fingerprints();
  }

  /** A list that came out the same is no change. */
  catalogueChanged(): void {
    if (this.#catalogueTurn) return;
    this.#catalogueTurn = true;
    queueMicrotask(() => {
      this.#catalogueTurn = false;
      const [now, before] = [this.#fingerprints(), this.#told];
      const changed = LIST_KINDS.filter((kind) => now[kind] !== before[kind]);
      if (changed.length === 0) return;
      this.#told = now;
      this.#tell(this.catalogue, changed);
    });
  }

  statusChanged(): void {
    if (this.#statusTurn) return;
    this.#statusTurn = true;
    queueMicrotask(() => {
      this.#statusTurn = false;
      this.#tell(this.status);
    });
  }

  notified(...told: Parameters<NotificationListener>): void {
    this.#tell(this.notifications, ...told);
  }

  clear(): void {
    this.catalogue.clear();
    this.status.clear();
    this.notifications.clear();
  }

  #tell<T extends unknown[]>(listeners: ReadonlySet<(...told: T) => void>, ...told: T): void {
    for (const listener of listeners) {
      try {
        listener(...told);
      } catch (error) {
        this.#logger.error("a listener of the hub failed", { error: messageOf(error) });
      }
    }
  }
}
