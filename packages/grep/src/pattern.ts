// A pattern ready for grep: parsed, with everything an index and a byte search can know about it in advance.
import { TrunklineError } from "@trunkline/core";
import { type Automaton, buildAutomaton } from "./automaton.js";
import { type RequiredLiteral, requiredLiteral, type TrigramQuery, trigramQuery } from "./literals.js";
import { parseLiteral, parsePattern } from "./parse.js";
import { concat, type Node } from "./syntax.js";

export interface PatternOptions {
  readonly ignoreCase?: boolean | undefined;
  /** Matches only whole words, like `rg --word-regexp`. */
  readonly word?: boolean | undefined;
  /** Selects the lines that do not match. */
  readonly invert?: boolean | undefined;
  /** The pattern is plain text, like `rg --fixed-strings`. */
  readonly fixed?: boolean | undefined;
}

export interface CompiledPattern {
  readonly source: string;
  readonly options: PatternOptions;
  readonly automaton: Automaton;
  /** A literal that every matching line must contain. */
  readonly literal: RequiredLiteral | undefined;
  /** Returns what a content must contain to be worth reading; "none" if nothing is known. */
  trigrams(): TrigramQuery | "none";
}

const MAX_PATTERN_LENGTH = 100_000;

/** Compiles a pattern in ripgrep's dialect. Throws `INVALID_ARGUMENT`, saying what is wrong and where. */
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
    // Lines without the trigrams match an inverted pattern.
    trigrams: () => (options.invert === true ? "none" : trigramQuery(node)),
  };
}
