// Notifies the listeners of a hub. Several changes in one turn of the event loop are reported once.
import { type Logger, messageOf } from "@trunkline/core";
import type { CatalogueFingerprints } from "../catalogue/catalogue.js";
import type { ListKind } from "../connection/connection-options.js";
import type { PinChange } from "../pins/pin-state.js";

/** Called when something has changed; query the hub for details. */
export type Listener = () => void;

/** Called with the kinds of lists that have changed, of any server. */
export type CatalogueListener = (changed: readonly ListKind[]) => void;

const LIST_KINDS: readonly ListKind[] = ["tools", "prompts", "resources"];

/** Called with a notification and the server that sent it. */
export type NotificationListener = (server: string, method: string, params: Readonly<Record<string, unknown>>) => void;

/** Called with a server and its definitions that are new, changed or held. */
export type DefinitionsListener = (server: string, news: readonly PinChange[]) => void;

export class HubEvents {
  readonly catalogue = new Set<CatalogueListener>();
  readonly status = new Set<Listener>();
  readonly definitions = new Set<DefinitionsListener>();
  readonly notifications = new Set<NotificationListener>();
  readonly #logger: Logger;
  /** Computes the fingerprints of the current catalogue. */
  readonly #fingerprints: () => CatalogueFingerprints;
  /** The catalogue that was last reported to listeners. */
  #told: CatalogueFingerprints = { tools: "", prompts: "", resources: "" };
  #catalogueTurn = false;
  #statusTurn = false;

  constructor(options: { logger: Logger; fingerprints: () => CatalogueFingerprints }) {
    this.#logger = options.logger;
    this.#fingerprints = options.fingerprints;
  }

  /** Treats the current catalogue as already reported. */
  begin(): void {
    this.#told = this.#fingerprints();
  }

  /** Notifies listeners, unless the lists still have the same content. */
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

  defined(...told: Parameters<DefinitionsListener>): void {
    this.#tell(this.definitions, ...told);
  }

  notified(...told: Parameters<NotificationListener>): void {
    this.#tell(this.notifications, ...told);
  }

  clear(): void {
    this.catalogue.clear();
    this.status.clear();
    this.definitions.clear();
    this.notifications.clear();
  }

  #tell<T extends unknown[]>(listeners: ReadonlySet<(...told: T) => void>, ...told: T): void {
    for (const listener of listeners) {
      try {
        listener(...told);
      } catch (error) {
        this.#logger.error("a hub listener failed", { error: messageOf(error) });
      }
    }
  }
}
