// Extracts a document's symbols, imports, exports, calls and links. Pure except for loading the grammar: the result
// depends only on path and text.

import { TrunklineError } from "@trunkline/core";
import { languageOf } from "./language-of.js";
import { cppRules, cRules, maskCppWords } from "./languages/c.js";
import { csharpRules } from "./languages/csharp.js";
import { goRules } from "./languages/go.js";
import { javaRules } from "./languages/java.js";
import { javascriptRules } from "./languages/javascript.js";
import { phpRules } from "./languages/php.js";
import { pythonRules } from "./languages/python.js";
import { rubyRules } from "./languages/ruby.js";
import { rustRules } from "./languages/rust.js";
import type { FileGraph, GraphLanguage, Incomplete } from "./model/graph-model.js";
import { readProse } from "./prose.js";
import { GraphReader } from "./reading/graph-reader.js";
import type { LanguageRules } from "./reading/language-rules.js";
import { hasGrammar, loadedParser, loadParser, parseSource } from "./reading/parser.js";
import { readConfig } from "./reading/project-config.js";

const RULES: Partial<Record<GraphLanguage, LanguageRules>> = {
  typescript: javascriptRules,
  tsx: javascriptRules,
  javascript: javascriptRules,
  python: pythonRules,
  go: goRules,
  rust: rustRules,
  c: cRules,
  cpp: cppRules,
  java: javaRules,
  csharp: csharpRules,
  ruby: rubyRules,
  php: phpRules,
};

/** The input of {@link extractGraph}. Folders in `path` are separated by `/`. */
export interface ExtractInput {
  readonly path: string;
  readonly text: string;
  /** Default: detected from the path, then from the first line. */
  readonly language?: GraphLanguage;
}

/** Limits of {@link extractGraph}. */
interface ExtractLimits {
  /** Longer texts are not parsed. Default: {@link DEFAULT_MAX_LENGTH}. */
  readonly maxLength?: number;
  /** Time limit for parsing and extraction together. Default: {@link DEFAULT_TIME_MS}. */
  readonly timeMs?: number;
}

/**
 * In UTF-16 units. Longer texts are nearly always generated, such as bundles or tables. Low enough that this limit
 * applies before the time limit even on a busy machine, so the same text always has the same graph.
 */
export const DEFAULT_MAX_LENGTH = 1024 * 1024;
/** Milliseconds. */
const DEFAULT_TIME_MS = 10_000;

const NOTHING = {
  symbols: [],
  edges: [],
  imports: [],
  exports: [],
  links: [],
  namespaces: [],
  mentions: [],
  syntaxErrors: false,
} as const;

/**
 * Extracts the graph of one document. Never fails because of its content: `incomplete` reports the parts that could not
 * be read.
 */
export async function extractGraph(input: ExtractInput, limits: ExtractLimits = {}): Promise<FileGraph> {
  await loadGrammar(input.language ?? languageOf(input.path, input.text));
  return extractGraphSync(input, limits);
}

/**
 * Loads the grammar that {@link extractGraphSync} needs for a language. Prose and files without a language need none.
 */
async function loadGrammar(language: GraphLanguage | undefined): Promise<void> {
  if (language !== undefined && hasGrammar(language)) await loadParser(language);
}

/** {@link extractGraph} for a language whose grammar is already loaded, for use inside a transaction. */
export function extractGraphSync(input: ExtractInput, limits: ExtractLimits = {}): FileGraph {
  const { path, text } = input;
  const language = input.language ?? languageOf(path, text);
  const config = readConfig(path, text);
  const empty = { ...NOTHING, path, language, ...(config === undefined ? {} : { config }) };
  if (language === undefined) return empty;
  if (looksBinary(text)) return incomplete(empty, "binary", "It does not look like text, so it was not parsed.");
  const maxLength = limits.maxLength ?? DEFAULT_MAX_LENGTH;
  if (text.length > maxLength) {
    return incomplete(
      empty,
      "size",
      `It has ${text.length} characters, more than the limit of ${maxLength}, so it was not parsed.`,
    );
  }
  if (!hasGrammar(language)) return { ...empty, ...readProse(path, text, language) };
  const parser = loadedParser(language);
  const timeMs = limits.timeMs ?? DEFAULT_TIME_MS;
  const deadline = performance.now() + timeMs;
  const reader = new GraphReader({ path, text, language }, rulesOf(language));
  const syntaxErrors = parseSource(parser, { text: parsedText(text, language), deadline }, (root) => {
    reader.read(root, deadline);
    return root.hasError;
  });
  if (syntaxErrors === undefined) return incomplete(empty, "time", `Parsing did not finish within ${timeMs} ms.`);
  return {
    ...empty,
    symbols: reader.symbols,
    edges: reader.edges,
    imports: reader.imports,
    exports: reader.exports,
    namespaces: [...reader.namespaces],
    mentions: language === "csharp" || language === "java" ? mentionsOf(text) : [],
    syntaxErrors,
    ...(reader.incomplete === undefined ? {} : { incomplete: reader.incomplete }),
  };
}

function incomplete(graph: FileGraph, reason: Incomplete["reason"], message: string): FileGraph {
  return { ...graph, incomplete: { reason, message } };
}

/**
 * Whether a text looks binary. Source never contains NUL, and many replacement characters mean the bytes were not
 * UTF-8.
 */
function looksBinary(text: string): boolean {
  const head = text.slice(0, 8192);
  if (head.includes("\0")) return true;
  let replaced = 0;
  for (let at = head.indexOf("\ufffd"); at !== -1; at = head.indexOf("\ufffd", at + 1)) replaced++;
  return replaced > 8 && replaced * 20 > head.length;
}

/** Finds type names by their capital letter. They show which files of an imported namespace a file uses. */
function mentionsOf(text: string): string[] {
  const names = new Set<string>();
  for (const match of text.matchAll(/(?<![\w.])\p{Lu}[\p{L}\p{N}_]*/gu)) {
    names.add(match[0]);
    if (names.size >= 2_000) break;
  }
  return [...names];
}

/** Returns the rules for a language with a grammar. */
function rulesOf(language: GraphLanguage): LanguageRules {
  const rules = RULES[language];
  if (rules === undefined) throw new TrunklineError("INTERNAL", `There are no rules for ${language}.`);
  return rules;
}

/** Returns the text in a form the grammar can read, with the same length. */
function parsedText(text: string, language: GraphLanguage): string {
  return language === "c" ? maskCppWords(text) : text;
}
