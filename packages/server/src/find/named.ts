// Recognizes questions that name an operation.
import { typingDistance } from "@trunkline/core";
import type { Candidate } from "./candidate-texts.js";
import { wordsOf } from "./words.js";

/** The forms of a candidate's name that questions are compared with. */
export interface NameForms {
  readonly full: string;
  readonly tool: string;
  readonly fullWords: string;
  readonly toolWords: string;
}

/** Longer questions describe something; they do not name it. */
const LONGEST_NAME = 80;
/** Shorter words are a typo away from too many names. */
const SHORTEST_TYPO = 4;
const LONG_NAME = 8;

export function nameForms({ name, tool, server }: Candidate): NameForms {
  return {
    full: lettersOf(name),
    tool: lettersOf(tool),
    fullWords: keyOf(`${server ?? ""} ${tool}`),
    toolWords: keyOf(tool),
  };
}

/**
 * Returns how clearly a question names a candidate: 3 is its full name, 2 the name of the tool, 1 the name with a typo,
 * 0 not at all. Spelling style does not matter: `createIssue`, `create_issue` and "create issue" are the same.
 */
export function namedBy(question: string): (forms: NameForms) => number {
  const text = question.trim();
  const asked = text.length <= LONGEST_NAME ? keyOf(text) : "";
  const mentioned = new Set([...text.matchAll(IDENTIFIER)].map(([name]) => lettersOf(name)));
  // A typo in a single word is a typo in a name; a sentence that resembles a name is just a sentence.
  const typed = text.length <= LONGEST_NAME && !/\s/.test(text) ? lettersOf(text) : "";
  return ({ full, tool, fullWords, toolWords }) => {
    if (mentioned.has(full) || (asked !== "" && asked === fullWords)) return 3;
    if (mentioned.has(tool) || (asked !== "" && asked === toolWords)) return 2;
    return typed.length >= SHORTEST_TYPO && (isTypo(typed, tool) || isTypo(typed, full)) ? 1 : 0;
  };
}

/** A word that is written like an identifier: with an underscore, a dot, a hyphen or a capital inside. */
const IDENTIFIER = /[\p{L}\p{N}]+(?:[_.:/-]+[\p{L}\p{N}]+|(?<=\p{Ll})\p{Lu}[\p{L}\p{N}]*)+/gu;

function isTypo(typed: string, name: string): boolean {
  return typingDistance(typed, name) <= (name.length < LONG_NAME ? 1 : 2);
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** The same for the same words in any order. */
function keyOf(text: string): string {
  return [...new Set(wordsOf(text))].sort().join(" ");
}
