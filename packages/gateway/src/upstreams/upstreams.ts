// The upstream servers, as surface, prompts and resources see them: opened on first use, connected when a client lists
// what they offer, with waits bounded to what a client will tolerate.
import type { Hub, KnownServer, ListKind, MeasureTools } from "@trunkline/client";
import { abortable, atMost, type Logger, messageOf, type TrunklineError, toTrunklineError } from "@trunkline/core";
import { META, RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Exchange } from "../interfaces/exchange.js";

/** How long a list waits for servers that are still connecting. Later arrivals are announced with list_changed. */
const PATIENCE_MS = 5_000;
/**
 * How long the lookup of a single name waits for connecting servers. Shorter, because a caller is waiting for the
 * answer.
 */
export const LOOKUP_PATIENCE_MS = 1_500;

/** Codes about the connection between us and the upstream server. They mean nothing to our client. */
const HOP_CODES: ReadonlySet<number> = new Set([
  RPC_CODES.parseError,
  RPC_CODES.headerMismatch,
  RPC_CODES.unsupportedVersion,
]);

/** A definition that is new, changed or held. */
export type DefinitionNews = Parameters<Parameters<Hub["onDefinitionsChanged"]>[0]>[1][number];

/** Notified when lists or a server's state change. */
interface UpstreamsListener {
  onOpened(hub: Hub): void;
  onCatalogue(changed: readonly ListKind[]): void;
  onDefinitions(server: string, news: readonly DefinitionNews[]): void;
  onStatus(): void;
}

interface UpstreamsOptions {
  readonly logger: Logger;
  readonly listener?: UpstreamsListener;
  /** Where the hub remembers the tools of servers between runs. */
  readonly folder?: string;
  /** Measures the tools of a server when they change. */
  readonly measure?: MeasureTools;
}

/** The hub, opened once and shared by the whole service, with limits on how long callers wait for it. */
export class Upstreams {
  readonly #open: () => Promise<Hub>;
  readonly #options: UpstreamsOptions;
  readonly #lifetime = new AbortController();
  /** Servers that are still connecting, and since when. */
  readonly #connecting = new Map<string, { readonly attempt: Promise<void>; readonly sinceMs: number }>();
  #hub: Promise<Hub> | undefined;
  #opened: Hub | undefined;
  #followed: Promise<Hub> | undefined;
  #following: Hub | undefined;
  #stopListening: (() => void)[] = [];

  constructor(open: () => Promise<Hub>, options: UpstreamsOptions) {
    this.#open = open;
    this.#options = options;
  }

  /** The hub, if it has been used already. */
  get opened(): Hub | undefined {
    return this.#opened;
  }

  /** The hub, if it has loaded what it remembers: see {@link followed}. */
  get following(): Hub | undefined {
    return this.#following;
  }

  /** Returns the hub. Retries if opening it failed. */
  hub(): Promise<Hub> {
    this.#hub ??= this.#open().then(
      (hub) => {
        this.#opened = hub;
        if (this.#lifetime.signal.aborted) return hub;
        this.#stopListening = [
          hub.onCatalogChanged((changed) => this.#options.listener?.onCatalogue(changed)),
          hub.onStatusChanged(() => this.#options.listener?.onStatus()),
          hub.onDefinitionsChanged((server, news) => this.#options.listener?.onDefinitions(server, news)),
        ];
        this.#options.listener?.onOpened(hub);
        return hub;
      },
      (error: unknown) => {
        this.#hub = undefined;
        throw error;
      },
    );
    return this.#hub;
  }

  /** Returns the hub. From the first call on, it remembers the tools of its servers for later runs. */
  async followed(): Promise<Hub> {
    this.#followed ??= this.hub().then(async (hub) => {
      const { folder, measure } = this.#options;
      const { signal } = this.#lifetime;
      await hub.catalogue.remember({
        folder,
        // The hub lives longer.
        measure: measure && (async (...given) => (signal.aborted ? undefined : await measure(...given))),
      });
      this.#following = hub;
      return hub;
    });
    try {
      return await this.#followed;
    } catch (error) {
      this.#followed = undefined;
      throw error;
    }
  }

  /**
   * Returns every server, sorted by name, with its current tools or those from its last connection. Connects nothing.
   */
  async servers(): Promise<KnownServer[]> {
    return (await this.followed()).catalogue.servers();
  }

  /** Learns what other processes have seen meanwhile of servers that are not connected. Returns whether that is new. */
  async refresh(): Promise<boolean> {
    return await (await this.followed()).catalogue.refresh();
  }

  /** Waits until the tools known so far have been measured. */
  async measured(): Promise<void> {
    await (await this.followed()).catalogue.saved();
  }

  /** Returns the hub once every pending server has connected or its wait is over. */
  async settled(signal: AbortSignal, patienceMs: number = PATIENCE_MS): Promise<Hub> {
    const hub = await this.hub();
    const pending = hub.status().filter(({ state }) => state === "pending");
    await this.reach(
      pending.map(({ name }) => name),
      { signal, patienceMs },
    );
    return hub;
  }

