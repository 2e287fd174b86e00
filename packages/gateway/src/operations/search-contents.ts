// Searches inside given contents, such as stored results: finds passages by the words they share with the query.
// Contents can be large, so they are processed in pieces, and only matches are kept in memory.
import { setImmediate } from "node:timers/promises";
import {
  bm25Gain,
  bm25LengthFactor,
  bm25Weight,
  boundedBm25,
  type ContentId,
  type ContentStore,
  TrunklineError,
} from "@trunkline/core";
import { queryWords } from "../find/words.js";

interface SearchContentsParams {
  readonly query: string;
  readonly contents: readonly { readonly id: string; readonly path: string }[];
  readonly limit?: unknown;
  readonly cursor?: unknown;
  readonly paths_only?: unknown;
}

interface Passage {
  readonly content: number;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly length: number;
  /** How often each query word occurs in the passage. */
  readonly counts: Uint16Array;
  score: number;
}

const PIECE_BYTES = 1 << 18;
/** A passage ends at the first line break after this many characters, or at the maximum length if there is none. */
const PASSAGE_LENGTH = 600;
const LONGEST_PASSAGE = 1200;
const DEFAULT_LIMIT = 10;

/** Returns the best matching passages, in the result format of `search`. */
export async function searchContents(
  store: ContentStore,
  params: SearchContentsParams,
  signal: AbortSignal,
): Promise<unknown> {
  const started = performance.now();
  const words = queryWords(params.query);
  const tests = words.map((word) => new RegExp(word.length < 4 ? `(?<![a-z0-9])${word}` : word, "g"));
  const state = { passages: 0, characters: 0 };
  const found: Passage[] = [];
  for (const [content, { id }] of params.contents.entries()) {
    for await (const passage of passagesOf(store, id as ContentId, signal)) {
      state.passages++;
      state.characters += passage.text.length;
      const counts = countsOf(passage.text.toLowerCase(), tests);
      if (counts === undefined) continue;
      const { line, start, end, text } = passage;
      found.push({ content, line, start, end, length: text.length, counts, score: 0 });
    }
  }
  rank(found, { words, ...state });
  const limit = typeof params.limit === "number" ? params.limit : DEFAULT_LIMIT;
  const offset = offsetOf(params.cursor);
  const page = found.slice(offset, offset + limit);
  const pathOf = ({ content }: Passage) => params.contents[content]?.path ?? "";
  const cursor = found.length > offset + limit ? { cursor: `passage:${offset + limit}` } : {};
  if (params.paths_only === true) {
    const paths = [...new Set(found.map(pathOf))];
    return { paths, total: paths.length };
  }
  const results = [];
  for (const [at, passage] of page.entries()) {
    const id = params.contents[passage.content]?.id as ContentId;
    const bytes = await store.get(id, { start: passage.start, end: passage.end, signal });
    results.push({
      id: offset + at,
      hash: id,
      title: pathOf(passage),
      path: pathOf(passage),
      score: Number(passage.score.toFixed(4)),
      snippet: new TextDecoder().decode(bytes).trimEnd(),
      line: passage.line,
    });
  }
  return {
    total: found.length,
    type: "keyword",
    execution_time_ms: Math.round(performance.now() - started),
    results,
    ...cursor,
    notice: "These are passages of the content, matched by words. Use get with lines to read more.",
  };
}

function offsetOf(cursor: unknown): number {
  if (cursor === undefined) return 0;
  const match = typeof cursor === "string" ? /^passage:(\d+)$/.exec(cursor) : null;
  if (match !== null) return Number(match[1]);
  throw new TrunklineError("INVALID_ARGUMENT", "The cursor does not belong to this search.", {
    hint: "Pass the cursor of the previous answer, with the same parameters.",
    data: { parameter: "cursor" },
  });
}

interface PassageText {
  readonly text: string;
  readonly line: number;
  /** In bytes. */
  readonly start: number;
  readonly end: number;
}

/** Yields the passages of a content, with their positions. */
async function* passagesOf(store: ContentStore, id: ContentId, signal: AbortSignal): AsyncGenerator<PassageText> {
  let [offset, line, rest] = [0, 1, new Uint8Array()];
  for (;;) {
    const bytes = await store.get(id, { start: offset + rest.length, end: offset + rest.length + PIECE_BYTES, signal });
    const piece = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const isLast = bytes.length < PIECE_BYTES;
    let at = 0;
    while (at < piece.length) {
      const end = passageEnd(piece, at);
      // The passage may continue in the next piece.
      if (end === piece.length && !isLast) break;
      const text = new TextDecoder().decode(piece.subarray(at, end));
      yield { text, line, start: offset + at, end: offset + end };
      for (let next = text.indexOf("\n"); next !== -1; next = text.indexOf("\n", next + 1)) line++;
      at = end;
    }
    if (isLast) return;
    rest = Uint8Array.from(piece.subarray(at));
    offset += at;
    await setImmediate(undefined, { signal });
  }
}

function passageEnd(piece: Uint8Array, start: number): number {
  // Stop at the maximum passage length: the content can be one long line.
  const newline = piece.subarray(start + PASSAGE_LENGTH, start + LONGEST_PASSAGE).indexOf(10);
  if (newline !== -1) return start + PASSAGE_LENGTH + newline + 1;
  let end = Math.min(start + LONGEST_PASSAGE, piece.length);
  // Do not split a character: UTF-8 continuation bytes start with 10.
  while (end < piece.length && ((piece[end] ?? 0) & 0xc0) === 0x80) end++;
  return end;
}

function countsOf(text: string, tests: readonly RegExp[]): Uint16Array | undefined {
  let any = false;
  const counts = new Uint16Array(tests.length);
  tests.forEach((test, at) => {
    const found = text.match(test)?.length ?? 0;
    counts[at] = found;
    if (found > 0) any = true;
  });
  return any ? counts : undefined;
}

/** Ranks passages by BM25, best first. */
function rank(
  found: Passage[],
  { words, passages, characters }: { words: readonly string[]; passages: number; characters: number },
): void {
  const average = characters / Math.max(1, passages);
  const weights = words.map((_, at) => {
    const having = found.reduce((sum, { counts }) => sum + ((counts[at] ?? 0) > 0 ? 1 : 0), 0);
    return bm25Weight(having, passages);
  });
  for (const passage of found) {
    const lengthFactor = bm25LengthFactor(passage.length, average);
    const sum = weights.reduce((total, weight, at) => {
      return total + weight * bm25Gain(passage.counts[at] ?? 0, lengthFactor);
    }, 0);
    passage.score = boundedBm25(sum);
  }
  found.sort((a, b) => b.score - a.score || a.content - b.content || a.start - b.start);
}
