// `describe`: what can be done, in as few words as possible, with schemas only on request.
import type { HeldEntry, KnownServer } from "@trunkline/client";
import { isTrunklineError, nearestNames, param, printable, signatureOf, TrunklineError, typeOf } from "@trunkline/core";
import type { Caller } from "../interfaces/exchange.js";
import type { Operation } from "../interfaces/operation.js";
import type { Upstreams } from "../upstreams/upstreams.js";
import { define } from "./define.js";
import { type Line, lineOf, type ToolFinder, toolLine } from "./tool-finder.js";
import { kindOf } from "./upstream-operation.js";

const REFERENCES = {
  "$prev.field[0]": "of the previous step's result, uncut",
  $x: 'of the step with "as": "x"',
  "$steps[0]": "of a step by its index",
  "$prev.items[*].id": "of every item, as a list; [0:3] for the first three",
  "{{$x.title}}": "inside a longer text",
  "$hash:<hash>": "stored content, put in without passing through you",
  $$: "a literal $",
};

const CARDS: Readonly<Record<string, unknown>> = {
  query: {
    name: "query",
    kind: "tool",
    summary: "Runs read operations in order, until one fails. grep and get work on the documents of the step before.",
    parameters: { steps: [{ op: "…", params: {}, as: "x", for_each: "$prev.results[*]" }], max_tokens: 8000 },
    references: { ...REFERENCES, $item: "with for_each: the item; the step runs once for each" },
  },
  execute: {
    name: "execute",
    kind: "tool",
    summary: "Runs any operations in order, until one fails. It has no for_each.",
    parameters: {
      operations: [{ op: "…", params: {} }],
      continueOnError: "run the rest after a failure",
      atomic: "undo everything on a failure; store operations only",
      dry_run: "say what would happen",
      idempotency_key: "the same key answers from the first run",
    },
    references: REFERENCES,
  },
};

const LONGEST_SIGNATURE = 300;

const DEEPEST_TYPE = 3;

/** Keywords that can constrain the parameters beyond the listed ones. */
const COMBINING = ["allOf", "anyOf", "oneOf", "$ref", "if"];

interface DescribeOptions {
  readonly upstreams: Upstreams;
  readonly builtin: () => readonly Operation[];
  readonly actions: readonly Operation[];
  /** Connects one server. Throws the reason if it is unavailable. */
  readonly connect: (server: string, signal: AbortSignal | undefined) => Promise<void>;
  readonly finder: ToolFinder;
}

const LISTED = 50;
/** All with signatures: the right one is usually among these, and can be called without another question. */
const FOUND = 5;

/** Creates the operation. */
export function describeOperation(options: DescribeOptions): Operation {
  const describer = new Describer(options);
  return define({
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
    run: async ({ target, find, limit, cursor }, { signal, exchange }) => {
      if (target !== undefined && find !== undefined) {
        throw new TrunklineError("INVALID_ARGUMENT", "target and find cannot be combined.", {
          data: { parameter: "find" },
        });
      }
      if (find?.trim() === "") {
        throw new TrunklineError("INVALID_ARGUMENT", "find is empty.", {
          hint: "Say what you want to do, for example: open a pull request.",
          data: { parameter: "find" },
        });
      }
      const page = { limit, cursor, signal };
      if (find !== undefined) return await describer.find(find, page, exchange.caller);
      return target === undefined ? await describer.overview(page) : await describer.target(target, page);
    },
  });
}

interface Page {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
}

class Describer {
  readonly #options: DescribeOptions;
  readonly #finder: ToolFinder;

