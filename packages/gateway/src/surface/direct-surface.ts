// The direct surface: every upstream tool under a name of its own. Definitions, arguments and results are passed through
// unchanged, except that long results can be stored and shortened.
import type { HeldEntry, Hub, HubCallOptions, ToolKey } from "@trunkline/client";
import {
  type ContentStore,
  isRecord,
  LargeValue,
  type Logger,
  nearestNames,
  type SourcedTool,
  type ToolCallResult,
  TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import { JsonBytes, RPC_CODES, RpcError } from "@trunkline/protocol";
import { fitDirect, isLongResult } from "../budget/direct-result.js";
import type { Exchange } from "../interfaces/exchange.js";
import type { TaskSupport } from "../interfaces/mcp-service.js";
import {
  ExchangeContext,
  endWith,
  type Operation,
  type OperationOutcome,
  type Params,
} from "../interfaces/operation.js";
import { readerOf } from "../interfaces/reader.js";
import type { ServedTool, ToolResult } from "../interfaces/served-tool.js";
import type { CallLog } from "../journal/journal.js";
import { heldOperation } from "../operations/held-operation.js";
import type { RunStep } from "../operations/run-operation.js";
import { summaryOf, upstreamOutcome } from "../operations/upstream-operation.js";
import { faithful, passedOn, type Upstreams } from "../upstreams/upstreams.js";

/** How upstream tools are named: `mcp__docs__lookup`, `docs_lookup` or `lookup`. */
export type ToolNaming = "prefixed" | "wire" | "plain";

interface DirectSurfaceOptions {
  readonly upstreams: Upstreams;
  readonly names: ToolNaming;
  /** Whether a server that is not connected has the tools of its last connection. A call connects it. Default false. */
  readonly remembers?: boolean;
  /** The names of our own tools. */
  readonly reserved: ReadonlySet<string>;
  readonly run: RunStep;
  /** For calls that fail before they reach a server; `run` journals the others. */
  readonly log: CallLog;
  readonly logger: Logger;
  /**
   * Opens the store as a principal sees it. If given, long results are stored and shortened; otherwise all are passed on
   * unchanged.
   */
  readonly spill?: (principal: string) => Promise<ContentStore>;
  /** Called with each result and its server. */
  readonly onResult?: (server: string, result: ToolResult, exchange: Exchange) => void;
}

/** How often one call may find that its tool has to be woken up or accepted first. */
const MOST_RELEASES = 3;

/** A name that two servers use, or a server and one of our own tools. */
interface NameCollision {
  readonly name: string;
  readonly servers: readonly string[];
}

/** A tool of the table. */
export interface Listed {
  readonly server: string;
  readonly tool: string;
  readonly definition: ServedTool["definition"];
  /** As declared by its server. */
  readonly taskSupport: unknown;
}

interface Table {
  /** The names that the table was built from. The hub creates new ones whenever a list or a server's state changes. */
  readonly names: ReturnType<Hub["names"]>;
  readonly routes: ReadonlyMap<string, Operation>;
  readonly listed: readonly Listed[];
  readonly byName: ReadonlyMap<string, Listed>;
  readonly collisions: readonly NameCollision[];
}

export class DirectSurface {
  readonly #options: DirectSurfaceOptions;
  #table: Table | undefined;
  /** The routes of disconnected servers: a call during a restart waits for the server. */
  #away: ReadonlyMap<string, Operation> = new Map();
  readonly #warned = new Set<string>();

  constructor(options: DirectSurfaceOptions) {
    this.#options = options;
  }

  /**
   * Lists all tools, after waiting for servers that are connecting, unless their tools are remembered. Returns the same
   * array until something changes.
   */
  async list(signal: AbortSignal): Promise<readonly Listed[]> {
    const { upstreams, remembers } = this.#options;
    return await this.#list(remembers === true ? await upstreams.known(signal) : await upstreams.settled(signal));
  }

  /** Lists the tools that are known. Connects nothing. */
  async known(): Promise<readonly Listed[]> {
    return await this.#list(await this.#options.upstreams.hub());
  }

  async #list(hub: Hub): Promise<readonly Listed[]> {
    await hub.recheckHeld();
    return (await this.#current(hub)).listed;
  }

  /** Finds the names that more than one connected server has. */
  async collisions(signal: AbortSignal): Promise<readonly NameCollision[]> {
    // A server that hangs must not hide the tools of the others.
    const hub = await this.#options.upstreams.settled(signal);
    return (await this.#current(hub)).collisions;
  }

  /** A tool's definition as listed, if known. */
  definition(name: string): ServedTool["definition"] | undefined {
    return this.#table?.byName.get(name)?.definition;
  }

  /**
   * A tool's task support, if known. A tool that requires a task always runs as one upstream, even if the client does
   * not support tasks.
   */
  taskSupport(name: string): TaskSupport | undefined {
    const support = this.#table?.byName.get(name)?.taskSupport;
    if (support === "required") return "preferred";
    return support === "optional" || support === "forbidden" ? support : undefined;
  }

  /** Calls a tool. Rejects with an `RpcError` if it is unknown. */
  call(name: string, args: Params, exchange: Exchange): Promise<ToolResult> {
    const find = async (hub: Hub) => this.#known(hub, name) ?? (await this.#find(hub, name, exchange.signal));
    return this.#run(name, args, { exchange, find });
  }

  /** Calls a tool of a server, whatever the surface calls it. Rejects with an `RpcError` if it is unknown. */
  callTool({ server, tool }: ToolKey, args: Params, exchange: Exchange): Promise<ToolResult> {
    const find = (hub: Hub) => this.#findTool(hub, { server, tool }, exchange.signal);
    return this.#run(`${server}.${tool}`, args, { exchange, find });
  }

  async #run(
    name: string,
    args: Params,
    { exchange, find }: { exchange: Exchange; find: (hub: Hub) => Promise<Operation> },
  ): Promise<ToolResult> {
    const { upstreams, run, log, onResult } = this.#options;
    let wasRun = false;
    try {
      const hub = upstreams.opened ?? (await upstreams.hub());
      let operation = await find(hub);
      const context = new ExchangeContext(exchange);
      // A server can be woken up and then turn out to hold the tool; one that keeps failing is not woken up forever.
      for (let times = 0; operation.release !== undefined && times < MOST_RELEASES; times++)
        operation = await operation.release(context);
      wasRun = true;
      const { value } = await run({ operation, params: args, context });
      onResult?.(operation.server ?? "", value as ToolResult, exchange); // set by `passing`
      return value as ToolResult;
    } catch (error) {
      if (!wasRun) log.note(this.definition(name)?.name, exchange.caller, { asked: name, error });
      if (error instanceof RpcError) throw error;
      const failure = toTrunklineError(error);
      if (failure.code === "TOOL_NOT_FOUND" || failure.code === "SERVER_NOT_FOUND")
        throw unknownTool(name, failure.hint);
      const upstream = passedOn(failure);
      if (upstream !== undefined) throw upstream;
      return failureResult(failure);
    }
  }

  /** The operation for a name, if the table is up to date. */
  #known(hub: Hub, name: string): Operation | undefined {
    return this.#table?.names === this.#names(hub) ? this.#table.routes.get(name) : undefined;
  }

  /**
   * Finds the operation for a name. If the name is not in the table, its server may be disconnected or not connected
   * yet.
   */
  async #find(hub: Hub, name: string, signal: AbortSignal): Promise<Operation> {
    const known = async () => (await this.#current(hub)).routes.get(name) ?? this.#away.get(name);
    const found = (await known()) ?? (await this.#held(hub, name, signal));
    if (found !== undefined) return found;
    const { mayBelongTo } = await import("@trunkline/config");
    const candidates = hub
      .status()
      .filter(({ state }) => state !== "connected" && state !== "disabled" && state !== "untrusted")
      .filter((server) => this.#options.names === "plain" || mayBelongTo(name, server.name));
    if (candidates.length > 0) {
      await hub.connect(
        candidates.map((server) => server.name),
        signal,
      );
      const connected = (await known()) ?? (await this.#held(hub, name, signal));
      if (connected !== undefined) return connected;
    }
    const { routes } = await this.#current(hub);
    const near = nearestNames(name, [...this.#options.reserved, ...routes.keys()]);
    const { reserved } = this.#options;
    const hint = [...reserved].includes("query") ? OPERATIONS_HINT : undefined;
    throw unknownTool(name, near.length > 0 ? `Did you mean ${near.join(" or ")}?` : hint);
  }

  async #findTool(hub: Hub, key: ToolKey, signal: AbortSignal): Promise<Operation> {
    const isIt = ({ server, tool }: ToolKey) => server === key.server && tool === key.tool;
    if (!hub.tools().some(isIt)) await hub.connect([key.server], signal);
    const live = hub.tools().find(isIt);
    if (live !== undefined) return this.#passing(hub, live);
    await hub.recheckHeld();
    const held = hub.held().find(({ kind, server, name }) => kind === "tools" && isIt({ server, tool: name }));
    if (held !== undefined) return heldOperation(hub, held, () => this.#findTool(hub, key, signal));
    // The call says why the server or the tool is not there.
    return this.#passing(hub, { ...key, name: `${key.server}.${key.tool}`, inputSchema: {} });
  }

  /** A held tool is not listed, but a client that knows its name learns why. */
  async #held(hub: Hub, name: string, signal: AbortSignal): Promise<Operation | undefined> {
    const tools = hub.held().filter(({ kind }) => kind === "tools");
    if (tools.length === 0) return undefined;
    const { buildToolName } = await import("@trunkline/client");
    const { wireName } = await import("@trunkline/config");
    const shown = ({ server, name: tool }: HeldEntry) => {
      if (this.#options.names === "plain") return tool;
      return this.#options.names === "wire" ? wireName({ server, tool }) : buildToolName(server, tool);
    };
    const held = tools.find((item) => shown(item) === name);
    if (held === undefined) return undefined;
    await hub.recheckHeld();
    const isHeld = hub.held().some(({ server, hash }) => server === held.server && hash === held.hash);
    if (!isHeld) return (await this.#current(hub)).routes.get(name);
    return heldOperation(hub, held, () => this.#find(hub, name, signal));
  }

  async #current(hub: Hub): Promise<Table> {
    if (this.#options.remembers === true) await this.#options.upstreams.followed();
    return this.#table?.names === this.#names(hub) ? this.#table : await this.#build(hub);
  }

  /** The names of all tools, those that are remembered included if they are listed. */
  #names(hub: Hub): Table["names"] {
    return this.#options.remembers === true ? hub.catalogue.rememberedNames() : hub.names();
  }

  async #build(hub: Hub): Promise<Table> {
    const { names: style } = this.#options;
    const { toolNamePrefix } = await import("@trunkline/client");
    const names = this.#names(hub);
    const tools = names.tools();
    const live = new Set(hub.tools());
    const routes = new Map<string, Operation>();
    const byName = new Map<string, Listed>();
    const collisions: NameCollision[] = [];
    const configured = new Set(hub.serverNames());
    const before = new Map([...this.#away, ...(this.#table?.routes ?? [])]);
    const add = (name: string, tool: SourcedTool, isReady: boolean) => {
      if (routes.get(name)?.server === tool.server) return;
      // A name stays with its server: another one that connects later must not take it over.
      const owner = [before.get(name)?.server, routes.get(name)?.server].find(
        (server) => server !== undefined && server !== tool.server && configured.has(server),
      );
      if (owner !== undefined || this.#options.reserved.has(name)) {
        collisions.push({ name, servers: [owner ?? "Trunkline itself", tool.server] });
        return;
      }
      routes.set(name, isReady ? this.#passing(hub, tool) : this.#waking(hub, name, tool));
      byName.set(name, listedAs(name, tool));
    };
    for (const tool of tools) add(style === "plain" ? tool.tool : names.name(tool, style), tool, live.has(tool));
    for (const { name, state } of hub.status()) {
      if (state !== "needs-auth") continue;
      // Always prefixed: several servers may need a sign-in, and the plain name would not tell them apart.
      add(`${toolNamePrefix(name)}authenticate`, await hub.findTool(`${name}.authenticate`), true);
    }
    for (const { name, servers } of collisions) {
      if (this.#warned.has(name)) continue;
      this.#warned.add(name);
      this.#options.logger.warn("skipping tool: its name is already taken", {
        tool: name,
        servers: servers.join(", "),
      });
    }
    const present = new Set(tools.map(({ server }) => server));
    this.#away = new Map([...before].filter(([name, { server = "" }]) => !present.has(server) && !routes.has(name)));
    this.#table = { names, routes, listed: [...byName.values()], byName, collisions };
    return this.#table;
  }

  #passing(hub: Hub, tool: SourcedTool): Operation {
    return passing(hub, tool, this.#options.spill);
  }

  /** A tool of a server that is not connected: connects it first, since the tool may be gone or held by now. */
  #waking(hub: Hub, name: string, tool: SourcedTool): Operation {
    const operation = this.#passing(hub, tool);
    return {
      ...operation,
      release: async ({ signal }) => {
        await hub.connect([tool.server], signal);
        const isConnected = hub.status().some((status) => status.name === tool.server && status.state === "connected");
        // Otherwise the call itself says why.
        return isConnected ? await this.#find(hub, name, signal) : operation;
      },
    };
  }
}

/** Builds the error for name collisions at startup. */
export function collisionError(collisions: readonly NameCollision[]): TrunklineError {
  const listed = collisions.slice(0, 10).map(({ name, servers }) => `"${name}" (${servers.join(" and ")})`);
  const more = collisions.length - listed.length;
  return new TrunklineError(
    "CONFIG_INVALID",
    `With plain names these tools would have the same name: ${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
    { hint: 'Use prefixed names, or exclude tools with "tools" in the server\'s entry.' },
  );
}

/** Says how to call what is not a tool. */
export const OPERATIONS_HINT =
  'Use operations and server tools as steps of query: {"steps": [{"op": "…", "params": {…}}]}.';

/** Builds the protocol error for an unknown tool. */
export function unknownTool(name: string, hint: string | undefined): RpcError {
  const message = `Unknown tool: ${name}.`;
  return new RpcError(RPC_CODES.invalidParams, hint === undefined ? message : `${message} ${hint}`, {
    cause: new TrunklineError("TOOL_NOT_FOUND", message),
  });
}

/** Turns one of our failures into a call result. Text only, since it would not match the tool's output schema. */
function failureResult(error: TrunklineError): ToolResult {
  const { code, message, hint } = error;
  const text = JSON.stringify({ error: { code, message, ...(hint === undefined ? {} : { hint }) } });
  return { content: [{ type: "text", text }], isError: true };
}

/**
 * Returns the server's definition under its public name. Turns a required task into an optional one: here any kind of
 * call works.
 */
function listedAs(name: string, { server, tool, raw, inputSchema, description, annotations }: SourcedTool): Listed {
  const known = raw ?? { ...(description === undefined ? {} : { description }), ...(annotations && { annotations }) };
  const definition = { inputSchema, ...known, name };
  const { execution } = definition as { execution?: unknown };
  const listed = { server, tool, definition };
  if (!isRecord(execution)) return { ...listed, taskSupport: undefined };
  const { taskSupport } = execution;
  if (taskSupport !== "required") return { ...listed, taskSupport };
  const optional = { ...definition, execution: { ...execution, taskSupport: "optional" } };
  return { ...listed, definition: optional, taskSupport };
}

/** A failure is passed on in full up to this size. */
const MOST_FAILURE_BYTES = 64 * 1024;

/** Builds the answer to a large result: its large fields are passed on as the JSON they are. */
async function largeResult(
  hub: Hub,
  { raw, isError, large }: Required<ToolCallResult>,
): Promise<Readonly<Record<string, unknown>>> {
  if (isError) {
    const { value } = await large.outcome();
    const said = value instanceof LargeValue ? (await value.shrink(MOST_FAILURE_BYTES)).value : value;
    large.release();
    const text = isRecord(said) && typeof said.text === "string" ? said.text : JSON.stringify(said);
    return hub.redact({ ...raw, content: [{ type: "text", text }] });
  }
  const { links, textBytes } = large;
  const fields = Object.entries(await large.fields()).map(([name, bytes]): [string, JsonBytes] => [
    name,
    name === "content" ? new JsonBytes(bytes, { links, textBytes }) : new JsonBytes(bytes),
  ]);
  return { ...raw, ...Object.fromEntries(fields) };
}

/** A picture or another file that a client shows is passed on up to this size. */
const MOST_MEDIA_BYTES = 8 * 1024 * 1024;

/** Whether only pictures and other files make a result large. */
function isLargeByMedia({ value, blocks = [] }: OperationOutcome, sizeBytes: number): boolean {
  if (sizeBytes > MOST_MEDIA_BYTES || value instanceof LargeValue || isLongResult({ structuredContent: value }))
    return false;
  const large = blocks.filter((block) => block instanceof LargeValue);
  return large.length > 0 && large.every(({ about }) => about.isText === false);
}

/** Stores a long result and returns what is shown of it. */
async function shortened(
  hub: Hub,
  result: ToolCallResult,
  options: { op: string; store: () => Promise<ContentStore>; signal: AbortSignal },
): Promise<OperationOutcome> {
  const { raw, isError, large } = result;
  const outcome = await upstreamOutcome(hub, result);
  if (large !== undefined && !isError && isLargeByMedia(outcome, large.sizeBytes)) {
    return { value: faithful(await largeResult(hub, { raw, isError, large })), isError };
  }
  const shown = faithful(isError ? hub.redact(raw) : raw);
  const value = await fitDirect(shown, outcome, options);
  return { value, isError, ...(outcome.blocks === undefined ? {} : { blocks: outcome.blocks }) };
}

/**
 * Wraps the tool as an operation that leaves argument validation to the server and returns its result unchanged, unless
 * it is long and results are stored.
 */
function passing(hub: Hub, source: SourcedTool, spill: DirectSurfaceOptions["spill"]): Operation {
  const { server, tool, description, inputSchema, annotations } = source;
  const op = `${server}.${tool}`;
  return {
    name: op,
    kind: annotations?.readOnlyHint === true ? "read" : "write",
    summary: summaryOf(description),
    schema: inputSchema,
    server,
    validate: (params) => params,
    run: async (params, context) => {
      const { channel, meta, onProgress } = context.exchange;
      const options: HubCallOptions = { channel, acceptLarge: true };
      endWith(context, options);
      if (Object.keys(meta).length > 0) options.meta = meta;
      // If the channel takes progress, it receives it directly.
      if (onProgress !== undefined && channel.progress === undefined) options.onProgress = onProgress;
      const result = await hub.callTool(server, tool, params, options);
      const { raw, isError, large } = result;
      const isLong = large !== undefined || isLongResult(raw);
      if (spill !== undefined && isLong && readerOf(context.exchange) === "model") {
        const { signal, caller } = context.exchange;
        return await shortened(hub, result, { op, store: () => spill(caller.principal), signal });
      }
      if (large !== undefined) return { value: faithful(await largeResult(hub, { raw, isError, large })), isError };
      return { value: faithful(isError ? hub.redact(raw) : raw), isError };
    },
  };
}
