// The tree that a pattern is parsed into, and the error for what cannot be parsed. What does not change which lines
// match is dropped on the way: groups, their names, greediness.
import { TrunklineError } from "@trunkline/core";
import type { CharSet } from "./char-set.js";

/** A condition on the place between two characters. `\A`, `^`, `\z` and `$` are about the line: it is all there is. */
export type Look =
  | "line-start"
  | "line-end"
  | "word-boundary"
  | "not-word-boundary"
  | "word-start"
  | "word-end"
  | "word-start-half"
  | "word-end-half";

/** A parsed pattern. */
export type Node =
  | { readonly kind: "empty" }
  /** One character of the set; with `bytes`, one byte, which may be a part of a character or of none. */
  | { readonly kind: "set"; readonly set: CharSet; readonly bytes?: true }
  | { readonly kind: "look"; readonly look: Look; readonly ascii: boolean }
  | { readonly kind: "concat"; readonly parts: readonly Node[] }
  | { readonly kind: "alternate"; readonly branches: readonly Node[] }
  | { readonly kind: "repeat"; readonly node: Node; readonly min: number; readonly max: number | undefined };

export const EMPTY: Node = { kind: "empty" };

/** Parts in a row; one part is itself. */
export function concat(parts: readonly Node[]): Node {
  if (parts.length === 0) return EMPTY;
  return parts.length === 1 ? (parts[0] as Node) : { kind: "concat", parts };
}

/** Where in a pattern something is wrong, in characters. */
interface PatternPlace {
  readonly pattern: string;
  readonly start: number;
  readonly end: number;
}

/** The error for a pattern that ripgrep would not take either; its message shows the place. */
export function patternError(problem: string, place: PatternPlace, hint?: string): TrunklineError {
  const { pattern, start, end } = place;
  const chars = [...pattern];
  const part = chars.slice(start, Math.max(end, start + 1)).join("");
  const where = part === "" ? "at its end" : `at character ${start + 1}, ${part.replaceAll("\n", "\\n")}`;
  return new TrunklineError("INVALID_ARGUMENT", `The pattern cannot be used: ${problem} (${where}).`, {
    hint: hint ?? "Patterns are in ripgrep's dialect; put \\ before a character that is meant literally.",
    data: { pattern, start, end },
  });
}
