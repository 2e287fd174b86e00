// Finds one definition in a document, for `get`. The document is parsed on the spot, so older versions have symbols
// too.

import { type ExtractInput, extractGraph, type GraphSymbol, parseKey } from "@trunkline/code-graph";
import { TrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import { decodeText } from "../engine/content/text.js";
import { type ContentRow, readContent } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";

const NAMES_IN_HINT = 20;

/** Builds the input of {@link findSymbol}. */
export function symbolSource(
  truth: Db,
  { content, path }: { readonly content: ContentRow; readonly path: string | undefined },
  call: Call,
): ExtractInput {
  if (content.type === "binary") throw new TrunklineError("INVALID_ARGUMENT", "Binary content has no symbols.");
  return { path: path ?? "content", text: decodeText(readContent(truth, content, call.check)) };
}

/**
 * Finds the definition with this name: a node key, a qualified name (`Hub.start`), the end of one, or the name alone.
 */
export async function findSymbol(source: ExtractInput, name: string): Promise<GraphSymbol> {
  const { symbols, incomplete } = await extractGraph(source);
  const wanted = parseKey(name)?.qualifiedName ?? name;
  const exact = symbols.filter((symbol) => symbol.qualifiedName === wanted);
  const found =
    exact.length > 0
      ? exact
      : symbols.filter(
          ({ qualifiedName, name: own }) => own === wanted || withoutNumber(qualifiedName).endsWith(`.${wanted}`),
        );
  const [only, ...others] = found;
  if (only === undefined) {
    const names = symbols.slice(0, NAMES_IN_HINT).map((symbol) => symbol.qualifiedName);
    const more = symbols.length > names.length ? `, and ${symbols.length - names.length} more` : "";
    throw new TrunklineError("NOT_FOUND", `${source.path} has no symbol "${name}".`, {
      hint: incomplete?.message ?? (names.length === 0 ? "It has no symbols." : `Symbols: ${names.join(", ")}${more}.`),
    });
  }
  if (others.length === 0) return only;
  const matches = found.slice(0, NAMES_IN_HINT).map((symbol) => symbol.qualifiedName);
  const places = found
    .slice(0, NAMES_IN_HINT)
    .map(({ qualifiedName, startLine }) => `${qualifiedName} (line ${startLine})`);
  throw new TrunklineError("AMBIGUOUS", `"${name}" matches ${found.length} symbols: ${places.join(", ")}.`, {
    hint: "Use the full qualified name.",
    data: { matches },
  });
}

/** Removes the `~2` that marks a second definition of the same name. */
function withoutNumber(qualifiedName: string): string {
  return qualifiedName.replace(/~\d+$/, "");
}
