// Decides which tools `--surface auto` lists for a client.
import type { Caller } from "../interfaces/exchange.js";
import { type ClientChoices, surfaceOf } from "./client-table.js";

/** The settings of `--surface auto`. */
export interface SurfaceSettings {
  /** The tools are listed themselves if all of them together cost at most this. Default 1,200. */
  readonly directTokens?: number | undefined;
  readonly clients?: ClientChoices | undefined;
}

const DEFAULT_DIRECT_TOKENS = 1_200;

/** What is known about the upstream tools. */
export interface CatalogueSize {
  /** The servers whose tools are known. */
  readonly servers: readonly string[];
  /** The cost of all known tools in their short form. */
  readonly leanTokens: number;
}

/**
 * - `direct`: every upstream tool, in full.
 * - `lean`: every known upstream tool, in its short form.
 * - `composite`: none of them.
 * The tools of the composite surface are listed as well, whatever the decision.
 */
export type SurfaceShape = "direct" | "lean" | "composite";

export interface SurfaceDecision {
  readonly shape: SurfaceShape;
  /** For people: why. */
  readonly reason: string;
  /** The servers whose tools are listed in their short form. Servers that connect later do not change the list. */
  readonly servers: ReadonlySet<string>;
  /** If these servers add tools, the short forms may cost at most this. */
  readonly directTokens: number;
}

/** Decides for one client. */
export function decideSurface(
  caller: Pick<Caller, "name" | "capabilities">,
  { servers, leanTokens }: CatalogueSize,
  { directTokens = DEFAULT_DIRECT_TOKENS, clients }: SurfaceSettings = {},
): SurfaceDecision {
  const none = { servers: new Set<string>(), directTokens };
  const chosen = surfaceOf(caller, clients);
  if (chosen !== undefined) {
    const reason = chosen.isConfigured ? "the configuration says so" : "the client searches tools itself";
    return { shape: chosen.surface, reason, ...none };
  }
  if (servers.length === 0) return { shape: "composite", reason: "no server's tools are known yet", ...none };
  const cost = `all tools together cost ${leanTokens} tokens`;
  return leanTokens <= directTokens
    ? { shape: "lean", reason: `${cost}, at most ${directTokens}`, servers: new Set(servers), directTokens }
    : { shape: "composite", reason: `${cost}, more than ${directTokens}`, ...none };
}
