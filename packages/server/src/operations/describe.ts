// `describe`: what can be done, in as few words as possible, with schemas only on request.
import type { HeldEntry } from "@trunkline/client";
import {
  abortError,
  type Embedder,
  isTrunklineError,
  type Logger,
  nearestNames,
  param,
  printable,
  type SourcedTool,
  signatureOf,
  sleep,
  TrunklineError,
  typeOf,
} from "@trunkline/core";
import type { Candidate } from "../find/candidate-texts.js";
import type { Ranker } from "../find/operation-ranker.js";
import type { Operation, OperationKind } from "../interfaces/operation.js";
import type { KnownServer } from "../upstreams/kept-tools.js";
import type { Upstreams } from "../upstreams/upstreams.js";
import { define } from "./define.js";
import { kindOf, summaryOf } from "./upstream-operation.js";

interface DescribeOptions {
  readonly upstreams: Upstreams;
  readonly builtin: () => readonly Operation[];
  readonly actions: readonly Operation[];
  /** Connects one server. Throws the reason if it is unavailable. */
  readonly connect: (server: string, signal: AbortSignal | undefined) => Promise<void>;
  readonly embedder: () => Promise<Embedder | undefined>;
  readonly cacheFolder: string | undefined;
  readonly logger: Logger;
}

interface Line {
  readonly name: string;
  readonly kind: OperationKind;
  readonly summary: string;
}

interface Findable extends Candidate {
  readonly line: Line;
  readonly outputSchema?: SourcedTool["outputSchema"] | undefined;
}

const LISTED = 50;
const FOUND = 10;
/** How many results include a signature: the right one is usually among these, so no second call is needed. */
const SIGNED = 5;
/** How long a question waits for servers that were never connected. */
const CONNECT_WAIT_MS = 5000;
const CONNECTED_AT_ONCE = 8;

/** Creates the operation, and a function that closes its resources. */
export function describeOperation(options: DescribeOptions): { operation: Operation; close: () => Promise<void> } {
  const describer = new Describer(options);
  const operation = define({
    name: "describe",
    kind: "read",
    summary: "List operations and servers; show the schema of one; or find operations by what they do.",
    params: {
      target: param.text("An operation (shows its schema), a server (shows its tools) or server.tool.", {
        aliases: ["op", "operation", "name", "tool", "server"],
      }),
      find: param.text("What you want to do, in your own words: finds the best matching operations.", {
        aliases: ["query", "q", "search", "text"],
      }),
      limit: param.count(`Maximum number of lines; default ${LISTED}, with find ${FOUND}.`, { min: 1, max: 500 }),
      cursor: param.text("Continue from the cursor of an earlier answer."),
    },
    example: { find: "open a pull request" },
    run: async ({ target, find, limit, cursor }, { signal }) => {
      if (target !== undefined && find !== undefined) {
        throw new TrunklineError("INVALID_ARGUMENT", "target and find cannot be combined.", {
          data: { parameter: "find" },
        });
      }
      const page = { limit, cursor, signal };
      if (find !== undefined) return await describer.find(find, page);
      return target === undefined ? await describer.overview(page) : await describer.target(target, page);
    },
  });
  return { operation, close: () => describer.close() };
}

interface Page {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
}

