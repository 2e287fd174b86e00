// A pattern as grep uses it: parsed, with what an index and a look at the bytes can know of it beforehand.
import { TrunklineError } from "@trunkline/core";
import { type Automaton, buildAutomaton } from "./automaton.js";
import {
  type Fold,
  foldAscii,
  type RequiredLiteral,
  requiredLiteral,
  type TrigramQuery,
  trigramQuery,
} from "./literals.js";
import { parseLiteral, parsePattern } from "./parse.js";
import { concat, type Node } from "./syntax.js";

/** How a pattern is meant. */
export interface PatternOptions {
  readonly ignoreCase?: boolean | undefined;
  /** Matches only between characters that are no part of a word, as `rg --word-regexp`. */
  readonly word?: boolean | undefined;
  /** The lines that do not match. */
  readonly invert?: boolean | undefined;
  /** The pattern is plain text, as `rg --fixed-strings`. */
  readonly fixed?: boolean | undefined;
}

/** A compiled pattern. */
export interface CompiledPattern {
  readonly source: string;
  readonly options: PatternOptions;
  readonly automaton: Automaton;
  /** What has to stand in every line that matches. */
  readonly literal: RequiredLiteral | undefined;
  /** What a content must fulfil to be worth reading; "none" where nothing is known. */
  trigrams(fold?: Fold): TrigramQuery | "none";
}

const MAX_PATTERN_LENGTH = 100_000;

/** Compiles a pattern of ripgrep's dialect. Throws `INVALID_ARGUMENT` that says what is wrong and where. */
export function compilePattern(pattern: string, options: PatternOptions = {}): CompiledPattern {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new TrunklineError("INVALID_ARGUMENT", `The pattern is longer than ${MAX_PATTERN_LENGTH} characters.`);
  }
  const parse = options.fixed === true ? parseLiteral : parsePattern;
  const parsed = parse(pattern, { ignoreCase: options.ignoreCase === true });
  const node: Node =
    options.word === true
      ? concat([
          { kind: "look", look: "word-start-half", ascii: false },
          parsed,
          { kind: "look", look: "word-end-half", ascii: false },
        ])
      : parsed;
  return {
    source: pattern,
    options,
    automaton: buildAutomaton(node),
    literal: requiredLiteral(node),
    // What a content lacks makes its lines match an inverted pattern.
    trigrams: (fold = foldAscii) => (options.invert === true ? "none" : trigramQuery(node, fold)),
  };
}
