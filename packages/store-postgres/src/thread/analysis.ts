// The work on texts that takes long: it runs in a thread, and knows nothing about the database.
import {
  encodeFacts,
  type GeneratedKind,
  generatedKindOf,
  graphOf,
  type IndexText,
  isGraphText,
  lazyIndexText,
  type Passage,
  passagesOf,
  wordsOfEntry,
} from "@trunkline/store/parts";
import { wordsOfText } from "../words/keyword-counts.js";

/** A document whose text is analysed. */
interface AnalysedDocument {
  readonly path: string;
  readonly root: string | undefined;
  readonly title: string | undefined;
  readonly size: number;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Missing for binary content and for texts that are not indexed. */
  readonly bytes: Uint8Array | undefined;
}

/** What the background needs of a text. */
export interface Analysis {
  /** The text with ASCII in lower case, in which pg_trgm finds candidates for grep. */
  readonly body: string | undefined;
  /** Words that typos are corrected to. */
  readonly words: readonly string[];
  /** What the text says, for the graph. */
  readonly facts: Uint8Array;
  /** What kind of file a tool has written, if one has. */
  readonly generated: GeneratedKind | undefined;
}

/** Longer texts are not stored again: grep always reads them. */
const LONGEST_BODY = 16 * 1024 * 1024;

export async function analyse(document: AnalysedDocument): Promise<Analysis> {
  const text = document.bytes === undefined ? undefined : lazyIndexText(document.bytes);
  const graph = await graphOf(document, isGraphText(document) ? text : undefined);
  return {
    body: text === undefined || text.body.length > LONGEST_BODY ? undefined : folded(text.body),
    words: wordsOfEntry(document, text),
    facts: encodeFacts(graph),
    generated: text === undefined ? undefined : generatedKindOf(document.path, text.body),
  };
}

/** Folds what the trigrams of a pattern fold. PostgreSQL has no text with NUL. */
function folded(body: string): string {
  return body
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll("\u017f", "s")
    .replaceAll("\u212a", "k")
    .replaceAll("\0", "\ufffd");
}

export function countWords({ bytes }: { bytes: Uint8Array | undefined }): Uint8Array {
  return wordsOfText(bytes === undefined ? undefined : lazyIndexText(bytes));
}

/** Cuts a text into passages to embed. Text that a tool has written is not embedded. */
export function cutPassages(document: Pick<AnalysedDocument, "path" | "root" | "title" | "bytes">): Passage[] {
  if (document.bytes === undefined) return [];
  const text: IndexText = lazyIndexText(document.bytes);
  return generatedKindOf(document.path, text.body) === undefined ? passagesOf(document, text) : [];
}
