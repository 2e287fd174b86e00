// The graph of one document: which documents are parsed, and what is kept of those that are not. Pure.

import { DEFAULT_MAX_LENGTH, extractGraph, type FileGraph, isConfigPath, languageOf } from "@trunkline/code-graph";
import { type GeneratedKind, generatedKindOf } from "../engine/content/generated.js";
import type { IndexText } from "../engine/content/text.js";
import type { IndexEntry } from "../engine/indexing/indexer.js";
import { baseNameOf } from "../engine/sqlite/documents.js";

type GraphedEntry = Pick<IndexEntry, "path" | "size">;

/** UTF-8 needs at most three bytes per UTF-16 unit, so anything longer is certainly too long to parse. */
const LARGEST_READ = DEFAULT_MAX_LENGTH * 3;

/** Whether the graph of a document needs its text. */
export function isGraphText({ path, size }: GraphedEntry): boolean {
  return size <= LARGEST_READ && saysSomething(path);
}

/** Whether a file with this name can contribute to the graph. A file without an extension may be a script. */
function saysSomething(path: string): boolean {
  return languageOf(path) !== undefined || isConfigPath(path) || !baseNameOf(path).includes(".");
}

/**
 * Builds a document's graph. Every document is a node, so links to images and imports of data resolve; most contribute
 * nothing else.
 */
export async function graphOf(entry: GraphedEntry, text: IndexText | undefined): Promise<FileGraph> {
  const kind = text === undefined || isConfigPath(entry.path) ? undefined : generatedKindOf(entry.path, text.body);
  const graph = await extractGraph({ path: entry.path, text: kind === undefined ? (text?.body ?? "") : "" });
  if (kind !== undefined) return { ...graph, incomplete: { reason: "generated", message: unparsedMessage(kind) } };
  if (entry.size <= LARGEST_READ || !saysSomething(entry.path)) return graph;
  return { ...graph, incomplete: { reason: "size", message: `It has ${entry.size} bytes and was not parsed.` } };
}

function unparsedMessage(kind: GeneratedKind): string {
  const what: Readonly<Record<GeneratedKind, string>> = {
    minified: "minified code",
    generated: "generated code",
    sourceMap: "a source map",
    lock: "a lock file",
    data: "data",
  };
  return `It is ${what[kind]} and was not parsed.`;
}
