// What callers request from upstream servers: a log level, roots, and their own connections. Servers are opened after
// the first caller arrives, so requests are stored here and passed on then.
import type { Hub, Root } from "@trunkline/client";
import { type Logger, messageOf } from "@trunkline/core";
import { isLogged, type LogMessageLevel } from "@trunkline/protocol";
import type { Caller, Exchange } from "../interfaces/exchange.js";
import type { Upstreams } from "./upstreams.js";

export class UpstreamCallers {
  readonly #upstreams: Upstreams;
  readonly #logger: Logger;
  /** Lasting callers, with the function that releases what upstream servers hold for them alone. */
  readonly #held = new Map<string, () => void>();
  /** The parties of lasting callers that came before the servers were opened. */
  readonly #waiting = new Map<string, object>();
  readonly #logLevels = new Map<string, LogMessageLevel>();
  /** The roots of the stdio client. */
  #roots: readonly Root[] | undefined;

  constructor(upstreams: Upstreams, logger: Logger) {
    this.#upstreams = upstreams;
    this.#logger = logger;
  }

  /** Called when the servers have been opened: passes on all requests so far. */
  onOpened(hub: Hub): void {
    for (const [id, party] of this.#waiting) this.#hold(hub, id, party);
    this.#waiting.clear();
    const passing = Promise.all([this.#passLogLevel(hub), this.#passRoots(hub)]);
    passing.catch((error: unknown) =>
      this.#logger.warn("cannot pass a setting to a server", { error: messageOf(error) }),
    );
  }

  async setLogLevel(caller: Caller, level: LogMessageLevel): Promise<void> {
    this.#logLevels.set(caller.id, level);
    await this.#passLogLevel(this.#upstreams.opened);
  }

  async setRoots(caller: Caller, roots: readonly Root[]): Promise<void> {
    // HTTP clients share the servers: one client's roots do not answer a question that was not caused by its call.
    if (caller.endpoint !== "stdio") return;
    this.#roots = roots;
    await this.#passRoots(this.#upstreams.opened);
  }

  /** Keeps a caller's own connections for as long as the caller, not just for one call. */
  hold({ caller, channel: { party } }: Exchange): void {
    if (party === undefined || this.#held.has(caller.id)) return;
    const hub = this.#upstreams.opened;
    if (hub === undefined) this.#waiting.set(caller.id, party);
    else this.#hold(hub, caller.id, party);
  }

  #hold(hub: Hub, id: string, party: object): void {
    const release = hub.holdChannel({ party });
    this.#held.set(id, () => {
      release().catch((error: unknown) => this.#logger.warn("cannot close connections", { error: messageOf(error) }));
    });
  }

  /**
   * The caller has disconnected. Releases what it held immediately; the promise resolves when the affected servers have
   * been notified.
   */
  async release(caller: Caller): Promise<void> {
    this.#held.get(caller.id)?.();
    this.#held.delete(caller.id);
    this.#waiting.delete(caller.id);
    if (this.#logLevels.delete(caller.id)) await this.#passLogLevel(this.#upstreams.opened);
  }

  close(): void {
    for (const release of this.#held.values()) release();
    this.#held.clear();
  }

  /** Sets servers to the lowest level that any caller wants; the endpoint filters for callers that want less. */
  async #passLogLevel(hub: Hub | undefined): Promise<void> {
    const [first, ...others] = this.#logLevels.values();
    if (hub === undefined || first === undefined) return;
    await hub.setLogLevels(others.reduce((low, level) => (isLogged(low, level) ? level : low), first));
  }

  async #passRoots(hub: Hub | undefined): Promise<void> {
    if (hub === undefined || this.#roots === undefined) return;
    try {
      await hub.setRoots(this.#roots);
    } catch (error) {
      this.#logger.warn("cannot send roots to a server", { error: messageOf(error) });
    }
  }
}
