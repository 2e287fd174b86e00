// What is known about clients by the name they report at the handshake. A client can claim any name: it decides only how
// the tools are listed, never what may be called.
import { isRecord, matchesGlob } from "@trunkline/core";
import type { Caller } from "../interfaces/exchange.js";

/** How `auto` lists the tools for a client: all of them in full, a few that cover everything, or whichever costs less. */
type ClientSurface = "direct" | "composite" | "auto";

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

/** Client names, or globs of them, with the surface that the configuration chooses. The first that matches counts. */
export type ClientChoices = Readonly<Record<string, ClientSurface>>;

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