  /**
   * Returns the hub once the tools of every server are known, if only from earlier runs, or the wait is over. Servers
   * whose tools are known are connected, too, but not waited for.
   */
  async known(signal: AbortSignal): Promise<Hub> {
    const hub = await this.followed();
    const pending = hub.catalogue.servers().filter(({ status }) => status.state === "pending");
    const namesOf = (servers: readonly KnownServer[]) => servers.map(({ status }) => status.name);
    for (const name of namesOf(pending.filter(({ tools }) => tools !== undefined))) void this.#connect(hub, name, 0);
    await this.reach(namesOf(pending.filter(({ tools }) => tools === undefined)), { signal });
    return hub;
  }

  /**
   * Connects servers and waits for each until it has connected or its wait is over. The attempts go on without the
   * caller.
   */
  async reach(
    servers: readonly string[],
    { signal, patienceMs = PATIENCE_MS }: { signal: AbortSignal; patienceMs?: number },
  ): Promise<void> {
    if (servers.length === 0) return;
    const hub = await this.hub();
    await abortable(signal, Promise.all(servers.map((name) => this.#connect(hub, name, patienceMs))));
  }

  /**
   * Returns the lists of all connected servers, in order of server name. Omits a server that cannot list, or not in
   * time; its list arrives later as a change.
   */
  async each<T>(
    signal: AbortSignal,
    list: (hub: Hub, where: { server: string; signal: AbortSignal }) => Promise<readonly T[]>,
    patienceMs?: number,
  ): Promise<{ items: T[]; isComplete: boolean }> {
    const hub = await this.settled(signal, patienceMs);
    const lists = await Promise.all(
      this.#connected(hub).map(async (server) => {
        const listing = list(hub, { server, signal }).catch((error: unknown) => {
          this.#options.logger.debug("list omitted", { server, error: messageOf(error) });
          return undefined;
        });
        return await atMost(patienceMs ?? PATIENCE_MS, listing, this.#lifetime.signal);
      }),
    );
    signal.throwIfAborted();
    return { items: lists.flatMap((items) => items ?? []), isComplete: !lists.includes(undefined) };
  }

  /** Stops listening to the hub, which stays open. Idempotent. */
  async close(): Promise<void> {
    this.#lifetime.abort();
    for (const stop of this.#stopListening) stop();
    await this.#following?.catalogue.saved();
  }

  /**
   * Connects a server. Never rejects. The wait counts from the start of the attempt, so later callers do not wait the
   * full time again.
   */
  async #connect(hub: Hub, name: string, patienceMs: number): Promise<void> {
    let running = this.#connecting.get(name);
    if (running === undefined) {
      const attempt = hub
        .connect([name])
        .catch((error: unknown) =>
          this.#options.logger.debug("server not connected", { server: name, error: messageOf(error) }),
        )
        .finally(() => this.#connecting.delete(name));
      running = { attempt, sinceMs: performance.now() };
      this.#connecting.set(name, running);
    }
    const leftMs = patienceMs - (performance.now() - running.sinceMs);
    if (leftMs > 0) await atMost(leftMs, running.attempt, this.#lifetime.signal);
  }

  /** Returns the names of the connected servers, sorted. */
  #connected(hub: Hub): string[] {
    return hub.status().flatMap(({ name, state }) => (state === "connected" ? [name] : []));
  }
}

/**
 * Returns the upstream server's protocol error, to forward to our client. Undefined for any other failure: a server
 * that is down, too slow, or requires sign-in.
 */
export function passedOn(error: TrunklineError): RpcError | undefined {
  const { code, message, data } = error.data ?? {};
  if (error.code !== "UPSTREAM" || typeof code !== "number" || HOP_CODES.has(code)) return undefined;
  return new RpcError(code, typeof message === "string" ? message : error.message, { data, cause: error });
}

/**
 * Turns any failure of a request that cannot report it otherwise into a protocol error, either the upstream server's or
 * ours.
 */
export function asRpcError(error: unknown, code: number): RpcError {
  if (error instanceof RpcError) return error;
  const known = toTrunklineError(error);
  const { hint } = known;
  return (
    passedOn(known) ??
    new RpcError(code, hint === undefined ? known.message : `${known.message} ${hint}`, {
      data: { code: known.code, ...(hint === undefined ? {} : { hint }) },
      cause: known,
    })
  );
}

/** Removes the upstream server's fields about its connection to us from a result. Everything else is unchanged. */
export function faithful(raw: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const meta = raw._meta as Readonly<Record<string, unknown>> | undefined;
  const introduces = meta?.[META.serverInfo] !== undefined;
  if (!introduces && raw.resultType === undefined) return raw;
  const { resultType: _, _meta: __, ...rest } = raw;
  if (meta === undefined) return rest;
  const { [META.serverInfo]: ___, ...kept } = meta;
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept };
}

/** Adds the caller's `_meta` to parameters. */
export function withMeta(params: Readonly<Record<string, unknown>>, { meta }: Exchange): Record<string, unknown> {
  return Object.keys(meta).length === 0 ? { ...params } : { ...params, _meta: meta };
}
