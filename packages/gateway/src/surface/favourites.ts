// Chooses favourites: the tools listed next to ours, so that calling them needs no search. They come from the journal and
// from the configuration. Being one grants nothing: a call passes the same policy and pins.
import { isGlob, matchesGlob } from "@trunkline/core";
import type { ToolUse } from "../journal/tool-usage.js";

/** Tools that the configuration names, as globs over `server.tool`. */
export interface ConfiguredFavourites {
  /** In the user's own files. */
  readonly own?: readonly string[];
  /** In the project's files. */
  readonly project?: readonly string[];
}

/** A tool that can be chosen. */
export interface FavouriteTool {
  /** `<server>.<tool>`. */
  readonly name: string;
  /** What listing it costs. */
  readonly tokens: number;
}

/** Why a tool is a favourite. */
export type FavouriteReason = "configured" | "used" | "project";

interface Favourite<T> {
  readonly tool: T;
  readonly reason: FavouriteReason;
}

export interface FavouriteOptions<T> {
  readonly uses: ReadonlyMap<string, ToolUse>;
  readonly configured?: ConfiguredFavourites;
  /** The tools that can be listed: those that are held or denied are not among them. */
  readonly tools: readonly T[];
  /** The names of all servers, connected or not: two of them can make a name ambiguous. */
  readonly servers: readonly string[];
  /** What favourites may cost together. */
  readonly maxTokens: number;
}

export const DEFAULT_FAVOURITE_TOKENS = 800;
const MIN_USES = 3;
const MIN_DAYS = 2;
/** Below this a tool counts as no longer used: a few calls are forgotten after two or three weeks, many after a month. */
const MIN_WEIGHT = 0.5;

/** The user's own choice counts most. A project's comes last, or it could crowd out what the user works with. */
const ORDER: Readonly<Record<FavouriteReason, number>> = { configured: 0, used: 1, project: 2 };

/**
 * Chooses the tools with the most use for each token, within the limit, and returns them sorted by name, so that a list
 * changes only if its members do. A tool that does not fit leaves its room to the next.
 */
export function chooseFavourites<T extends FavouriteTool>(options: FavouriteOptions<T>): readonly Favourite<T>[] {
  const { uses, configured = {}, tools, servers, maxTokens } = options;
  const isOwn = matcherOf(configured.own);
  const isProject = matcherOf(configured.project);
  const candidates = tools.flatMap((tool) => {
    // With servers `a` and `a.b`, the name may have been recorded or written for the other server's tool.
    if (servers.filter((server) => tool.name.startsWith(`${server}.`)).length > 1) return [];
    const use = uses.get(tool.name);
    const reason = isOwn(tool.name)
      ? "configured"
      : isUsed(use)
        ? "used"
        : isProject(tool.name)
          ? "project"
          : undefined;
    return reason === undefined
      ? []
      : [{ tool, reason, worth: (use?.weight ?? 0) / Math.max(1, tool.tokens) } as const];
  });
  candidates.sort(
    (a, b) => ORDER[a.reason] - ORDER[b.reason] || b.worth - a.worth || compare(a.tool.name, b.tool.name),
  );
  const chosen: Favourite<T>[] = [];
  let left = maxTokens;
  for (const { tool, reason } of candidates) {
    if (tool.tokens > left) continue;
    left -= tool.tokens;
    chosen.push({ tool, reason });
  }
  return chosen.sort((a, b) => compare(a.tool.name, b.tool.name));
}

function isUsed(use: ToolUse | undefined): boolean {
  return use !== undefined && use.count >= MIN_USES && use.days >= MIN_DAYS && use.weight >= MIN_WEIGHT;
}

function matcherOf(patterns: readonly string[] = []): (name: string) => boolean {
  const names = new Set(patterns.filter((pattern) => !isGlob(pattern)));
  const globs = patterns.filter(isGlob);
  return (name) => names.has(name) || globs.some((glob) => matchesGlob(glob, name));
}

/** Independent of the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