class Describer {
  readonly #options: DescribeOptions;
  #ranker: Ranker<Findable> | undefined;
  /** The last list of searchable operations, and the data it was built from. */
  #findable: { from: readonly unknown[]; list: readonly Findable[] } | undefined;
  /** Connects that continue after a question stopped waiting for them. */
  #connecting: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: DescribeOptions) {
    this.#options = options;
  }

  /** Lists our own operations and session actions, then one line per server. */
  async overview(page: Page): Promise<unknown> {
    const { builtin, actions, upstreams } = this.#options;
    const servers = await upstreams.servers();
    const { items, cursor } = pageOf(servers.map(serverLine), page);
    const own =
      page.cursor === undefined ? { operations: builtin().map(lineOf), session_actions: actions.map(lineOf) } : {};
    const hint =
      servers.length === 0
        ? undefined
        : 'describe {"target": "<server>"} lists its tools, {"find": "…"} searches the tools of all servers.';
    return { ...own, servers: items, ...cursor, ...(hint === undefined ? {} : { hint }) };
  }

  async target(target: string, page: Page): Promise<unknown> {
    const { builtin, actions, upstreams, connect } = this.#options;
    const own = [...builtin(), ...actions].find(({ name }) => name === target);
    if (own !== undefined) return operationCard(own);
    const servers = await upstreams.servers();
    const server = servers.find(({ status }) => status.name === target);
    if (server !== undefined) {
      const live = await this.#brought(server, page.signal);
      return serverCard(live, page);
    }
    const owner = await this.#ownerOf(target, servers);
    if (owner === undefined) throw this.#unknown(target, servers);
    if (owner.status.state !== "connected")
      await connectIfUnknown(owner, () => connect(owner.status.name, page.signal));
    return await this.#toolCard(target, owner.status.name);
  }

  async find(question: string, page: Page): Promise<unknown> {
    const waiting = await this.#connectUnknown(page.signal);
    const servers = await this.#options.upstreams.servers();
    const ranker = await this.#openRanker();
    const { method, ranked, notice } = await ranker.rank(question, this.#findableOf(servers), {
      signal: page.signal,
    });
    const lines = ranked.map(({ candidate, score }, index) => ({
      ...candidate.line,
      ...(index < SIGNED ? { signature: briefSignature(candidate.schema ?? {}, candidate.outputSchema) } : {}),
      score: Number(score.toFixed(3)),
    }));
    const { items, cursor } = pageOf(lines, { ...page, limit: page.limit ?? FOUND });
    return {
      operations: items,
      total: lines.length,
      method,
      ...cursor,
      ...(notice === undefined ? {} : { notice }),
      ...(waiting.length === 0 ? {} : { not_connected: waiting }),
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#ranker?.close(), this.#connecting]);
  }

  async #openRanker(): Promise<Ranker<Findable>> {
    const { embedder, cacheFolder: folder, logger } = this.#options;
    const loaded = await import("../find/operation-ranker.js");
    this.#ranker ??= new loaded.Ranker({ embedder, folder, logger });
    return this.#ranker;
  }

  /** Returns the server with its tools. Connects it if it never was connected. */
  async #brought(server: KnownServer, signal: AbortSignal): Promise<KnownServer> {
    const { upstreams, connect } = this.#options;
    const { name } = server.status;
    await connectIfUnknown(server, () => connect(name, signal));
    return (await upstreams.servers()).find(({ status }) => status.name === name) ?? server;
  }

  /** Finds the server that a tool name belongs to, in any naming style. */
  async #ownerOf(target: string, servers: readonly KnownServer[]): Promise<KnownServer | undefined> {
    const exact = servers.filter(({ status }) => target.startsWith(`${status.name}.`));
    if (exact.length > 0) return exact.sort((a, b) => b.status.name.length - a.status.name.length)[0];
    const { mayBelongTo } = await import("@trunkline/client/internal");
    return servers.find(({ status }) => mayBelongTo(target, status.name));
  }

  async #toolCard(target: string, server: string): Promise<unknown> {
    const known = (await this.#options.upstreams.servers()).find(({ status }) => status.name === server);
    const tools = known?.tools ?? [];
    const { ToolNames } = await import("@trunkline/client");
    try {
      const tool = new ToolNames(tools).resolve(target);
      const kind = kindOf(tool, known?.status.config.readOnly);
      const { description, inputSchema, outputSchema, annotations } = tool;
      return {
        name: `${tool.server}.${tool.tool}`,
        kind,
        ...(description === undefined ? {} : { description }),
        schema: withoutDialect(inputSchema),
        ...(outputSchema === undefined ? {} : { output_schema: withoutDialect(outputSchema) }),
        ...(annotations === undefined ? {} : { annotations }),
      };
    } catch (error) {
      if (!isTrunklineError(error, "TOOL_NOT_FOUND")) throw error;
      const held = known?.held.map((item) => ({ ...item, tool: item.name })) ?? [];
      const [found] = new ToolNames(held).named(target);
      if (found !== undefined) return { ...heldLine(found), hint: HELD_HINT };
      throw this.#unknown(target, known === undefined ? [] : [known]);
    }
  }

  #unknown(target: string, servers: readonly KnownServer[]): TrunklineError {
    const { builtin, actions } = this.#options;
    const names = [
      ...[...builtin(), ...actions].map(({ name }) => name),
      ...servers.map(({ status }) => status.name),
      ...servers.flatMap(({ tools }) => (tools ?? []).map(({ server, tool }) => `${server}.${tool}`)),
    ];
    const bare = names.filter((name) => name.endsWith(`.${target}`));
    const near = [...new Set([...bare, ...nearestNames(target, names)])].slice(0, 3);
    return new TrunklineError("NOT_FOUND", `Operation or server not found: "${target}".`, {
      hint:
        near.length > 0
          ? `Did you mean ${near.join(" or ")}?`
          : 'describe {} lists everything, {"find": "…"} searches.',
      data: { near, parameter: "target" },
    });
  }

  /**
   * Connects servers with unknown tools, so that the first question covers all of them. Returns the slow ones, without
   * waiting for them.
   */
  async #connectUnknown(signal: AbortSignal): Promise<string[]> {
    const { upstreams } = this.#options;
    const unknown = async () => (await upstreams.servers()).filter(({ tools }) => tools === undefined);
    const pending = (await unknown()).filter(({ status }) => status.state === "pending");
    if (pending.length > 0) {
      // The next question uses the connections too, so they do not depend on this caller's signal.
      this.#connecting ??= this.#connectAll(pending.map(({ status }) => status.name));
      const stop = new AbortController();
      const timer = sleep(CONNECT_WAIT_MS, AbortSignal.any([signal, stop.signal])).catch(() => {});
      await Promise.race([this.#connecting, timer]);
      stop.abort();
      if (signal.aborted) throw abortError(signal, "describe");
    }
    return (await unknown()).map(({ status }) => status.name);
  }

  /** Connects a few servers at a time, since each may start a process. */
  async #connectAll(names: string[]): Promise<void> {
    const { connect, logger } = this.#options;
    const { signal } = this.#closing;
    const connectNext = async (): Promise<void> => {
      for (let server = names.shift(); server !== undefined && !signal.aborted; server = names.shift()) {
        try {
          await connect(server, signal);
        } catch (error) {
          logger.debug("cannot connect server for find", { server, error });
        }
      }
    };
    await Promise.all(Array.from({ length: CONNECTED_AT_ONCE }, connectNext));
    this.#connecting = undefined;
  }

  #findableOf(servers: readonly KnownServer[]): readonly Findable[] {
    const from = servers.flatMap(({ tools, status }) => [
      status.name,
      tools === undefined ? "" : JSON.stringify(tools),
    ]);
    const last = this.#findable;
    if (last !== undefined && last.from.length === from.length && from.every((part, at) => part === last.from[at])) {
      return last.list;
    }
    const { builtin, actions } = this.#options;
    const own = [...builtin(), ...actions].map(
      (operation): Findable => ({
        name: operation.name,
        tool: operation.name,
        description: operation.summary,
        schema: operation.schema,
        line: lineOf(operation),
      }),
    );
    const upstream = servers.flatMap(({ tools, status }) =>
      (tools ?? []).map(
        (tool): Findable => ({
          name: `${tool.server}.${tool.tool}`,
          server: tool.server,
          tool: tool.tool,
          description: tool.description ?? "",
          schema: tool.inputSchema,
          outputSchema: tool.outputSchema,
          line: {
            name: `${tool.server}.${tool.tool}`,
            kind: kindOf(tool, status.config.readOnly),
            summary: summaryOf(tool.description),
          },
        }),
      ),
    );
    this.#findable = { from, list: [...own, ...upstream] };
    return this.#findable.list;
  }
}

