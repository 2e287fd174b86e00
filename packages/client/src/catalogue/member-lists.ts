// The lists of one server as its hub sees them: read again when they change, filtered by the configuration, compared with
// the pinned definitions.

import { isRemote, type ToolFilter } from "@trunkline/config";
import {
  contentIdOf,
  isTrunklineError,
  type Logger,
  matchesGlob,
  type SourcedTool,
  type TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import { RPC_CODES, readParamHeaders } from "@trunkline/protocol";
import { isSessionExpired } from "../connection/connection-errors.js";
import type { ListKind } from "../connection/connection-options.js";
import type { Definition, PinKind } from "../pins/pinned-definition.js";
import type { HeldEntry, ServerPins } from "../pins/server-pins.js";
import type { Lease } from "../pool/lease.js";
import { toSourcedTool } from "./catalogue-items.js";

/** The kinds of lists a server has. */
export type CatalogueKind = ListKind | "templates";

const LISTS: Record<CatalogueKind, { method: string; key: string; capability: ListKind }> = {
  tools: { method: "tools/list", key: "tools", capability: "tools" },
  resources: { method: "resources/list", key: "resources", capability: "resources" },
  prompts: { method: "prompts/list", key: "prompts", capability: "prompts" },
  templates: { method: "resources/templates/list", key: "resourceTemplates", capability: "resources" },
};

/**
 * A server that keeps reporting changes is listed again only after a pause of this many times the last listing, so that
 * it cannot keep us busy. The first change after connecting is listed at once, however long connecting took.
 */
const PAUSE_TIMES = 4;
const MAX_PAUSE_MS = 10_000;

interface MemberListsOptions {
  readonly connection: Lease;
  readonly logger: Logger;
  /** The definitions that were accepted so far. */
  readonly pins: ServerPins;
  /** Called when a list has been read again. */
  readonly onCatalogue: (kind: CatalogueKind) => void;
}

export class MemberLists {
  readonly #options: MemberListsOptions;
  /** The lists as the server sent them, without held definitions. */
  readonly #lists = new Map<CatalogueKind, readonly Definition[]>();
  /** Tools and prompts as the server sent them, held ones included. */
  readonly #listed = new Map<PinKind, readonly Definition[]>();
  /** Why a list is unknown although its server is connected. */
  readonly #failures = new Map<CatalogueKind, TrunklineError>();
  readonly #fingerprints = new Map<CatalogueKind, string>();
  readonly #refreshing = new Map<CatalogueKind, Promise<void>>();
  readonly #again = new Set<CatalogueKind>();
  /** Lists that changed while they were being read. */
  readonly #announced = new Set<CatalogueKind>();
  /** When a changed list may be read again, and the timers that wait for it. */
  readonly #notBeforeMs = new Map<CatalogueKind, number>();
  readonly #pauses = new Map<CatalogueKind, NodeJS.Timeout>();
  #isClosed = false;
  readonly #background = new Set<Promise<void>>();
  #tools: readonly SourcedTool[] = [];
  #toolsByName: ReadonlyMap<string, SourcedTool> = new Map();
  #remarks: readonly string[] = [];

  constructor(options: MemberListsOptions) {
    this.#options = options;
  }

  /** The tools that the configuration allows; empty while the server is not connected. */
  get tools(): readonly SourcedTool[] {
    return this.#options.connection.state === "connected" ? this.#tools : [];
  }

  /** The tools as last listed, even while the server is not connected. */
  get lastTools(): readonly SourcedTool[] {
    return this.#tools;
  }

  /** Changes when a list changes; empty while it is unknown or the server is not connected. */
  fingerprintOf(kind: ListKind): string {
    return this.#options.connection.state === "connected" ? (this.#fingerprints.get(kind) ?? "") : "";
  }

  /** Returns a tool as last listed, even while the server is disconnected. */
  known(tool: string): SourcedTool | undefined {
    return this.#toolsByName.get(tool);
  }

  /** Why a connected server could not list its tools. */
  get toolsError(): TrunklineError | undefined {
    return this.#failures.get("tools");
  }

  /** Skipped tools, and why. */
  get remarks(): readonly string[] {
    return this.#options.connection.state === "connected" ? this.#remarks : [];
  }

  /** Returns a list as the server last sent it, and requests it if unknown. Rejects if it is unavailable. */
  async list(
    kind: CatalogueKind,
    { refresh, signal }: { refresh: boolean; signal: AbortSignal | undefined },
  ): Promise<readonly Definition[]> {
    await this.#options.connection.connect(signal);
    await this.#refreshing.get(kind);
    if (refresh || !this.#lists.has(kind) || this.#failures.has(kind)) await this.refresh(kind);
    const failure = this.#failures.get(kind);
    if (failure !== undefined) throw failure;
    return this.#lists.get(kind) ?? [];
  }

  /** The number of resources or prompts; 0 while the server is not connected. */
  count(kind: "resources" | "prompts"): number {
    return this.#options.connection.state === "connected" ? (this.#lists.get(kind)?.length ?? 0) : 0;
  }

  /** Whether any definition waits for approval. */
  get isHolding(): boolean {
    const { pins } = this.#options;
    return pins.held("tools").length + pins.held("prompts").length > 0;
  }

  /** Definitions that wait for approval, as far as the configuration allows their use. */
  get held(): readonly HeldEntry[] {
    const { pins } = this.#options;
    const { tools } = this.#options.connection.definition;
    return [...pins.held("tools").filter(({ name }) => isAllowed(name, tools)), ...pins.held("prompts")].map(
      (item) => ({ ...item, server: this.#name }),
    );
  }

  /** Looks whether held definitions were approved meanwhile, in another process, and offers those. */
  async recheckHeld(): Promise<void> {
    for (const kind of ["tools", "prompts"] as const) {
      if (await this.#options.pins.isStillHeld(kind)) continue;
      await this.#offer(kind, this.#listed.get(kind) ?? []);
      this.#options.onCatalogue(kind);
    }
  }

  /** Accepts held definitions as they are now. */
  async approve(kind: PinKind, names: readonly string[]): Promise<void> {
    await this.#options.pins.approve(kind, names);
    await this.recheckHeld();
  }

  /** The tools that the server is known to have, even if it was not connected by this hub. */
  async knownTools() {
    return await this.#options.pins.knownTools();
  }

  /** Reads the lists of a server that has just connected. Resolves when its tools are known. */
  async onConnected(signal: AbortSignal): Promise<void> {
    await this.refresh("tools", signal);
    this.#lists.delete("templates");
    // The other counts are only for the status, so no call has to wait for them.
    this.inBackground(Promise.all([this.refresh("resources"), this.refresh("prompts")]).then(() => {}));
    const { connection, pins } = this.#options;
    const { instructions: text } = connection;
    if (text !== undefined) this.inBackground(pins.check("instructions", [{ text }]).then(() => {}));
  }

  /** The server has reported a change. */
  onListChanged(kind: ListKind): void {
    // Template lists are not prefetched: drop the cached list, and the next request fetches it again.
    if (kind === "resources") this.#lists.delete("templates");
    this.#announce(kind);
  }

  /** Waits for background work: counting resources and prompts, listing again after a change. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  close(): void {
    this.#isClosed = true;
    for (const pause of this.#pauses.values()) clearTimeout(pause);
  }

  /** Headers for arguments exist since 2026-07-28, and only HTTP has headers. */
  get hasParamHeaders(): boolean {
    return this.#options.connection.era === "modern" && isRemote(this.#options.connection.definition);
  }

  /** Lists again. Requests that arrive in the meantime cause one more round, however many there are. */
  async refresh(kind: CatalogueKind, signal?: AbortSignal, isAnnounced = false): Promise<void> {
    const running = this.#refreshing.get(kind);
    if (running !== undefined) {
      this.#again.add(kind);
      return await running;
    }
    const round = (async () => {
      do {
        this.#again.delete(kind);
        const startedMs = performance.now();
        await this.#list(kind, signal);
        const endedMs = performance.now();
        const pauseMs = Math.min(MAX_PAUSE_MS, (endedMs - startedMs) * PAUSE_TIMES);
        if (isAnnounced) this.#notBeforeMs.set(kind, endedMs + pauseMs);
      } while (this.#again.has(kind));
    })().finally(() => {
      this.#refreshing.delete(kind);
      if (this.#announced.delete(kind) && !this.#isClosed) this.#announce(kind);
    });
    this.#refreshing.set(kind, round);
    await round;
  }

  /** Lists again because the server reported a change: now, or when its pause is over. */
  #announce(kind: CatalogueKind): void {
    if (this.#refreshing.has(kind)) {
      this.#announced.add(kind);
      return;
    }
    const waitMs = (this.#notBeforeMs.get(kind) ?? 0) - performance.now();
    const listAgain = () => this.inBackground(this.refresh(kind, undefined, true));
    if (waitMs <= 0) listAgain();
    else if (!this.#pauses.has(kind)) {
      const onEnd = () => {
        this.#pauses.delete(kind);
        listAgain();
      };
      this.#pauses.set(kind, setTimeout(onEnd, waitMs).unref());
    }
  }

  async #list(kind: CatalogueKind, signal: AbortSignal | undefined): Promise<void> {
    const { connection } = this.#options;
    const { method, key, capability } = LISTS[kind];
    let items: readonly Definition[] = [];
    let failure: TrunklineError | undefined;
    try {
      if (connection.capabilities[capability] !== undefined) {
        items = await connection.listAll(method, key, signal ? { signal } : {}).catch(async (error: unknown) => {
          // Opening a new session lists the tools, so listing the tools must not wait for a new session.
          if (!isSessionExpired(error) || kind === "tools") throw error;
          await connection.request({ method, params: {} });
          return await connection.listAll(method, key);
        });
      }
    } catch (error) {
      // The capability `resources` does not promise templates: many servers do not know the method.
      const hasNone = kind === "templates" && isMethodNotFound(error);
      failure = hasNone ? undefined : toTrunklineError(error);
      // Some servers accept every connection and require a sign-in only for listing tools. They do not count as
      // connected.
      if (kind === "tools" && signal !== undefined && isTrunklineError(failure, "AUTH_REQUIRED")) throw failure;
      if (failure !== undefined && !isTrunklineError(failure, "ABORTED")) {
        this.#options.logger.warn("list failed", { server: this.#name, method, error: failure });
      }
    }
    // A list that could not be read says nothing about the definitions.
    const isPinned = failure === undefined && connection.capabilities[capability] !== undefined;
    await this.#offer(kind, items, isPinned);
    if (failure === undefined) this.#failures.delete(kind);
    else this.#failures.set(kind, failure);
    if (connection.state === "connected") this.#options.onCatalogue(kind);
  }

  /** Compares a list with the pinned definitions, and makes the accepted part of it the current list. */
  async #offer(kind: CatalogueKind, items: readonly Definition[], isPinned = true): Promise<void> {
    let fingerprint = kind === "templates" ? "" : contentIdOf(JSON.stringify(items));
    let offered = items;
    if (isPinned && (kind === "tools" || kind === "prompts")) {
      offered = await this.#options.pins.check(kind, items, fingerprint);
      this.#listed.set(kind, items);
      if (offered.length !== items.length) fingerprint = contentIdOf(JSON.stringify(offered));
    }
    this.#lists.set(kind, offered);
    this.#fingerprints.set(kind, fingerprint);
    if (kind !== "tools") return;
    const { tools } = this.#options.connection.definition;
    this.#tools = this.#usable(
      offered.flatMap((raw) => toSourcedTool(this.#name, raw) ?? []).filter(({ tool }) => isAllowed(tool, tools)),
    );
    // Of several tools with one name, the first counts.
    this.#toolsByName = new Map(this.#tools.map((tool) => [tool.tool, tool] as const).reverse());
  }

  /** Filters out tools whose header declarations violate the specification. */
  #usable(tools: readonly SourcedTool[]): readonly SourcedTool[] {
    const remarks: string[] = [];
    const usable = tools.filter(({ tool, inputSchema }) => {
      const read = this.hasParamHeaders ? readParamHeaders(inputSchema) : undefined;
      if (read?.problem === undefined) return true;
      remarks.push(`Server "${this.#name}" has a tool "${tool}" that cannot be used: ${read.problem}.`);
      this.#options.logger.warn("tool skipped", { server: this.#name, tool, reason: read.problem });
      return false;
    });
    this.#remarks = remarks;
    return usable;
  }

  /** Does work that no one waits for, except `settled`. */
  inBackground(work: Promise<void>): void {
    const kept = work.catch((error: unknown) =>
      this.#options.logger.debug("background work failed", { server: this.#name, error }),
    );
    this.#background.add(kept);
    void kept.finally(() => this.#background.delete(kept));
  }

  get #name(): string {
    return this.#options.connection.definition.name;
  }
}

/** Whether the configuration allows a tool. Denied tools stay out even if they are also allowed. */
export function isAllowed(tool: string, filter: ToolFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.deny?.some((glob) => matchesGlob(glob, tool))) return false;
  return filter.allow === undefined || filter.allow.some((glob) => matchesGlob(glob, tool));
}

function isMethodNotFound(error: unknown): boolean {
  return isTrunklineError(error, "UPSTREAM") && error.data?.code === RPC_CODES.methodNotFound;
}
