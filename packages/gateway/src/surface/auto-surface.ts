// `--surface auto`: decides once per client session which upstream tools are listed beside our own, and keeps that list
// the same until a server changes its tools. Every tool can be called, listed or not.

import { createHash } from "node:crypto";
import type { KnownServer } from "@trunkline/client";
import { isRecord, type Logger, messageOf } from "@trunkline/core";
import type { Caller, Exchange } from "../interfaces/exchange.js";
import type { ServedTool } from "../interfaces/served-tool.js";
import { estimateTokens } from "../journal/token-counter.js";
import type { ToolUsage, ToolUse } from "../journal/tool-usage.js";
import { kindOf } from "../operations/upstream-operation.js";
import type { DirectSurface, Listed } from "./direct-surface.js";
import type { FavouriteReason, FavouriteTool } from "./favourites.js";
import { leanDefinition } from "./lean-definition.js";
import { type SheetTool, sheetSignature, withSheet } from "./signature-sheet.js";
import {
  decideSurface,
  type SurfaceDecision,
  type SurfaceSettings,
  surfaceName,
  withUsedTools,
} from "./surface-decision.js";

type Definition = ServedTool["definition"];

interface AutoSurfaceOptions {
  readonly direct: DirectSurface;
  /** The definitions of our own tools. */
  readonly own: readonly Definition[];
  /** The last known tools of all servers, and what they cost. */
  readonly servers: () => Promise<readonly KnownServer[]>;
  /** Learns what other processes have seen of the servers. */
  readonly refresh: () => Promise<unknown>;
  readonly settings?: () => SurfaceSettings | Promise<SurfaceSettings>;
  /** Whether the policy denies an operation: such tools are not listed. */
  readonly isDenied: (operations: readonly string[]) => Promise<readonly boolean[]>;
  /** The names of all servers, connected or not. */
  readonly serverNames: () => readonly string[];
  /** What each principal uses, for favourites. */
  readonly usage?: ToolUsage;
  readonly logger: Logger;
}

/** How long a client without a session may use its list, and keeps its decision after the last list. */
export const LIST_TTL_MS = 5 * 60_000;
/** The oldest decisions of clients without a session are dropped beyond this number. */
const MOST_SESSIONS = 1_000;

interface CatalogueTool extends FavouriteTool, SheetTool {
  readonly definition: Definition;
}

/** The known tools in their short form. */
interface Catalogue {
  readonly source: readonly Listed[];
  readonly tools: readonly CatalogueTool[];
  readonly hash: string;
  /** Whether all costs are counted; otherwise some are estimated. */
  readonly isCounted: boolean;
  readonly fullTokens: number | undefined;
}

/** What one client sees. */
interface Session {
  readonly decision: Promise<SurfaceDecision>;
  /** Undefined for a client with a connection: its session ends with it. */
  expiresAtMs: number | undefined;
  /** The last list, and the tools it was made of. */
  list: (AutoList & { readonly source: readonly Listed[] }) | undefined;
}

/** A client's list: all tools, and those of them that are not our own. */
export interface AutoList {
  readonly tools: readonly Definition[];
  readonly upstream: readonly Definition[];
}

/** What a client would see. */
export interface SurfacePreview {
  readonly surface: string;
  readonly reason: string;
  /** What the definitions of all tools cost; `full`, as the servers send them, only if all are measured. */
  readonly tokens?: { readonly short: number; readonly full?: number };
  /** The tools whose signatures are in our own descriptions, as `<server>.<tool>`. */
  readonly signed: readonly string[];
  /** As `<server>.<tool>`, why each is one, and how it was used. */
  readonly favourites: readonly {
    readonly name: string;
    readonly why: FavouriteReason;
    readonly uses: ToolUse | undefined;
  }[];
}

const NO_TOOLS: readonly Definition[] = [];

interface DecidedTools {
  readonly definitions: readonly Definition[];
  readonly isTooDear: boolean;
}

export class AutoSurface {
  readonly #options: AutoSurfaceOptions;
  readonly #sessions = new Map<string, Session>();
  /** Clients that have disconnected, maybe while their session was about to begin. */
  readonly #gone = new WeakSet<Caller>();
  #catalogue: Catalogue | undefined;

  constructor(options: AutoSurfaceOptions) {
    this.#options = options;
  }

  /** Starts the session of a client that has just shaken hands. */
  async begin(caller: Caller): Promise<SurfaceDecision> {
    // A modern client may discover the server again at any time; that is not a new session.
    if (caller.lasting && caller.era === "legacy") this.#sessions.delete(keyOf(caller, ""));
    await this.#refresh();
    return await (await this.#session(caller)).decision;
  }

  /** A service may have been open for long, and others may have connected to its servers meanwhile. */
  async #refresh(): Promise<void> {
    const { refresh, logger } = this.#options;
    try {
      await refresh();
    } catch (error) {
      // The servers could not be opened, which is reported elsewhere.
      logger.debug("no catalogue", { error: messageOf(error) });
    }
  }

