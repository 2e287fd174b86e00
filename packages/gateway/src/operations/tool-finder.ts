// Finds operations for a question: our own, and the tools of all servers. Keeps their index ready in the background.
import type { KnownServer } from "@trunkline/client";
import { abortError, type Embedder, type Logger, type SourcedTool } from "@trunkline/core";
import type { Candidate } from "../find/candidate-texts.js";
import type { Ranker } from "../find/operation-ranker.js";
import type { Caller } from "../interfaces/exchange.js";
import type { Operation, OperationKind } from "../interfaces/operation.js";
import type { ToolUsage } from "../journal/tool-usage.js";
import type { Upstreams } from "../upstreams/upstreams.js";
import { kindOf, summaryOf } from "./upstream-operation.js";

interface FinderOptions {
  readonly upstreams: Upstreams;
  /** Our own operations and session actions. */
  readonly own: () => readonly Operation[];
  /** Absent if nothing can be installed that searches by meaning. */
  readonly embedder?: () => Promise<Embedder | undefined>;
  /** What was used before comes first among equals. */
  readonly usage?: Pick<ToolUsage, "load" | "weightOf">;
  readonly cacheFolder: string | undefined;
  /** How long a question may wait for the index. Default 0. */
  readonly waitMs?: number;
  readonly logger: Logger;
}

/** An operation in a list. */
export interface Line {
  readonly name: string;
  readonly kind: OperationKind;
  readonly summary: string;
}

interface Findable extends Candidate {
  readonly line: Line;
  readonly outputSchema?: SourcedTool["outputSchema"];
}

interface Finding {
  readonly method: "hybrid" | "keyword";
  /** Best first. */
  readonly ranked: readonly Findable[];
  /** How many of them are worth showing unless more are asked for. */
  readonly clear: number;
  readonly notice?: string;
  readonly notConnected: readonly string[];
}

/** How long a question waits for servers that were never connected. */
const CONNECT_WAIT_MS = 5000;
/** Servers connect and change in groups; the index follows when they are quiet. */
const QUIET_MS = 1000;

const NO_MODEL =
  "Matched by words only: the model for search by meaning is not installed. The user can run: trunkline models pull";
/** The clients that were told longest ago are told again beyond this number. */
const MOST_TOLD = 1000;

/** What our own operations are asked for as, beyond their summaries. */
const ASKED_AS: Readonly<Record<string, string>> = {
  add: "Save, remember or keep a note, a fact or a text for later. Index files or a folder of code.",
  search: "Recall saved notes.",
  get: "Read a saved note, a file or an earlier version of it.",
  graph: "Who calls a function, where a symbol is used, what depends on a file.",
};

export class ToolFinder {
  readonly #options: FinderOptions;
  #ranker: Ranker<Findable> | undefined;
  /** The last list of searchable operations, and the tools it was built from. */
  #findable: { readonly tools: readonly SourcedTool[]; readonly list: readonly Findable[] } | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #indexing: Promise<void> = Promise.resolve();
  /** The clients that know that there is no model. */
  readonly #told = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: FinderOptions) {
    this.#options = options;
  }

  async find(question: string, { caller, signal }: { caller: Caller; signal: AbortSignal }): Promise<Finding> {
    const { upstreams, usage, embedder } = this.#options;
    const ranker = await this.#openRanker();
    // Both take a while, and are needed only at the end.
    ranker.warmUp();
    void usage?.load();
    const notConnected = await this.#connectUnknown(signal);
    const candidates = this.#findableOf(await upstreams.servers());
    const weightOf = (name: string) => usage?.weightOf(name, caller.principal) ?? 0;
    const { method, ranked, clear, lacksModel, ...rest } = await ranker.rank(question, candidates, {
      weightOf,
      signal,
    });
    const isToldNow = lacksModel && embedder !== undefined && this.#isNewTo(caller);
    const notice = isToldNow ? NO_MODEL : rest.notice;
    return { method, ranked: ranked.map(({ candidate }) => candidate), clear, notice, notConnected };
  }

  /** Whether a client has not been told yet that there is no model: once per session is enough. */
  #isNewTo({ lasting, id, principal, name }: Caller): boolean {
    const key = JSON.stringify(lasting ? [id] : [principal, name]);
    if (this.#told.has(key)) return false;
    this.#told.add(key);
    const [oldest] = this.#told;
    if (this.#told.size > MOST_TOLD && oldest !== undefined) this.#told.delete(oldest);
    return true;
  }

  /** The tools of servers have changed: updates the index in the background, if there is a model. */
  indexSoon(): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#indexing = this.#indexing.then(() => this.#prepare());
    }, QUIET_MS).unref();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#quiet);
    await Promise.all([this.#ranker?.close(), this.#indexing]);
  }

  async #prepare(): Promise<void> {
    const { upstreams, logger } = this.#options;
    try {
      const servers = await upstreams.servers();
      const ranker = await this.#openRanker();
      if (!this.#closing.signal.aborted) await ranker.prepare(this.#findableOf(servers));
    } catch (error) {
      logger.debug("cannot index tools", { error });
    }
  }

  async #openRanker(): Promise<Ranker<Findable>> {
    const { embedder, cacheFolder: folder, waitMs, logger } = this.#options;
    const loaded = await import("../find/operation-ranker.js");
    this.#ranker ??= new loaded.Ranker({ embedder, folder, waitMs, logger });
    return this.#ranker;
  }

  /**
   * Connects servers with unknown tools, so that the first question covers all of them. Returns the slow ones, without
   * waiting for them.
   */
  async #connectUnknown(signal: AbortSignal): Promise<string[]> {
    const { upstreams } = this.#options;
    const unknown = async () => (await upstreams.servers()).filter(({ tools }) => tools === undefined);
    const pending = (await unknown()).filter(({ status }) => status.state === "pending");
    const names = pending.map(({ status }) => status.name);
    await upstreams.reach(names, { signal, patienceMs: CONNECT_WAIT_MS }).catch((error: unknown) => {
      throw signal.aborted ? abortError(signal, "describe") : error;
    });
    return (await unknown()).map(({ status }) => status.name);
  }

  #findableOf(servers: readonly KnownServer[]): readonly Findable[] {
    const tools = servers.flatMap((server) => server.tools ?? []);
    const last = this.#findable;
    if (last?.tools.length === tools.length && tools.every((tool, at) => tool === last.tools[at])) return last.list;
    const own = this.#options.own().map(
      (operation): Findable => ({
        name: operation.name,
        tool: operation.name,
        description: operation.summary,
        askedAs: ASKED_AS[operation.name],
        schema: operation.schema,
        line: lineOf(operation),
      }),
    );
    const upstream = servers.flatMap(({ tools: listed, status }) =>
      (listed ?? []).map((tool): Findable => {
        const line = toolLine(tool, status.config.readOnly);
        const { server, description = "", inputSchema: schema, outputSchema } = tool;
        return { name: line.name, server, tool: tool.tool, description, schema, outputSchema, line };
      }),
    );
    this.#findable = { tools, list: [...own, ...upstream] };
    return this.#findable.list;
  }
}

export function lineOf({ name, kind, summary }: Operation): Line {
  return { name, kind, summary };
}

export function toolLine(tool: SourcedTool, readOnly: KnownServer["status"]["config"]["readOnly"]): Line {
  return {
    name: `${tool.server}.${tool.tool}`,
    kind: kindOf(tool, readOnly),
    summary: summaryOf(tool.description),
  };
}
