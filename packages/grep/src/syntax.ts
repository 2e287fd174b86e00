// The syntax tree of a pattern, and the error for invalid patterns. Anything that does not affect what matches is
// dropped: groups and their names.
import { TrunklineError } from "@trunkline/core";
import type { CharSet } from "./char-set.js";

/** A condition between two characters. `\A`, `^`, `\z` and `$` refer to the line. */
export type Look =
  | "line-start"
  | "line-end"
  | "word-boundary"
  | "not-word-boundary"
  | "word-start"
  | "word-end"
  | "word-start-half"
  | "word-end-half";

export type Node =
  | { readonly kind: "empty" }
  /** One character of the set; with `bytes`, one byte, which may be part of a character. */
  | { readonly kind: "set"; readonly set: CharSet; readonly bytes?: true }
  | { readonly kind: "look"; readonly look: Look; readonly ascii: boolean }
  | { readonly kind: "concat"; readonly parts: readonly Node[] }
  | { readonly kind: "alternate"; readonly branches: readonly Node[] }
  /** `lazy`: prefers fewer repetitions, which affects where a match ends but not which lines match. */
  | {
      readonly kind: "repeat";
      readonly node: Node;
      readonly min: number;
      readonly max: number | undefined;
      readonly lazy: boolean;
    };

export const EMPTY: Node = { kind: "empty" };

/** Concatenates parts; a single part is returned as it is. */
export function concat(parts: readonly Node[]): Node {
  if (parts.length === 0) return EMPTY;
  return parts.length === 1 ? (parts[0] as Node) : { kind: "concat", parts };
}

/** The position of a problem in a pattern, in characters. */
interface PatternPlace {
  readonly pattern: string;
  readonly start: number;
  readonly end: number;
}

/** Builds the error for a pattern that ripgrep would reject too; its message shows the position. */
export function patternError(problem: string, place: PatternPlace, hint?: string): TrunklineError {
  const { pattern, start, end } = place;
  const chars = [...pattern];
  const part = chars.slice(start, Math.max(end, start + 1)).join("");
  const where = part === "" ? "at its end" : `at character ${start + 1}, ${part.replaceAll("\n", "\\n")}`;
  return new TrunklineError("INVALID_ARGUMENT", `Invalid pattern: ${problem} (${where}).`, {
    hint: hint ?? "Patterns use ripgrep's dialect; put \\ before a literal character.",
    data: { pattern, start, end },
  });
}
