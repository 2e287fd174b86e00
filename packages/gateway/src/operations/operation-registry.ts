// Finds operations: our own, and every tool of every server. Loads only names until an operation is requested.
import type { Hub, Root, ServerStatus } from "@trunkline/client";
import {
  abortError,
  isTrunklineError,
  type Logger,
  nearestNames,
  type SourcedTool,
  silentLogger,
  TrunklineError,
} from "@trunkline/core";
import { type Backends, storeFor } from "../interfaces/backends.js";
import type { Caller } from "../interfaces/exchange.js";
import type { Operation, OperationRegistry } from "../interfaces/operation.js";
import type { ToolUsage } from "../journal/tool-usage.js";
import { Upstreams } from "../upstreams/upstreams.js";
import { describeOperation } from "./describe.js";
import { heldOperation, heldToolOf } from "./held-operation.js";
import { type AccessOptions, StoreCalls } from "./store-calls.js";
import { storeOperations, type TokenReport } from "./store-operations.js";
import { ToolFinder } from "./tool-finder.js";
import { upstreamOperation } from "./upstream-operation.js";

export interface RegistryOptions extends AccessOptions {
  readonly backends: Backends;
  /** The servers of the backends' hub, if the service already has them. Closed by the code that created them. */
  readonly upstreams?: Upstreams;
  /** Where the last listings of upstream servers and the vectors of `find` are cached between runs. */
  readonly cacheFolder?: string;
  readonly logger?: Logger;
  /** Which tools are used, for the order of `find`. */
  readonly usage?: Pick<ToolUsage, "load" | "weightOf">;
  /**
   * How long `find` may wait for tools to be indexed by meaning. Default 0: they are indexed in the background, and
   * until then it answers by words. A process that answers one question has no background.
   */
  readonly findWaitMs?: number;
  /** What `status {tokens}` adds. */
  readonly tokens?: TokenReport;
}

/** The registry of a server. Closed by the code that creates it, before the backends. */
export interface ServerRegistry extends OperationRegistry, AsyncDisposable {
  /** Reads and writes only; the actions of the `session` tool are separate. */
  readonly builtin: readonly Operation[];
  readonly sessionActions: readonly Operation[];
  /** Finds an action of the `session` tool. Rejects with `NOT_FOUND` and the nearest names. */
  findAction(name: string): Promise<Operation>;
  /** A client reports its roots: folders that it may use. */
  setRoots(caller: Caller, roots: readonly Root[]): Promise<void>;
  /** The tools of servers have changed: `find` indexes them in the background. */
  indexTools(): void;
  /** Ends the session of a client that has disconnected. */
  release(caller: Caller): Promise<void>;
  close(): Promise<void>;
}

const SUGGESTIONS = 3;

/** Creates the registry. Opens nothing. */
export function createRegistry(options: RegistryOptions): ServerRegistry {
  const { backends, logger = silentLogger, cacheFolder } = options;
  const upstreams = options.upstreams ?? new Upstreams(() => backends.hub(), { folder: cacheFolder, logger });
  const calls = new StoreCalls({ ...options, store: storeFor(backends) });
  const defined = { calls, operations: backends.storeOperations, tokens: options.tokens };
  const actions = storeOperations("session", defined);
  const upstream = new UpstreamFinder(upstreams);
  const connect = (server: string, signal: AbortSignal | undefined) => upstream.connect(server, signal);
  const finder = new ToolFinder({
    upstreams,
    own: () => [...builtin, ...actions],
    embedder: backends.embedder === undefined ? undefined : async () => await backends.embedder?.(),
    usage: options.usage,
    cacheFolder,
    waitMs: options.findWaitMs,
    logger,
  });
  const builtin: readonly Operation[] = [
    ...storeOperations("read", defined),
    describeOperation({ upstreams, builtin: () => builtin, actions, connect, finder }),
    ...storeOperations("write", defined),
  ];
  const own = new Map([...actions, ...builtin].map((operation) => [operation.name, operation]));
  const find = async (name: string, signal: AbortSignal | undefined): Promise<Operation> => {
    const found = own.get(name);
    if (found === undefined) return await upstream.find(name, { signal, builtin });
    if (found.kind === "session") throw isAction(name);
    return found;
  };
  const close = async (): Promise<void> => {
    await finder.close();
    if (options.upstreams === undefined) await upstreams.close();
  };
  return {
    builtin,
    sessionActions: actions,
    find(name, { signal } = {}) {
      const live = own.has(name) ? undefined : upstream.live(name);
      return live === undefined ? find(name, signal) : Promise.resolve(live);
    },
    async findAction(name) {
      const action = actions.find((each) => each.name === name);
      if (action !== undefined) return action;
      const names = actions.map((each) => each.name);
      throw notFound(`Unknown action "${name}".`, nearestNames(name, names), `Available: ${names.join(", ")}.`);
    },
    indexTools: () => finder.indexSoon(),
    setRoots: (caller, roots) => calls.places.folders.setRoots(caller, roots),
    release: (caller) => calls.release(caller),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function isAction(name: string): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", `"${name}" is an action of the session tool.`, {
    hint: `Call session with {"action": "${name}"}.`,
    data: { parameter: "op" },
  });
}