  constructor(options: DescribeOptions) {
    this.#options = options;
    this.#finder = options.finder;
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

  async target(asked: string, page: Page): Promise<unknown> {
    const { upstreams, connect } = this.#options;
    const own = this.#own(asked);
    if (own !== undefined) return operationCard(own);
    const servers = await upstreams.servers();
    const target = await withoutPrefix(asked, servers);
    const shown = this.#own(target);
    if (shown !== undefined) return operationCard(shown);
    const server = servers.find(({ status }) => status.name === target);
    if (server !== undefined) {
      const live = await this.#brought(server, page.signal);
      return serverCard(live, page);
    }
    const tool = toolCard(target);
    if (tool !== undefined) return tool;
    const owner = await this.#ownerOf(target, servers);
    if (owner === undefined) throw this.#unknown(target, servers);
    if (owner.status.state !== "connected")
      await connectIfUnknown(owner, () => connect(owner.status.name, page.signal));
    return await this.#toolCard(target, owner.status.name);
  }

  #own(name: string): Operation | undefined {
    const { builtin, actions } = this.#options;
    return [...builtin(), ...actions].find((operation) => operation.name === name);
  }

  async find(question: string, page: Page, caller: Caller): Promise<unknown> {
    const { signal } = page;
    const { method, ranked, clear, notice, notConnected } = await this.#finder.find(question, { caller, signal });
    const limit = page.limit ?? (page.cursor === undefined ? Math.min(clear, FOUND) : FOUND);
    const { items, cursor } = pageOf(ranked, { ...page, limit });
    return {
      operations: items.map((found) => ({
        ...found.line,
        // The others are rarely called, so their results are not worth the tokens.
        signature: briefSignature(found.schema ?? {}, found === ranked[0] ? found.outputSchema : undefined),
      })),
      method,
      ...cursor,
      ...(ranked.length === 0 ? { hint: "Nothing fits. Use other words, or describe {} to list everything." } : {}),
      ...(notice === undefined ? {} : { notice }),
      ...(notConnected.length === 0 ? {} : { not_connected: notConnected }),
    };
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
    const { mayBelongTo, ownersOf } = await import("@trunkline/config");
    const names = servers.map(({ status }) => status.name);
    const owner = ownersOf(target, names)[0] ?? names.find((name) => mayBelongTo(target, name));
    return servers.find(({ status }) => status.name === owner);
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
}

/** A name without what agents put before our tools, unless a server has such a name itself. */
async function withoutPrefix(asked: string, servers: readonly KnownServer[]): Promise<string> {
  const { mayBelongTo, withoutGatewayPrefix } = await import("@trunkline/config");
  return servers.some(({ status }) => mayBelongTo(asked, status.name)) ? asked : withoutGatewayPrefix(asked);
}

async function connectIfUnknown({ tools, status }: KnownServer, connect: () => Promise<void>): Promise<void> {
  if (tools === undefined && status.state !== "connected" && status.state !== "needs-auth") await connect();
}

/** Removes `$schema`: readers do not need the JSON Schema draft. */
function withoutDialect({ $schema: _, ...schema }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return schema;
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
  const lines = (tools ?? []).map((tool) => toolLine(tool, config.readOnly));
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

// The signature of a found operation: enough to call it, on one line.

/**
 * Builds a signature short enough for one line: omits the output first, then hints, nested objects, types and
 * parameters. A signature that ends with `…` is incomplete.
 */
export function briefSignature(
  schema: Readonly<Record<string, unknown>>,
  outputSchema: Readonly<Record<string, unknown>> | undefined,
): string {
  const hinted = signatureOf(schema, { depth: DEEPEST_TYPE, hints: true });
  const shorter = [
    ...(outputSchema === undefined ? [] : [`${hinted} => ${typeOf(outputSchema, DEEPEST_TYPE)}`]),
    hinted,
    signatureOf(schema, { depth: DEEPEST_TYPE }),
    signatureOf(schema),
    signatureOf(schema, { optionalTypes: false }),
  ];
  const fitting =
    shorter.find((text) => text.length <= LONGEST_SIGNATURE) ?? `${shorter.at(-1)?.slice(0, LONGEST_SIGNATURE)}…`;
  return COMBINING.some((key) => schema[key] !== undefined) && !fitting.endsWith("…") ? `${fitting} …` : fitting;
}

// What `describe` says about our own tools: more than their definitions, which every client pays for.

/** Describes one of our own tools; undefined for other names. */
function toolCard(name: string): unknown {
  return Object.hasOwn(CARDS, name) ? CARDS[name] : undefined;
}
