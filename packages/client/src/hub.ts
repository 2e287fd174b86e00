import {
  type Logger,
  REDACTED,
  Redactor,
  type SourcedTool,
  silentLogger,
  type ToolCallOptions,
  type ToolCallResult,
  type ToolSource,
  TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import type { LoadedConfig, ServerDefinition } from "./config/types.js";
import { type ClientInfo, Connection, type ServerState } from "./connection/connection.js";
import { nearestNames } from "./names.js";

/** Everything is optional: the hub is silent and on its own without it. */
export interface HubOptions {
  logger?: Logger;
  /** How we introduce ourselves to servers. */
  clientInfo?: ClientInfo;
  /** Aborting it closes the hub. */
  signal?: AbortSignal;
}

/** What is known about one server. Secrets are already taken out. */
export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState;
  readonly config: ServerDefinition;
  readonly error?: TrunklineError;
  readonly toolCount: number;
  readonly protocolVersion?: string;
  readonly serverInfo?: { name: string; version: string };
  /** How long connecting and listing took. */
  readonly tookMs?: number;
  readonly stderrTail: readonly string[];
}

interface Member {
  readonly connection: Connection;
  tools: readonly SourcedTool[];
  tookMs?: number;
}

/** All servers of a configuration, connected, as one catalogue of tools. */
export class Hub implements ToolSource, AsyncDisposable {
  readonly #members = new Map<string, Member>();
  readonly #redactor: Redactor;
  readonly #onAbort = () => void this.close();
  readonly #signal: AbortSignal | undefined;
  readonly #logger: Logger;
  #closing: Promise<void> | undefined;

  /** Use {@link openHub}. */
  constructor(config: LoadedConfig, options: HubOptions = {}) {
    const { logger = silentLogger, clientInfo = { name: "trunkline", version: "0" }, signal } = options;
    this.#logger = logger;
    this.#redactor = new Redactor().add(...config.secrets);
    for (const definition of config.servers) {
      this.#members.set(definition.name, { connection: new Connection(definition, { clientInfo, logger }), tools: [] });
    }
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Connects every enabled server at the same time; returns when all have settled. One failure never stops the others. */
  async connectAll(signal?: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#members.values()].map(async (member) => {
        if (member.connection.state === "disabled") return;
        try {
          await this.#connect(member, signal);
        } catch (error) {
          const { name } = member.connection.definition;
          this.#logger.warn("server not connected", { server: name, error: toTrunklineError(error) });
        }
      }),
    );
  }

  /** Every server, sorted by name. */
  status(): readonly ServerStatus[] {
    return [...this.#members.values()]
      .map(({ connection, tools, tookMs }): ServerStatus => {
        const { definition, state, error, protocolVersion, serverInfo } = connection;
        const connected = state === "connected";
        return {
          name: definition.name,
          state,
          config: this.#redactor.value(redactedDefinition(definition)),
          ...(error === undefined ? {} : { error: redactedError(error, this.#redactor) }),
          toolCount: connected ? tools.length : 0,
          ...(connected && protocolVersion !== undefined ? { protocolVersion } : {}),
          ...(connected && serverInfo !== undefined ? { serverInfo } : {}),
          ...(tookMs === undefined ? {} : { tookMs }),
          stderrTail: connection.stderrTail.map((line) => this.#redactor.text(line)),
        };
      })
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  /** The tools of all connected servers, sorted by server, in each server's own order. */
  tools(): readonly SourcedTool[] {
    return [...this.#members.values()]
      .filter(({ connection }) => connection.state === "connected")
      .sort((a, b) => a.connection.definition.name.localeCompare(b.connection.definition.name))
      .flatMap((member) => member.tools);
  }

  /** Calls a tool. What the tool itself reports as a failure is a result with `isError`. */
  async callTool(
    server: string,
    tool: string,
    args: Record<string, unknown>,
    options: ToolCallOptions = {},
  ): Promise<ToolCallResult> {
    const member = this.#member(server);
    if (member.connection.state === "disabled") {
      throw new TrunklineError("SERVER_UNAVAILABLE", `Server "${server}" is disabled.`);
    }
    try {
      await this.#connect(member, options.signal);
      this.#logger.debug("calling a tool", { server, tool });
      const raw = await member.connection.request("tools/call", { name: tool, arguments: args }, options);
      return { isError: raw.isError === true, raw };
    } catch (error) {
      throw redactedError(toTrunklineError(error), this.#redactor);
    }
  }

  /** Ends every connection and every server process. Idempotent; every step runs even if one throws. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#signal?.removeEventListener("abort", this.#onAbort);
      const outcomes = await Promise.allSettled(
        [...this.#members.values()].map(({ connection }) => connection.close()),
      );
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw failure.reason;
    })();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #member(server: string): Member {
    const member = this.#members.get(server);
    if (member !== undefined) return member;
    const near = nearestNames(server, [...this.#members.keys()]);
    throw new TrunklineError("SERVER_NOT_FOUND", `There is no server "${server}".`, {
      hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`trunkline doctor` lists the servers.",
    });
  }

  async #connect(member: Member, signal: AbortSignal | undefined): Promise<void> {
    const { connection } = member;
    if (connection.state === "connected") return;
    const startedMs = performance.now();
    await connection.connect(signal);
    const { name } = connection.definition;
    const listed =
      connection.capabilities.tools === undefined
        ? []
        : await connection.listAll("tools/list", "tools", signal ? { signal } : {});
    member.tools = listed.flatMap((raw) => {
      const tool = toSourcedTool(name, raw);
      return tool === undefined ? [] : [tool];
    });
    member.tookMs = performance.now() - startedMs;
  }
}

/** Connects the servers of a configuration and returns when all have settled or timed out. */
export async function openHub(config: LoadedConfig, options: HubOptions = {}): Promise<Hub> {
  const hub = new Hub(config, options);
  await hub.connectAll(options.signal);
  return hub;
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
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Values under `env` and `headers` are always hidden in their own field, however short. */
function redactedDefinition(definition: ServerDefinition): ServerDefinition {
  const hide = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
  return definition.type === "stdio"
    ? { ...definition, env: hide(definition.env) }
    : { ...definition, headers: hide(definition.headers) };
}

function redactedError(error: TrunklineError, redactor: Redactor): TrunklineError {
  return new TrunklineError(error.code, redactor.text(error.message), {
    cause: error.cause,
    ...(error.hint === undefined ? {} : { hint: redactor.text(error.hint) }),
    retryable: error.retryable,
    ...(error.data === undefined ? {} : { data: redactor.value(error.data) }),
  });
}
