// A server in the hub: its connection and what it last said it has.
import {
  contentIdOf,
  isRecord,
  isTrunklineError,
  type SourcedTool,
  type ToolCallOptions,
  type TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import { type Channel, canAnswer, currentChannel } from "./channel/channel.js";
import type { ServerDefinition, ToolFilter } from "./config/types.js";
import { Connection, type ConnectionOptions } from "./connection/connection.js";
import type { OutgoingRequest } from "./connection/conversation.js";
import type { ListKind } from "./connection/generation.js";
import { matchesGlob } from "./names.js";

/** What a member needs besides its definition, and whom it tells. */
export interface MemberOptions extends Omit<ConnectionOptions, "onConnected" | "onListChanged"> {
  /** The tools, resources or prompts have changed. */
  onCatalogue: () => void;
}

const LISTS: Record<ListKind, { method: string; key: string }> = {
  tools: { method: "tools/list", key: "tools" },
  resources: { method: "resources/list", key: "resources" },
  prompts: { method: "prompts/list", key: "prompts" },
};

/** One server of the hub. */
export class HubMember {
  readonly connection: Connection;
  readonly #options: MemberOptions;
  readonly #lists = new Map<ListKind, readonly Record<string, unknown>[]>();
  readonly #fingerprints = new Map<ListKind, string>();
  readonly #refreshing = new Map<ListKind, Promise<void>>();
  readonly #again = new Set<ListKind>();
  readonly #background = new Set<Promise<void>>();
  /** With the policy `isolate`: the connections that channels have to themselves. */
  readonly #isolated = new Map<Channel, Connection>();
  #tools: readonly SourcedTool[] = [];
  #toolsError: TrunklineError | undefined;

  constructor(definition: ServerDefinition, options: MemberOptions) {
    this.#options = options;
    this.connection = new Connection(definition, {
      ...options,
      onConnected: (signal) => this.#onConnected(signal),
      onListChanged: (kind) => this.#inBackground(this.#refresh(kind)),
    });
  }

  get name(): string {
    return this.connection.definition.name;
  }

  /** The tools that the configuration lets through; none while the server is not connected. */
  get tools(): readonly SourcedTool[] {
    return this.connection.state === "connected" ? this.#tools : [];
  }

  /** Differs where what the server offers differs; empty while it is not connected. */
  get fingerprint(): string {
    return this.connection.state === "connected" ? [...this.#fingerprints.values()].join() : "";
  }

  /** A tool as it was last listed, also while the server is away. */
  knownTool(tool: string): SourcedTool | undefined {
    return this.#tools.find((known) => known.tool === tool);
  }

  /** Why the server, although connected, could not list its tools. */
  get toolsError(): TrunklineError | undefined {
    return this.#toolsError;
  }

  /** How many resources or prompts the server has; 0 while it is not connected. */
  count(kind: "resources" | "prompts"): number {
    return this.connection.state === "connected" ? (this.#lists.get(kind)?.length ?? 0) : 0;
  }

  async connect(signal?: AbortSignal): Promise<void> {
    await this.connection.connect(signal);
  }

  /** Sends a request on the connection of the channel in scope. */
  async request(request: OutgoingRequest, options: ToolCallOptions = {}): Promise<Record<string, unknown>> {
    await this.connect(options.signal);
    return await this.#connectionFor(currentChannel()).request(request, options);
  }

  /** Closes the connection that a channel had to itself. */
  async release(channel: Channel): Promise<void> {
    const connection = this.#isolated.get(channel);
    this.#isolated.delete(channel);
    await connection?.close();
  }

  /** Waits for what goes on beside the calls: counting resources and prompts, listing again after a change. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  async close(): Promise<void> {
    await Promise.all([this.connection, ...this.#isolated.values()].map((connection) => connection.close()));
    await this.settled();
  }

  /** A legacy stdio server cannot say whom it asks; with the policy `isolate` each channel that can be asked has its own. */
  #connectionFor(channel: Channel | undefined): Connection {
    const { definition, era } = this.connection;
    const { policy } = this.#options.asking;
    if (policy !== "isolate" || channel === undefined || !canAnswer(channel)) return this.connection;
    if (definition.type !== "stdio" || era !== "legacy" || definition.asks === false) return this.connection;
    let own = this.#isolated.get(channel);
    if (own === undefined) {
      own = new Connection(definition, {
        ...this.#options,
        // The catalogue is the shared connection's business.
        onState: () => {},
        onConnected: async () => {},
        onListChanged: () => {},
      });
      this.#isolated.set(channel, own);
    }
    return own;
  }

  async #onConnected(signal: AbortSignal): Promise<void> {
    await this.#refresh("tools", signal);
    // The counts of the rest are for the status only: nobody's call has to wait for them.
    this.#inBackground(Promise.all([this.#refresh("resources"), this.#refresh("prompts")]).then(() => {}));
  }

  /** Lists again. A change that arrives meanwhile leads to one more round, however many there were. */
  async #refresh(kind: ListKind, signal?: AbortSignal): Promise<void> {
    const running = this.#refreshing.get(kind);
    if (running !== undefined) {
      this.#again.add(kind);
      return await running;
    }
    const round = (async () => {
      do {
        this.#again.delete(kind);
        await this.#list(kind, signal);
      } while (this.#again.has(kind));
    })().finally(() => this.#refreshing.delete(kind));
    this.#refreshing.set(kind, round);
    await round;
  }

  async #list(kind: ListKind, signal: AbortSignal | undefined): Promise<void> {
    const { connection } = this;
    const { method, key } = LISTS[kind];
    let items: readonly Record<string, unknown>[] = [];
    let failure: TrunklineError | undefined;
    try {
      if (connection.capabilities[kind] !== undefined)
        items = await connection.listAll(method, key, signal ? { signal } : {});
    } catch (error) {
      failure = toTrunklineError(error);
      if (!isTrunklineError(failure, "ABORTED")) {
        this.#options.logger.warn("list failed", { server: this.name, method, error: failure });
      }
    }
    this.#lists.set(kind, items);
    this.#fingerprints.set(kind, contentIdOf(JSON.stringify(items)));
    if (kind === "tools") {
      this.#toolsError = failure;
      this.#tools = items
        .flatMap((raw) => toSourcedTool(this.name, raw) ?? [])
        .filter(({ tool }) => isAllowed(tool, connection.definition.tools));
    }
    if (connection.state === "connected") this.#options.onCatalogue();
  }

  #inBackground(work: Promise<void>): void {
    const kept = work.catch((error: unknown) =>
      this.#options.logger.debug("background work failed", { server: this.name, error }),
    );
    this.#background.add(kept);
    void kept.finally(() => this.#background.delete(kept));
  }
}

/** Whether the configuration lets a tool through. What is denied stays out even where it is allowed. */
export function isAllowed(tool: string, filter: ToolFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.deny?.some((glob) => matchesGlob(glob, tool))) return false;
  return filter.allow === undefined || filter.allow.some((glob) => matchesGlob(glob, tool));
}

function toSourcedTool(server: string, raw: Record<string, unknown>): SourcedTool | undefined {
  if (typeof raw.name !== "string") return undefined;
  return {
    server,
    tool: raw.name,
    inputSchema: isRecord(raw.inputSchema) ? raw.inputSchema : { type: "object" },
    ...(typeof raw.description === "string" ? { description: raw.description } : {}),
    ...(isRecord(raw.outputSchema) ? { outputSchema: raw.outputSchema } : {}),
    ...(isRecord(raw.annotations) ? { annotations: raw.annotations } : {}),
    raw,
  };
}
