// Cuts texts into passages: parts that are embedded separately. Pure.
import { contentIdOf } from "@trunkline/core";
import { type IndexText, splitIdentifier } from "../engine/content/text.js";
import type { IndexEntry } from "../engine/indexing/indexer.js";
import { baseNameOf } from "../engine/sqlite/documents.js";

/** A part of a text, with the header that precedes it when it is embedded. */
export interface Passage {
  readonly number: number;
  /** Both inclusive; the first line is 1. */
  readonly fromLine: number;
  readonly toLine: number;
  readonly text: string;
  readonly hash: string;
  /** How much it looks like code: 0 to 1. */
  readonly code: number;
}

const PASSAGE_TOKENS = 200;
/** Texts of up to this many tokens are not split; the model reads 256. */
const WHOLE_TOKENS = 250;
const OVERLAP_TOKENS = 30;
/** In a text with more passages than this, about 2 MB, semantic search only covers the start. */
const MOST_PASSAGES = 2500;

/** Splits a text at line ends, and long lines at sentences, into passages of about 200 tokens with a small overlap. */
export function passagesOf(entry: Headed, text: IndexText): Passage[] {
  const pieces = linePieces(text.body);
  const total = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  if (total === 0) return [];
  const count = total <= WHOLE_TOKENS ? 1 : Math.ceil(total / PASSAGE_TOKENS);
  const target = total / count;
  const header = headerOf(entry, text);
  const passages: Passage[] = [];
  for (let start = 0; start < pieces.length && passages.length < MOST_PASSAGES; ) {
    let end = start;
    let tokens = 0;
    while (end < pieces.length && (tokens < target || count === 1)) tokens += pieces[end++]?.tokens ?? 0;
    const part = pieces.slice(start, end);
    const body = part.map((piece) => piece.text).join("");
    if (body.trim() !== "") passages.push(passage(header, body, { number: passages.length, part }));
    if (end >= pieces.length) break;
    start = Math.max(start + 1, overlapFrom(pieces, end));
  }
  return passages;
}

function passage(
  header: string,
  body: string,
  { number, part }: { number: number; part: readonly LinePiece[] },
): Passage {
  const text = header === "" ? body.trim() : `${header}\n${body.trim()}`;
  const fromLine = part[0]?.line ?? 1;
  return {
    number,
    fromLine,
    toLine: part.at(-1)?.line ?? fromLine,
    text,
    hash: contentIdOf(text),
    code: codeShare(body),
  };
}

interface LinePiece {
  readonly text: string;
  readonly line: number;
  readonly tokens: number;
}

function linePieces(body: string): LinePiece[] {
  const pieces: LinePiece[] = [];
  const most = MOST_PASSAGES * PASSAGE_TOKENS * 8;
  let line = 1;
  for (const text of body.slice(0, most).split(/(?<=\n)/)) {
    const parts = text.length <= 400 ? [text] : (text.match(/[\s\S]{1,320}?(?:[.!?;]\s|$)|[\s\S]{1,320}/g) ?? []);
    for (const part of parts) pieces.push({ text: part, line, tokens: tokensOf(part) });
    line++;
  }
  return pieces;
}

function overlapFrom(pieces: readonly LinePiece[], end: number): number {
  let from = end;
  for (let tokens = 0; from > 0; from--) {
    tokens += pieces[from - 1]?.tokens ?? 0;
    if (tokens > OVERLAP_TOKENS) break;
  }
  return from;
}

/** Estimates the number of WordPiece tokens: a word of up to six letters is one, punctuation marks are one each. */
function tokensOf(text: string): number {
  let tokens = 0;
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)) tokens += Math.ceil(word.length / 7);
  return tokens;
}

type Headed = Pick<IndexEntry, "title" | "path"> & Partial<Pick<IndexEntry, "root">>;

/**
 * Returns two folders of the path below the root, then the title if there is one, otherwise the file name, as words.
 * `index.ts` alone says nothing about a text. When a file moves, only its own passages are embedded again.
 */
function headerOf({ title, path, root }: Headed, text: IndexText): string {
  const isBelow = root !== undefined && path.startsWith(root);
  const folders = (isBelow ? path.slice(root.length) : "").split(/[/\\]/).slice(0, -1);
  const known = title ?? text.title;
  const name = known ?? wordsOf(baseNameOf(path).replace(/\.[^.\s]{1,8}$/, ""));
  const isInText = known !== undefined && text.body.slice(0, 400).includes(known);
  return [...folders.slice(-2).map(wordsOf), isInText ? "" : name].filter((part) => part !== "").join(" ");
}

/** Returns a name as words; "" for numbers and hashes, which say nothing about a text. */
function wordsOf(name: string): string {
  return /\p{L}{2}/u.test(name) && !/^[0-9a-f-]{8,}$/i.test(name) ? splitIdentifier(name).join(" ") : "";
}

/**
 * Estimates how much a text looks like code, from 0 to 1, by the share of punctuation that is common in code and rare
 * in prose.
 */
function codeShare(text: string): number {
  const marks = text.match(/[(){}[\]=_;<>+*/\\|&$#@"`]/g)?.length ?? 0;
  const visible = text.replace(/\s+/g, "").length;
  if (visible === 0) return 0;
  return Math.min(1, Math.max(0, (marks / visible - 0.03) / 0.07));
}
