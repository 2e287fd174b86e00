// What our callers want of the servers behind us: a level of log messages, roots, and connections of their own. It is kept
// here, because the servers are opened later than the first caller comes, and told then.
import type { Hub, Root } from "@trunkline/client";
import { type Logger, messageOf } from "@trunkline/core";
import { isLogged, type LogMessageLevel } from "@trunkline/protocol";
import type { Caller, Exchange } from "../interfaces/exchange.js";
import type { Upstreams } from "./upstreams.js";

/** The wishes of the callers of one service. */
export class UpstreamCallers {
  readonly #upstreams: Upstreams;
  readonly #logger: Logger;
  /** Lasting callers, and what lets go of what upstream servers keep for them alone. */
  readonly #held = new Map<string, () => void>();
  readonly #logLevels = new Map<string, LogMessageLevel>();
  /** The roots of the client at stdio. */
  #roots: readonly Root[] | undefined;

  constructor(upstreams: Upstreams, logger: Logger) {
    this.#upstreams = upstreams;
    this.#logger = logger;
  }

  /** The servers have been opened: what has been wished for so far is told. */
  onOpened(hub: Hub): void {
    const passing = Promise.all([this.#passLogLevel(hub), this.#passRoots(hub)]);
    passing.catch((error: unknown) => this.#logger.warn("a server was not told", { error: messageOf(error) }));
  }

  async setLogLevel(caller: Caller, level: LogMessageLevel): Promise<void> {
    this.#logLevels.set(caller.id, level);
    await this.#passLogLevel(this.#upstreams.opened);
  }

  async setRoots(caller: Caller, roots: readonly Root[]): Promise<void> {
    // Over HTTP several clients share the servers: roots of one are no answer to a question that nobody's call caused.
    if (caller.endpoint !== "stdio") return;
    this.#roots = roots;
    await this.#passRoots(this.#upstreams.opened);
  }

  /** Connections that a caller has to itself live as long as the caller, not only as long as a call. */
  hold({ caller, channel }: Exchange): void {
    const hub = this.#upstreams.opened;
    if (hub === undefined || channel.party === undefined || this.#held.has(caller.id)) return;
    const { party } = channel;
    const held = new Promise<void>((resolve) => this.#held.set(caller.id, resolve));
    hub
      .withChannel({ party }, () => held)
      .catch((error: unknown) => this.#logger.warn("connections not closed", { error: messageOf(error) }));
  }

  /** The caller has gone. What it held is let go of at once; the promise is for the servers that have to be told. */
  async release(caller: Caller): Promise<void> {
    this.#held.get(caller.id)?.();
    this.#held.delete(caller.id);
    if (this.#logLevels.delete(caller.id)) await this.#passLogLevel(this.#upstreams.opened);
  }

  close(): void {
    for (const release of this.#held.values()) release();
    this.#held.clear();
  }

  /** Servers send from the lowest level on that any caller wants; who wants less gets less at the endpoint. */
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
      this.#logger.warn("a server was not told of roots", { error: messageOf(error) });
    }
  }
}
