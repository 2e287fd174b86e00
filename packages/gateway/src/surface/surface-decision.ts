// Decides which tools `--surface auto` lists for a client.

import { isRecord, matchesGlob } from "@trunkline/core";
import type { Caller } from "../interfaces/exchange.js";
import {
  type ConfiguredFavourites,
  chooseFavourites,
  DEFAULT_FAVOURITE_TOKENS,
  type FavouriteOptions,
  type FavouriteReason,
  type FavouriteTool,
} from "./favourites.js";
import { chooseSigned, type SheetTool } from "./signature-sheet.js";

/**
 * Clients that search tools themselves: they do not put every definition into the prompt, and their search needs the
 * full text.
 */
const SEARCHING_CLIENTS: readonly string[] = [
  // Claude Code: ToolSearch.
  "claude-code",
  // Codex: tool_search.
  "codex-mcp-client",
];

/** The capability by which any other client can say that it searches tools itself. */
const SEARCH_CAPABILITY = "trunkline/toolSearch";

/** The settings of `--surface auto`. */
export interface SurfaceSettings {
  /** The tools are listed themselves if all of them together cost at most this. Default 1,200. */
  readonly directTokens?: number;
  readonly clients?: ClientChoices;
  /** What favourites and signatures may cost together. Default 800. */
  readonly favouriteTokens?: number;
  readonly favourites?: ConfiguredFavourites;
}

const DEFAULT_DIRECT_TOKENS = 1_200;

/** What is known about the upstream tools. */
interface CatalogueSize {
  /** The servers whose tools are known. */
  readonly servers: readonly string[];
  /** The cost of all known tools in their short form. */
  readonly leanTokens: number;
}

/**
 * - `direct`: every upstream tool, in full.
 * - `lean`: every known upstream tool, in its short form.
 * - `favourites`: those that are used most here, in their short form.
 * - `composite`: none of them.
 * The tools of the composite surface are listed as well, whatever the decision.
 */
export type SurfaceShape = "direct" | "lean" | "favourites" | "composite";

export interface SurfaceDecision {
  readonly shape: SurfaceShape;
  /** For people: why. */
  readonly reason: string;
  /** The servers whose tools are listed in their short form. Servers that connect later do not change the list. */
  readonly servers: ReadonlySet<string>;
  /** The favourites, as `<server>.<tool>`, and why each is one. */
  readonly favourites: ReadonlyMap<string, FavouriteReason>;
  /** What all upstream tools would have cost as their servers list them; undefined if that is not known yet. */
  readonly fullTokens?: number;
  /** The tools whose signatures are in our own descriptions, as `<server>.<tool>`. */
  readonly signed: ReadonlySet<string>;
  /** If servers add or change tools, the short forms may cost at most this. */
  readonly maxTokens: number;
}

/** The decision in words, for people. */
export function surfaceName({ shape, favourites, signed }: SurfaceDecision): string {
  if (shape === "direct") return "every tool";
  if (shape === "lean") return "every tool, in short";
  const more = [...(favourites.size > 0 ? ["favourites"] : []), ...(signed.size > 0 ? ["signatures"] : [])];
  return ["composite", ...more].join(" + ");
}

/** Decides for one client. The caller adds favourites and signatures: see {@link withUsedTools}. */
export function decideSurface(
  caller: Pick<Caller, "name" | "capabilities">,
  { servers, leanTokens }: CatalogueSize,
  { directTokens = DEFAULT_DIRECT_TOKENS, clients }: SurfaceSettings = {},
): SurfaceDecision {
  const none = {
    servers: new Set<string>(),
    favourites: new Map<string, FavouriteReason>(),
    signed: new Set<string>(),
    maxTokens: 0,
  };
  const chosen = surfaceOf(caller, clients);
  if (chosen !== undefined) {
    const reason = chosen.isConfigured ? "the configuration says so" : "the client searches tools itself";
    return { shape: chosen.surface, reason, ...none };
  }
  if (servers.length === 0) return { shape: "composite", reason: "no server's tools are known yet", ...none };
  const cost = `the short definitions of all tools cost ${leanTokens} tokens`;
  return leanTokens <= directTokens
    ? {
        ...none,
        shape: "lean",
        reason: `${cost}, at most ${directTokens}`,
        servers: new Set(servers),
        maxTokens: directTokens,
      }
    : { ...none, shape: "composite", reason: `${cost}, more than ${directTokens}` };
}

/** The part of the tokens that favourites may take. Signatures get the rest: one costs a fifth of a definition. */
const FAVOURITE_SHARE = 0.75;

/** Adds favourites and signatures to the composite tools; any other decision stays as it is. */
export function withUsedTools(
  decision: SurfaceDecision,
  options: Omit<FavouriteOptions<FavouriteTool & SheetTool>, "configured" | "maxTokens">,
  { favourites: configured, favouriteTokens = DEFAULT_FAVOURITE_TOKENS }: SurfaceSettings = {},
): SurfaceDecision {
  if (decision.shape !== "composite") return decision;
  const maxTokens = favouriteTokens * FAVOURITE_SHARE;
  const chosen = chooseFavourites({ ...options, configured, maxTokens });
  const favourites = new Map(chosen.map(({ tool, reason }) => [tool.name, reason]));
  const left = favouriteTokens - chosen.reduce((sum, { tool }) => sum + tool.tokens, 0);
  const signed = chooseSigned(
    options.tools.filter(({ name }) => !favourites.has(name)),
    { weightOf: (name) => options.uses.get(name)?.weight ?? 0, maxTokens: left },
  );
  return { ...decision, shape: favourites.size > 0 ? "favourites" : "composite", favourites, signed, maxTokens };
}

// What is known about clients by the name they report at the handshake. A client can claim any name: it decides only how
// the tools are listed, never what may be called.

/** How `auto` lists the tools for a client: all of them in full, a few that cover everything, or whichever costs less. */
type ClientSurface = "direct" | "composite" | "auto";

/** Client names, or globs of them, with the surface that the configuration chooses. The first that matches counts. */
type ClientChoices = Readonly<Record<string, ClientSurface>>;

/**
 * Returns the surface for a client: the configuration's choice, or `direct` if it searches tools itself. Undefined if the
 * cost decides.
 */
export function surfaceOf(
  caller: Pick<Caller, "name" | "capabilities">,
  choices: ClientChoices = {},
): { readonly surface: Exclude<ClientSurface, "auto">; readonly isConfigured: boolean } | undefined {
  const chosen = Object.entries(choices).find(([pattern]) => isNamed(caller.name, pattern));
  if (chosen?.[1] === "auto") return undefined;
  if (chosen !== undefined) return { surface: chosen[1], isConfigured: true };
  return searchesTools(caller) ? { surface: "direct", isConfigured: false } : undefined;
}

function searchesTools({ name, capabilities }: Pick<Caller, "name" | "capabilities">): boolean {
  const { experimental } = capabilities;
  if (isRecord(experimental) && experimental[SEARCH_CAPABILITY] !== undefined) return true;
  return SEARCHING_CLIENTS.some((client) => isNamed(name, client));
}

/** Whether a client has this name. A caller's name ends with the version, if the client reports one. */
function isNamed(callerName: string, pattern: string): boolean {
  const name = callerName.toLowerCase();
  const wanted = pattern.toLowerCase();
  return [name, name.replace(/ [^ ]*$/, "")].some((candidate) => matchesGlob(wanted, candidate));
}
