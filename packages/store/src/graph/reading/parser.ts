// Beside syntax-node.ts the only file that knows the parser library. Grammars are WebAssembly modules of up to 5 MB: each is loaded when the
// first file of its language comes, and kept.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { TrunklineError } from "@trunkline/core";
import { Language, Parser } from "web-tree-sitter";
import type { GraphLanguage } from "../model/graph-model.js";
import { type Node, type NodeMemory, nodeMemory, rootOf } from "./syntax-node.js";

export type { Node } from "./syntax-node.js";

/**
 * The grammar of each language. C is read with the grammar of C++: the set has none for C, and the official package for
 * C compiles native code where it has no prebuilt one.
 */
const GRAMMARS: Partial<Record<GraphLanguage, string>> = {
  typescript: "typescript",
  tsx: "tsx",
  javascript: "javascript",
  python: "python",
  go: "go",
  rust: "rust",
  c: "cpp",
  cpp: "cpp",
  java: "java",
  csharp: "c-sharp",
  ruby: "ruby",
  php: "php",
};

/** A shorter text is parsed without asking for the time: it is expected to end long before the deadline. */
const TIMED_LENGTH = 32 * 1024;

let runtime: Promise<NodeMemory | undefined> | undefined;
let memory: NodeMemory | undefined;
const grammars = new Map<string, Promise<Parser>>();
const loaded = new Map<string, Parser>();

/** Whether there is a grammar for the language. */
export function hasGrammar(language: GraphLanguage): boolean {
  return GRAMMARS[language] !== undefined;
}

/** The parser of a language that {@link loadParser} has loaded. */
export function loadedParser(language: GraphLanguage): Parser {
  const parser = loaded.get(GRAMMARS[language] ?? "");
  if (parser !== undefined) return parser;
  throw new TrunklineError("INTERNAL", `The parser for ${language} was used before it was loaded.`);
}

/** Loads a language, so that the next {@link parseSource} of it can be synchronous. */
export async function loadParser(language: GraphLanguage): Promise<Parser> {
  const grammar = GRAMMARS[language];
  if (grammar === undefined) throw new TrunklineError("INVALID_ARGUMENT", `There is no grammar for ${language}.`);
  let loading = grammars.get(grammar);
  if (loading === undefined) {
    loading = load(grammar);
    grammars.set(grammar, loading);
    // A failed attempt is not kept: the next file tries again.
    loading.catch(() => grammars.delete(grammar));
  }
  return await loading;
}

async function start(): Promise<NodeMemory | undefined> {
  // The library makes its WebAssembly module out of the object that it is given.
  const module = {};
  await Parser.init(module);
  return nodeMemory(module);
}

async function load(grammar: string): Promise<Parser> {
  try {
    runtime ??= start();
    memory = await runtime;
    const folder = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm/package.json"));
    const language = await Language.load(join(folder, "wasm", `tree-sitter-${grammar}.wasm`));
    const parser = new Parser();
    parser.setLanguage(language);
    loaded.set(grammar, parser);
    return parser;
  } catch (error) {
    throw new TrunklineError("INTERNAL", `The parser for ${grammar} could not be loaded.`, {
      cause: error,
      hint: "Install the package again: one of its .wasm files is missing or damaged.",
    });
  }
}

/**
 * Parses `text` and calls `read` with the root node; the tree is freed before this returns, so no node may be kept.
 * Answers undefined where parsing itself did not end by `deadline` (milliseconds of `performance.now()`).
 */
export function parseSource<T>(
  parser: Parser,
  source: { readonly text: string; readonly deadline: number },
  read: (root: Node) => T,
): T | undefined {
  let calls = 0;
  // The declared type says void; the library stops where the callback answers true. It is called thousands of times.
  const progressCallback = () => (++calls & 31) === 0 && performance.now() > source.deadline;
  const isTimed = source.text.length >= TIMED_LENGTH;
  const tree = parser.parse(source.text, null, isTimed ? { progressCallback } : undefined);
  if (tree === null) {
    // Otherwise the next parse would go on where this one stopped.
    parser.reset();
    return undefined;
  }
  try {
    return read(memory === undefined ? tree.rootNode : rootOf(tree, memory));
  } finally {
    tree.delete();
  }
}

/** Frees all loaded grammars' parsers. They are loaded again when they are needed. */
export async function releaseParsers(): Promise<void> {
  const pending = [...grammars.values()];
  grammars.clear();
  loaded.clear();
  for (const result of await Promise.allSettled(pending)) if (result.status === "fulfilled") result.value.delete();
}