async function connectIfUnknown({ tools, status }: KnownServer, connect: () => Promise<void>): Promise<void> {
  if (tools === undefined && status.state !== "connected" && status.state !== "needs-auth") await connect();
}

/** Removes `$schema`: readers do not need the JSON Schema draft. */
function withoutDialect({ $schema: _, ...schema }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return schema;
}

function lineOf({ name, kind, summary }: Operation): Line {
  return { name, kind, summary };
}

function operationCard({ name, kind, summary, schema, example }: Operation): unknown {
  return { name, kind, summary, schema, ...(example === undefined ? {} : { example }) };
}

function serverLine({ status, tools, held }: KnownServer): unknown {
  const { name, state } = status;
  const note = noteOf(status, tools);
  return {
    name,
    ...(tools === undefined ? {} : { tools: tools.length }),
    state,
    ...(held.length === 0 ? {} : { held: held.length }),
    ...(note === undefined ? {} : { note }),
  };
}

function noteOf({ name, state }: KnownServer["status"], tools: KnownServer["tools"]): string | undefined {
  if (state === "needs-auth") return `Sign-in required: ${name}.authenticate`;
  if (state === "pending") {
    return tools === undefined
      ? "Never connected. Describe it to connect it."
      : "Not connected yet. Tools are from the last connection.";
  }
  return state === "failed" && tools !== undefined ? "Tools are from the last connection." : undefined;
}