  /** Lists the tools for a client. Returns the same arrays until a server changes its tools. */
  async list({
    caller,
    signal,
  }: Pick<Exchange, "caller" | "signal">): Promise<{ list: AutoList; decision: SurfaceDecision }> {
    const session = await this.#session(caller);
    const decision = await session.decision;
    const { direct } = this.#options;
    const source = decision.shape === "direct" ? await direct.list(signal) : await direct.known();
    return { list: await this.#listed(session, decision, source), decision };
  }

  /** What a client of this name would get if its session began now. */
  async preview(caller: Pick<Caller, "name" | "capabilities" | "principal">): Promise<SurfacePreview> {
    const known = await this.#known();
    const decision = await this.#decision(caller, known);
    const uses = this.#options.usage?.uses(caller.principal);
    return {
      surface: surfaceName(decision),
      reason: decision.reason,
      ...(known === undefined ? {} : { tokens: { short: tokensOf(known.tools), full: known.fullTokens } }),
      signed: [...decision.signed],
      favourites: [...decision.favourites].map(([name, why]) => ({ name, why, uses: uses?.get(name) })),
    };
  }

  /** The client has disconnected. */
  release(caller: Caller): void {
    this.#gone.add(caller);
    this.#sessions.delete(keyOf(caller, ""));
  }

  /** Whether any client's list differs from the one it has seen, now that a server has changed its tools. */
  async hasNews(): Promise<boolean> {
    for (const session of [...this.#sessions.values()]) {
      const seen = session.list?.tools;
      if (seen === undefined) continue;
      const decision = await session.decision;
      // The same array, if nothing has changed.
      if ((await this.#listed(session, decision, await this.#options.direct.known())).tools !== seen) return true;
    }
    return false;
  }

  async #session(caller: Caller): Promise<Session> {
    const catalogue = await this.#known();
    const key = keyOf(caller, catalogue?.hash ?? "");
    const now = performance.now();
    const known = this.#sessions.get(key);
    const isAlive = known !== undefined && (known.expiresAtMs === undefined || known.expiresAtMs > now);
    const session = isAlive
      ? known
      : { decision: this.#decide(caller, catalogue), expiresAtMs: undefined, list: undefined };
    if (!caller.lasting) {
      session.expiresAtMs = now + 2 * LIST_TTL_MS;
      // The most recently used come last.
      this.#sessions.delete(key);
    }
    if (!this.#gone.has(caller)) this.#sessions.set(key, session);
    this.#forgetOld(now);
    return session;
  }

  async #decide(caller: Caller, catalogue: Catalogue | undefined): Promise<SurfaceDecision> {
    const decision = await this.#decision(caller, catalogue);
    this.#options.logger.info("surface decided", {
      client: caller.name,
      surface: decision.shape,
      reason: decision.reason,
    });
    return decision;
  }

  async #decision(
    caller: Pick<Caller, "name" | "capabilities" | "principal">,
    catalogue: Catalogue | undefined,
  ): Promise<SurfaceDecision> {
    const { usage, serverNames } = this.#options;
    const settings = await this.#settings();
    const tools = catalogue?.tools ?? [];
    const servers = [...new Set(tools.map(({ server }) => server))];
    const plain = decideSurface(caller, { servers, leanTokens: tokensOf(tools) }, settings);
    if (plain.shape === "composite" && tools.length > 0) await usage?.load();
    const uses = usage?.uses(caller.principal) ?? new Map();
    const decision = withUsedTools(plain, { uses, tools, servers: serverNames() }, settings);
    return { ...decision, fullTokens: catalogue?.fullTokens };
  }

  /** The settings; the defaults if they cannot be read, which is reported elsewhere. A handshake must not fail for it. */
  async #settings(): Promise<SurfaceSettings | undefined> {
    try {
      return await this.#options.settings?.();
    } catch (error) {
      this.#options.logger.debug("no surface settings", { error: messageOf(error) });
      return undefined;
    }
  }

  async #listed(session: Session, decision: SurfaceDecision, source: readonly Listed[]): Promise<AutoList> {
    const { own } = this.#options;
    if (decision.shape === "composite" && decision.signed.size === 0) {
      session.list ??= { source: [], tools: own, upstream: NO_TOOLS };
      return session.list;
    }
    const before = session.list;
    if (before?.source === source) return before;
    const { definitions, isTooDear } =
      decision.shape === "direct" ? await this.#full(source) : await this.#lean(decision);
    const signed = ((await this.#known())?.tools ?? []).filter(({ name }) => decision.signed.has(name));
    const sheet = withSheet(own, signed);
    const all = { tools: [...sheet, ...definitions], upstream: definitions };
    // A list that has not changed stays, even if its cost was only estimated when it was decided.
    const isDropped = isTooDear && before !== undefined && !isSameList(all, before);
    const list = isDropped ? { tools: sheet, upstream: NO_TOOLS } : all;
    session.list = { ...(before !== undefined && isSameList(list, before) ? before : list), source };
    return session.list;
  }

  async #full(source: readonly Listed[]): Promise<DecidedTools> {
    const tools = await this.#allowed(source);
    return { definitions: tools.map(({ definition }) => withoutOutput(definition)), isTooDear: false };
  }

