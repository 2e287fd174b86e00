// Counts o200k_base tokens exactly, from tables in flat arrays. Why not with a library: docs/adr/0021-token-counter.md.
import { TOKEN_COUNT, TOKEN_TABLE } from "./o200k-table.generated.js";

/** Where o200k_base splits text before it looks for tokens; a token never crosses such a border. */
const SPLIT = splitPattern();
/** A power of two; 38 % of the slots are used. */
const SLOTS = 1 << 19;
const FNV_PRIME = 0x01000193;
const FNV_START = 0x811c9dc5 | 0;
const LONGEST_TOKEN = 128;
/** In characters. Merging takes quadratic time, so longer parts are cut, which may add a token per cut. */
const LONGEST_PART = 512;
/** In bytes: UTF-8 has at most three for a UTF-16 unit. */
const LONGEST_PIECE = 3 * LONGEST_PART;
const NO_TOKEN = 0x7fffffff;

/** The bytes of all tokens, and where each token starts. */
const { bytes, starts } = unpack();
/** Open addressing; holds rank + 1. */
const slots = fillSlots();

/** The bytes being counted. */
const piece = new Uint8Array(LONGEST_PIECE);
/** Used by `countMerged`. */
const ranks = new Int32Array(LONGEST_PIECE);
const nexts = new Int32Array(LONGEST_PIECE);
const encoder = new TextEncoder();

/** Returns the number of tokens in a text. Text that looks like a control token is counted as text. */
export function countTokens(text: string): number {
  let tokens = 0;
  for (const part of text.match(SPLIT) ?? []) tokens += countPart(part);
  return tokens;
}

function countPart(part: string): number {
  if (part.length > LONGEST_PART) {
    let tokens = 0;
    for (let at = 0; at < part.length; at += LONGEST_PART) tokens += countPart(part.slice(at, at + LONGEST_PART));
    return tokens;
  }
  const length = toBytes(part);
  return rankOf(0, length) === NO_TOKEN ? countMerged(length) : 1;
}

/** Puts the UTF-8 of a text into `piece` and returns its length. */
function toBytes(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80) return encoder.encodeInto(text, piece).written;
    piece[at] = unit;
  }
  return text.length;
}

/**
 * Byte pair encoding: starts with single bytes, and always joins the neighbours that make the token of the lowest rank.
 * `nexts[i]` is where the part after the one at `i` starts; `ranks[i]` is the rank of the two together.
 */
function countMerged(size: number): number {
  for (let at = 0; at < size; at++) {
    nexts[at] = at + 1;
    ranks[at] = at + 1 < size ? rankOf(at, at + 2) : NO_TOKEN;
  }
  for (let parts = size; ; parts--) {
    let lowest = NO_TOKEN;
    let found = 0;
    let before = -1;
    for (let at = 0, last = -1; at < size; last = at, at = next(at)) {
      const rank = ranks[at] as number;
      if (rank >= lowest) continue;
      lowest = rank;
      found = at;
      before = last;
    }
    if (lowest === NO_TOKEN) return parts;
    nexts[found] = next(next(found));
    ranks[found] = rankOfPair(found, size);
    if (before >= 0) ranks[before] = rankOfPair(before, size);
  }
}

function next(at: number): number {
  return nexts[at] as number;
}

function rankOfPair(at: number, size: number): number {
  const second = next(at);
  return second < size ? rankOf(at, next(second)) : NO_TOKEN;
}

/** Returns the rank of a range of `piece`, or NO_TOKEN. */
function rankOf(from: number, to: number): number {
  const length = to - from;
  if (length > LONGEST_TOKEN) return NO_TOKEN;
  let hash = FNV_START;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (piece[at] as number), FNV_PRIME);
  for (let slot = slotOf(hash); ; slot = (slot + 1) & (SLOTS - 1)) {
    const rank = (slots[slot] as number) - 1;
    if (rank < 0) return NO_TOKEN;
    const start = starts[rank] as number;
    if ((starts[rank + 1] as number) - start !== length) continue;
    let at = 0;
    while (at < length && bytes[start + at] === piece[from + at]) at++;
    if (at === length) return rank;
  }
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

function unpack(): { bytes: Uint8Array; starts: Uint32Array } {
  const table = Buffer.from(TOKEN_TABLE, "base64");
  const starts = new Uint32Array(TOKEN_COUNT + 1);
  for (let rank = 0; rank < TOKEN_COUNT; rank++) starts[rank + 1] = (starts[rank] as number) + (table[rank] as number);
  return { bytes: table.subarray(TOKEN_COUNT), starts };
}

function fillSlots(): Int32Array {
  const slots = new Int32Array(SLOTS);
  for (let rank = 0; rank < TOKEN_COUNT; rank++) {
    const end = starts[rank + 1] as number;
    let hash = FNV_START;
    for (let at = starts[rank] as number; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), FNV_PRIME);
    let slot = slotOf(hash);
    while (slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    slots[slot] = rank + 1;
  }
  return slots;
}

function splitPattern(): RegExp {
  const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
  const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
  const before = String.raw`[^\r\n\p{L}\p{N}]?`;
  const ending = "(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?";
  const parts = [
    `${before}${upper}*${lower}+${ending}`,
    `${before}${upper}+${lower}*${ending}`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
    String.raw`\s*[\r\n]+`,
    String.raw`\s+(?!\S)`,
    String.raw`\s+`,
  ];
  return new RegExp(parts.join("|"), "gu");
}
