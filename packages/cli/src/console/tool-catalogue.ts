// The tools of a workspace's servers as pages list them. Lists can be long, so lines are kept as long as the tools stay
// the same, and tokens are counted in the background.

import type { KnownServer } from "@trunkline/client";
import type { Json, ToolDefinition, ToolRow } from "@trunkline/console/contract";
import { firstChars, isRecord, messageOf, type SourcedTool, signatureOf, TrunklineError } from "@trunkline/core";
import { countTokens } from "@trunkline/gateway/journal";
import type { App } from "../app/app.js";

type Line = Omit<ToolRow, "tokens" | "blocked" | "isRemembered">;

interface CatalogueEvents {
  /** The tools of a server have changed, or have been counted. */
  onChange(): void;
}

/** Descriptions and signatures come from servers. In a list, there is no room for more than this. */
const MAX_SUMMARY_CHARS = 300;
const MAX_SIGNATURE_CHARS = 500;
/** How many lines are built before other work gets its turn. */
const BATCH = 250;
const COUNT_BATCH = 1_000;

/** A tool with what is known about it beside its definition. */
interface Listed {
  readonly source: SourcedTool;
  readonly blocked?: string;
  readonly isRemembered: boolean;
}

export class ToolCatalogue {
  readonly #app: App;
  readonly #events: CatalogueEvents;
  readonly #lines = new WeakMap<SourcedTool, Line>();
  readonly #tokens = new WeakMap<SourcedTool, number>();
  /** Held tools are made from their definitions, which stay the same. */
  readonly #held = new WeakMap<object, SourcedTool>();
  /** Servers that were connected because a page asked for their tools. */
  readonly #connecting = new Set<string>();
  readonly #tried = new Set<string>();
  #counting: Promise<void> | undefined;
  #stop: (() => void) | undefined;

  constructor(app: App, events: CatalogueEvents) {
    this.#app = app;
    this.#events = events;
  }