function notFound(message: string, near: readonly string[], otherwise: string): TrunklineError {
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}? ${otherwise}` : otherwise;
  return new TrunklineError("NOT_FOUND", message, { hint, data: { near, parameter: "op" } });
}

/** Finds upstream tools. Connects only the servers that a name can belong to. */
class UpstreamFinder {
  readonly #upstreams: Upstreams;
  readonly #operations = new WeakMap<SourcedTool, Operation>();

  constructor(upstreams: Upstreams) {
    this.#upstreams = upstreams;
  }

  /** The operation for a tool of a connected server, if that is known without waiting. */
  live(name: string): Operation | undefined {
    const hub = this.#upstreams.following;
    const tool = hub?.liveTool(name);
    return hub === undefined || tool === undefined ? undefined : this.#operation(hub, tool);
  }

  async find(
    asked: string,
    { signal, builtin }: { signal: AbortSignal | undefined; builtin: readonly Operation[] },
  ): Promise<Operation> {
    const hub = await this.#upstreams.followed();
    const live = hub.liveTool(asked);
    if (live !== undefined) return this.#operation(hub, live);
    // The client is already loaded, because the hub comes from it.
    const { mayBelongTo, withoutGatewayPrefix } = await import("@trunkline/config");
    const ownersOf = (each: string) => hub.status().filter((status) => mayBelongTo(each, status.name));
    // A server may have such a name itself.
    const name = ownersOf(asked).length > 0 ? asked : withoutGatewayPrefix(asked);
    const own = name === asked ? undefined : builtin.find((operation) => operation.name === name);
    if (own !== undefined) return own;
    const owners = ownersOf(name);
    await hub.connect(
      owners.map((owner) => owner.name),
      signal,
    );
    if (signal?.aborted) throw abortError(signal, name);
    try {
      return this.#operation(hub, await hub.resolveTool(name));
    } catch (error) {
      const held = heldToolOf(error, hub);
      if (held !== undefined) return heldOperation(hub, held, () => this.find(name, { signal, builtin }));
      if (!isTrunklineError(error, "TOOL_NOT_FOUND")) throw error;
    }
    const states = hub.status().filter(({ name: server }) => owners.some((owner) => owner.name === server));
    const unusable = states.filter(({ state }) => state !== "connected");
    for (const { name: server, state } of unusable) {
      const names = [`${server}.authenticate`, `mcp__${server}__authenticate`];
      if (state === "needs-auth" && names.includes(name)) return this.#operation(hub, await hub.findTool(name, signal));
    }
    const owner = unusable.find(({ name: server }) => name.startsWith(`${server}.`)) ?? unusable[0];
    if (owner !== undefined) throw unavailable(owner);
    throw await this.#unknown(name, builtin);
  }

  /** Connects one server. Throws the reason if it is unavailable. */
  async connect(server: string, signal: AbortSignal | undefined): Promise<void> {
    const hub = await this.#upstreams.followed();
    await hub.connect([server], signal);
    if (signal?.aborted) throw abortError(signal, server);
    const status = hub.status().find(({ name }) => name === server);
    if (status !== undefined && status.state !== "connected") throw unavailable(status);
  }

  #operation(hub: Hub, tool: SourcedTool): Operation {
    const known = this.#operations.get(tool);
    if (known !== undefined) return known;
    const config = hub.status().find(({ name }) => name === tool.server)?.config;
    const operation = upstreamOperation(hub, tool, config);
    this.#operations.set(tool, operation);
    return operation;
  }

  async #unknown(name: string, builtin: readonly Operation[]): Promise<TrunklineError> {
    const servers = await this.#upstreams.servers();
    const tools = servers.flatMap((server) => server.tools ?? []);
    const own = builtin.map((operation) => operation.name);
    const dotted = tools.map(({ server, tool }) => `${server}.${tool}`);
    const bare = tools.filter(({ tool }) => tool === name).map(({ server, tool }) => `${server}.${tool}`);
    const near = [...new Set([...bare, ...nearestNames(name, [...own, ...dotted], SUGGESTIONS)])].slice(0, SUGGESTIONS);
    return notFound(`Unknown operation "${name}".`, near, 'describe {"find": "what you want to do"} finds others.');
  }
}

/** Builds the error that says why a server is unavailable. */
function unavailable({ name, state, error }: ServerStatus): TrunklineError {
  if (state === "needs-auth" && isTrunklineError(error, "AUTH_REQUIRED")) {
    const { message, hint = "" } = error;
    return new TrunklineError("AUTH_REQUIRED", message, {
      cause: error,
      hint: `Run the operation ${name}.authenticate to ask the user to sign in. ${hint}`.trimEnd(),
    });
  }
  if (error !== undefined) return error;
  const hints: Partial<Record<ServerStatus["state"], string>> = {
    disabled: "It is disabled in its configuration entry.",
    untrusted: "This project's configuration has not been approved yet. Run: trunkline trust",
  };
  const hint = hints[state];
  return new TrunklineError("SERVER_UNAVAILABLE", `The server "${name}" is not available: it is ${state}.`, {
    ...(hint === undefined ? {} : { hint }),
  });
}
