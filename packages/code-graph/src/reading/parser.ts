// The only file that knows the parser library, apart from syntax-node.ts. Grammars are WebAssembly modules of up to 5
// MB. Each is loaded for the first file of its language, then kept.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TrunklineError } from "@trunkline/core";
import { Language, Parser } from "web-tree-sitter";
import type { GraphLanguage } from "../model/graph-model.js";
import { type Node, type NodeMemory, nodeMemory, rootOf, type SyntaxTree } from "./syntax-node.js";

export type { Node } from "./syntax-node.js";

/** The parts of the library's parser used here. */
interface SourceParser {
  parse(text: string, oldTree?: null, options?: { progressCallback: () => void }): SyntaxTree | null;
  reset(): void;
}

/**
 * The grammar of each language. C uses the C++ grammar: @vscode/tree-sitter-wasm has none for C, and the official C
 * package compiles native code on platforms without a prebuilt binary.
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

/** The grammars that the package needs. The build copies them to its folder. */
export const GRAMMAR_NAMES: readonly string[] = [...new Set(Object.values(GRAMMARS))];

const GRAMMAR_FOLDER = fileURLToPath(new URL("../../grammars/", import.meta.url));

/** Shorter texts are parsed without checking the clock: they finish long before the deadline. */
const TIMED_LENGTH = 32 * 1024;

let runtime: Promise<NodeMemory | undefined> | undefined;
let memory: NodeMemory | undefined;
const grammars = new Map<string, Promise<Parser>>();
const loaded = new Map<string, Parser>();

/** Whether there is a grammar for the language. */
export function hasGrammar(language: GraphLanguage): boolean {
  return GRAMMARS[language] !== undefined;
}

/** Returns the parser of a language loaded by {@link loadParser}. */
export function loadedParser(language: GraphLanguage): SourceParser {
  const parser = loaded.get(GRAMMARS[language] ?? "");
  if (parser !== undefined) return parser;
  throw new TrunklineError("INTERNAL", `The parser for ${language} was used before it was loaded.`);
}

/** Loads a language, so {@link parseSource} can be synchronous. */
export async function loadParser(language: GraphLanguage): Promise<SourceParser> {
  const grammar = GRAMMARS[language];
  if (grammar === undefined) throw new TrunklineError("INVALID_ARGUMENT", `There is no grammar for ${language}.`);
  let loading = grammars.get(grammar);
  if (loading === undefined) {
    loading = load(grammar);
    grammars.set(grammar, loading);
    // Forget a failed attempt, so the next file tries again.
    loading.catch(() => grammars.delete(grammar));
  }
  return await loading;
}

async function start(): Promise<NodeMemory | undefined> {
  // The library turns the given object into its WebAssembly module.
  const module = {};
  await Parser.init(module);
  return nodeMemory(module);
}

async function load(grammar: string): Promise<Parser> {
  try {
    runtime ??= start();
    memory = await runtime;
    const language = await Language.load(join(GRAMMAR_FOLDER, `tree-sitter-${grammar}.wasm`));
    const parser = new Parser();
    parser.setLanguage(language);
    loaded.set(grammar, parser);
    return parser;
  } catch (error) {
    throw new TrunklineError("INTERNAL", `Cannot load the parser for ${grammar}.`, {
      cause: error,
      hint: "Reinstall the package: one of its .wasm files is missing or damaged.",
    });
  }
}

/**
 * Parses `text` and calls `read` with the root node. The tree is freed before this returns, so no node can be kept.
 * Returns undefined if parsing exceeded `deadline` (in `performance.now()` milliseconds).
 */
export function parseSource<T>(
  parser: SourceParser,
  source: { readonly text: string; readonly deadline: number },
  read: (root: Node) => T,
): T | undefined {
  let calls = 0;
  // The declared return type is void, but the library stops if the callback returns true. It is called thousands of
  // times.
  const progressCallback = () => (++calls & 31) === 0 && performance.now() > source.deadline;
  const isTimed = source.text.length >= TIMED_LENGTH;
  const tree = parser.parse(source.text, null, isTimed ? { progressCallback } : undefined);
  if (tree === null) {
    // Without this, the next parse would continue where this one stopped.
    parser.reset();
    return undefined;
  }
  try {
    return read(memory === undefined ? tree.rootNode : rootOf(tree, memory));
  } finally {
    tree.delete();
  }
}