function serverCard({ status, tools, held }: KnownServer, page: Page): unknown {
  const { name, state, config } = status;
  const note = noteOf(status, tools);
  const signIn: Line[] =
    state === "needs-auth"
      ? [
          {
            name: `${name}.authenticate`,
            kind: "write",
            summary: "Asks the user to sign in; then the tools are listed.",
          },
        ]
      : [];
  const lines = (tools ?? []).map(
    (tool): Line => ({
      name: `${name}.${tool.tool}`,
      kind: kindOf(tool, config.readOnly),
      summary: summaryOf(tool.description),
    }),
  );
  const { items, cursor } = pageOf([...signIn, ...lines], page);
  return {
    server: name,
    state,
    tools: items,
    total: lines.length,
    ...cursor,
    ...(held.length === 0 ? {} : { held: held.map(heldLine), hint: HELD_HINT }),
    ...(note === undefined ? {} : { note }),
  };
}

const HELD_HINT =
  "A held tool cannot be called until the user accepts its definition: trunkline tools --changes shows it.";

function heldLine({ server, name, reasons }: HeldEntry): { name: string; held: string } {
  return { name: `${server}.${name}`, held: printable(reasons.map(({ text }) => text).join("; ")) };
}

/** Returns one page of a list and the cursor for the next. */
function pageOf<T>(items: readonly T[], { limit = LISTED, cursor }: Pick<Page, "limit" | "cursor">) {
  const from = cursor === undefined ? 0 : Number(/^at:(\d+)$/.exec(cursor)?.[1] ?? Number.NaN);
  if (Number.isNaN(from)) {
    throw new TrunklineError("INVALID_ARGUMENT", "The cursor is not valid for describe.", {
      hint: "Pass the cursor of the previous answer, with the same parameters.",
      data: { parameter: "cursor" },
    });
  }
  const end = from + limit;
  return { items: items.slice(from, end), cursor: items.length > end ? { cursor: `at:${end}` } : {} };
}

const LONGEST_SIGNATURE = 300;
const DEEPEST_TYPE = 3;
/** Keywords that can constrain the parameters beyond the listed ones. */
const COMBINING = ["allOf", "anyOf", "oneOf", "$ref", "if"];

/**
 * Builds a signature short enough for one line: omits the output first, then nested objects, then types, then
 * parameters. A signature that ends with `…` is incomplete.
 */
export function briefSignature(
  schema: Readonly<Record<string, unknown>>,
  outputSchema: Readonly<Record<string, unknown>> | undefined,
): string {
  const params = signatureOf(schema, { depth: DEEPEST_TYPE });
  const shorter = [
    ...(outputSchema === undefined ? [] : [`${params} => ${typeOf(outputSchema, DEEPEST_TYPE)}`]),
    params,
    signatureOf(schema),
    signatureOf(schema, { optionalTypes: false }),
  ];
  const fitting =
    shorter.find((text) => text.length <= LONGEST_SIGNATURE) ?? `${shorter.at(-1)?.slice(0, LONGEST_SIGNATURE)}…`;
  return COMBINING.some((key) => schema[key] !== undefined) && !fitting.endsWith("…") ? `${fitting} …` : fitting;
}
