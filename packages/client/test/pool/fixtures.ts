// Several hubs on one pool, and a clock that only moves when the test says so.
import {
  ConnectionPool,
  type Hub,
  type HubOptions,
  openHub,
  type PoolClock,
  type ServerDefinition,
} from "../../src/index.js";
import { configOf } from "../hub/fixtures.js";

/** A pool with hubs that close before it. */
export class PoolHubs implements AsyncDisposable {
  readonly pool: ConnectionPool;
  readonly #hubs: Hub[] = [];

  constructor(pool = new ConnectionPool()) {
    this.pool = pool;
  }

  /** Opens a hub in the workspace `w`, unless the options name another. */
  async open(servers: ServerDefinition | readonly ServerDefinition[], options: HubOptions = {}): Promise<Hub> {
    const config = configOf(...(Array.isArray(servers) ? servers : [servers]));
    const hub = await openHub(config, { connections: this.pool, workspace: "w", ...options });
    this.#hubs.push(hub);
    return hub;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#hubs.map((hub) => hub.close()));
    await this.pool.close();
  }
}

export function pidOf(hub: Hub, server?: string): number {
  const status = hub.status().find(({ name }) => server === undefined || name === server);
  if (status?.pid === undefined) throw new Error(`no process: ${status?.state} ${status?.error?.message}`);
  return status.pid;
}

/** Different processes of these hubs' first servers. */
export function pidsOf(hubs: readonly Hub[]): number[] {
  return [...new Set(hubs.map((hub) => pidOf(hub)))];
}

export class ManualClock implements PoolClock {
  #nowMs = Date.now();
  readonly #timers = new Set<{ readonly atMs: number; readonly work: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, work: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, work };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Lets time pass, and runs what is due on the way, in order. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.work();
    }
    this.#nowMs = endMs;
  }
}

/** A promise that the test resolves. */
export function createSignal() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}