  /** The short forms of the decided tools. They can become too dear if their servers change. */
  async #lean({ servers, favourites, maxTokens }: SurfaceDecision): Promise<DecidedTools> {
    const known = (await this.#known())?.tools ?? [];
    const tools = known.filter(({ server, name }) => servers.has(server) || favourites.has(name));
    return { definitions: tools.map(({ definition }) => definition), isTooDear: tokensOf(tools) > maxTokens };
  }

  /** The last known tools; undefined if they cannot be read, which is reported elsewhere. */
  async #known(): Promise<Catalogue | undefined> {
    try {
      const source = await this.#options.direct.known();
      if (this.#catalogue?.source === source && this.#catalogue.isCounted) return this.#catalogue;
      const servers = await this.#options.servers();
      const counted = countedTokens(servers);
      const isRead = readTools(servers);
      let isCounted = true;
      const tools = (await this.#allowed(source)).map(({ server, tool, definition }) => {
        const lean = leanDefinition(definition);
        const tokens = counted.get(server)?.get(tool);
        isCounted &&= tokens !== undefined;
        const name = `${server}.${tool}`;
        return {
          server,
          name,
          isReadOnly: isRead.has(name),
          signature: sheetSignature({ server, tool }, isRecord(lean.inputSchema) ? lean.inputSchema : {}),
          definition: lean,
          tokens: tokens ?? estimateTokens(JSON.stringify(lean)),
        };
      });
      const definitions = tools.map(({ definition }) => definition);
      const hash = createHash("sha256").update(JSON.stringify(definitions)).digest("hex");
      this.#catalogue = { source, tools, hash, isCounted, fullTokens: fullTokensOf(servers) };
      return this.#catalogue;
    } catch (error) {
      this.#options.logger.debug("no catalogue", { error: messageOf(error) });
      return undefined;
    }
  }

  async #allowed(tools: readonly Listed[]): Promise<readonly Listed[]> {
    const denied = await this.#options.isDenied(tools.map(({ server, tool }) => `${server}.${tool}`));
    return tools.filter((_, index) => denied[index] !== true);
  }

  #forgetOld(now: number): void {
    for (const [key, { expiresAtMs }] of this.#sessions) {
      if (expiresAtMs === undefined) continue;
      if (expiresAtMs > now && this.#sessions.size <= MOST_SESSIONS) continue;
      this.#sessions.delete(key);
    }
  }
}

/** What the definitions of all servers cost; undefined if one of them has not been measured. */
function fullTokensOf(servers: readonly KnownServer[]): number | undefined {
  let sum = 0;
  for (const { tools, measure } of servers) {
    if (tools === undefined) continue;
    if (measure?.full === undefined || measure.lean.length !== tools.length) return undefined;
    sum += measure.full;
  }
  return sum > 0 ? sum : undefined;
}

function isSameList(a: AutoList, b: AutoList): boolean {
  return JSON.stringify(a.tools) === JSON.stringify(b.tools);
}

/** The counted cost of each tool, by server and tool. */
function countedTokens(servers: readonly KnownServer[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  return new Map(
    servers.map(({ status, tools = [], measure }) => {
      // They differ while a changed list is being measured.
      const isCurrent = measure?.lean.length === tools.length;
      return [status.name, new Map(isCurrent ? tools.map(({ tool }, at) => [tool, measure.lean[at] ?? 0]) : [])];
    }),
  );
}

/** The tools that `query` runs, as `<server>.<tool>`. */
function readTools(servers: readonly KnownServer[]): ReadonlySet<string> {
  return new Set(
    servers.flatMap(({ status, tools = [] }) =>
      tools
        .filter((tool) => kindOf(tool, status.config.readOnly) === "read")
        .map(({ server, tool }) => `${server}.${tool}`),
    ),
  );
}

function tokensOf(tools: Catalogue["tools"]): number {
  return tools.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Identifies a session: the connection, or else whose client it is, which one, and what it can see. */
function keyOf({ lasting, id, principal, name }: Caller, hash: string): string {
  return JSON.stringify(lasting ? [id] : [principal, name, hash]);
}

/** An oversized result is stored and replaced by its head, which the tool's output schema does not describe. */
function withoutOutput(definition: Definition): Definition {
  if (definition.outputSchema === undefined) return definition;
  const { outputSchema: _, ...rest } = definition;
  return rest;
}