  /** Returns all known tools, sorted by server. Connects servers that never were, in the background. */
  async rows(signal: AbortSignal): Promise<{ tools: readonly ToolRow[]; connecting: readonly string[] }> {
    const servers = await this.#servers();
    await this.#follow();
    this.#connect(servers);
    const listed = await this.#listed(servers);
    const tools: ToolRow[] = [];
    for (const [index, item] of listed.entries()) {
      if (index % BATCH === BATCH - 1) {
        await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
      }
      tools.push(this.#row(item));
    }
    this.#count(listed.map(({ source }) => source));
    return { tools, connecting: [...this.#connecting].sort() };
  }

  /** Returns one tool with everything its server says about it. Throws `NOT_FOUND`. */
  async definition(server: string, tool: string): Promise<ToolDefinition> {
    const servers = (await this.#servers()).filter(({ status }) => status.name === server);
    const found = (await this.#listed(servers)).find(({ source }) => source.tool === tool);
    if (found === undefined) throw new TrunklineError("NOT_FOUND", `The server "${server}" has no tool "${tool}" now.`);
    const { source } = found;
    if (!this.#tokens.has(source)) await this.#countNow([source]);
    const { description = "", inputSchema, outputSchema, annotations } = source;
    return {
      ...this.#row(found),
      description,
      inputSchema: inputSchema as Json, // As received.
      ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as Json }),
      ...(annotations === undefined ? {} : { annotations: annotations as Json }),
    };
  }

  /** Stops following the servers. */
  rest(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#tried.clear();
  }

  async #servers(): Promise<readonly KnownServer[]> {
    const servers = await (await this.#app.service()).knownServers();
    return servers.filter(({ status: { state } }) => state !== "disabled" && state !== "untrusted");
  }

  async #follow(): Promise<void> {
    if (this.#stop !== undefined) return;
    const hub = await this.#app.hub();
    this.#stop ??= hub.onCatalogChanged((changed) => {
      if (changed.includes("tools")) this.#events.onChange();
    });
  }

  /** A server whose tools are not known is connected once, as it is when an agent lists tools. */
  #connect(servers: readonly KnownServer[]): void {
    for (const { status, tools } of servers) {
      const { name, state } = status;
      if (tools !== undefined || state !== "pending" || this.#tried.has(name)) continue;
      this.#tried.add(name);
      this.#connecting.add(name);
      this.#app
        .hub()
        .then((hub) => hub.connect([name], this.#app.signal))
        .catch((error: unknown) =>
          this.#app.context.logger.debug("server not connected", { server: name, error: messageOf(error) }),
        )
        .finally(() => {
          this.#connecting.delete(name);
          this.#events.onChange();
        });
    }
  }

  async #listed(servers: readonly KnownServer[]): Promise<readonly Listed[]> {
    const offered = servers.flatMap(({ status, tools = [] }) =>
      tools.map((source) => ({ source, isRemembered: status.state !== "connected" })),
    );
    const held = servers.flatMap((server) => server.held.map((item) => ({ item, source: this.#heldTool(item) })));
    const all = [...offered, ...held.map(({ source }) => ({ source, isRemembered: false }))];
    const denied = await (await this.#app.service()).denials(all.map(({ source }) => source.name));
    const reasons = new Map(held.map(({ item, source }) => [source, heldReason(item)]));
    return all.map(({ source, isRemembered }, index) => ({
      source,
      isRemembered,
      blocked: denied[index] === true ? "The policy denies it." : reasons.get(source),
    }));
  }

  #heldTool(item: KnownServer["held"][number]): SourcedTool {
    const known = this.#held.get(item.definition);
    if (known !== undefined) return known;
    const { description, inputSchema, outputSchema, annotations } = item.definition;
    const source: SourcedTool = {
      server: item.server,
      tool: item.name,
      name: `${item.server}.${item.name}`,
      inputSchema: isRecord(inputSchema) ? inputSchema : { type: "object" },
      ...(typeof description === "string" ? { description } : {}),
      ...(isRecord(outputSchema) ? { outputSchema } : {}),
      ...(isRecord(annotations) ? { annotations } : {}),
    };
    this.#held.set(item.definition, source);
    return source;
  }

  #row({ source, blocked, isRemembered }: Listed): ToolRow {
    let line = this.#lines.get(source);
    if (line === undefined) {
      line = lineOf(source);
      this.#lines.set(source, line);
    }
    const tokens = this.#tokens.get(source);
    return {
      ...line,
      tokens,
      blocked,
      ...(isRemembered ? { isRemembered } : {}),
    };
  }

  /** Counts in the background, one list at a time. */
  #count(tools: readonly SourcedTool[]): void {
    const uncounted = tools.filter((tool) => !this.#tokens.has(tool));
    if (uncounted.length === 0 || this.#counting !== undefined) return;
    this.#counting = this.#countNow(uncounted)
      .then(() => this.#events.onChange())
      .catch((error: unknown) => this.#app.context.logger.debug("tokens not counted", { error: messageOf(error) }))
      .finally(() => {
        this.#counting = undefined;
      });
  }

  async #countNow(tools: readonly SourcedTool[]): Promise<void> {
    for (let from = 0; from < tools.length && !this.#app.signal.aborted; from += COUNT_BATCH) {
      const batch = tools.slice(from, from + COUNT_BATCH);
      const { directDefinition } = await import("@trunkline/client/catalogue");
      const counts = await countTokens(batch.map((tool) => JSON.stringify(directDefinition(tool))));
      for (const [index, tool] of batch.entries()) this.#tokens.set(tool, counts[index] ?? 0);
    }
  }
}

function lineOf({ server, tool, name, description = "", inputSchema, annotations, raw }: SourcedTool): Line {
  const title = [raw?.title, annotations?.title].find((each) => typeof each === "string" && each !== "");
  return {
    server,
    tool,
    name,
    ...(typeof title === "string" && title !== tool ? { title: firstChars(title, MAX_SUMMARY_CHARS) } : {}),
    summary: firstChars(firstLine(description), MAX_SUMMARY_CHARS),
    signature: firstChars(signatureOf(inputSchema), MAX_SIGNATURE_CHARS),
    ...(annotations?.readOnlyHint === true ? { isReadOnly: true } : {}),
    // What a server does not say is not shown: almost none says it.
    ...(annotations?.destructiveHint === true && annotations.readOnlyHint !== true ? { isDestructive: true } : {}),
  };
}

function firstLine(description: string): string {
  // A description can be very long, and none of the rest is used.
  const [line = ""] = description
    .slice(0, 10 * MAX_SUMMARY_CHARS)
    .trimStart()
    .split("\n", 1);
  return line.trimEnd();
}

function heldReason({ reasons }: KnownServer["held"][number]): string {
  const why = reasons.map(({ text }) => text).join("; ");
  return `Its definition needs your approval${why === "" ? "." : `: ${why}`}`;
}
