// Counts o200k_base tokens for budgets. The tokenizer is loaded when an exact count is first needed, and never sees
// more text than fits a budget.

type Tokenizer = (text: string) => number;

let loading: Promise<Tokenizer> | undefined;

async function loadTokenizer(): Promise<Tokenizer> {
  const tokenizer = await import("../tokens/o200k.js");
  return tokenizer.countTokens;
}

/** The longest token of o200k_base has 128 bytes. */
const LONGEST_TOKEN_BYTES = 128;
/** The tokenizer takes quadratic time on text that it cannot split, so longer runs are counted in pieces. */
const LONGEST_RUN = 256;
const LONG_RUN = /[\p{L}\p{M}]{257}|\s{257}|[^\s\p{L}\p{N}]{257}/u;
/** The sum over the pieces may be slightly too low. */
const PIECES_MARGIN = 1.02;
const PIECE = 16 * 1024;

/** Whether a text is so short that it cannot have more tokens than this: a token has at least one byte. */
export function isWithinBytes(text: string, max: number): boolean {
  return text.length <= max && Buffer.byteLength(text) <= max;
}

/**
 * Returns the number of tokens in a text, or undefined if it exceeds `max`. A token has at least one byte, so a text of
 * at most `max` bytes is not tokenized; its byte length is returned instead.
 */
export async function tokensWithin(text: string, max: number): Promise<number | undefined> {
  if (text.length > max * LONGEST_TOKEN_BYTES) return undefined;
  const bytes = text.length > max ? Number.POSITIVE_INFINITY : Buffer.byteLength(text);
  if (bytes <= max) return bytes;
  return await countTokens(text, max);
}

/** Counts the tokens in a text of any length; undefined as soon as the count exceeds `max`. */
export async function countTokens(text: string, max: number): Promise<number | undefined> {
  loading ??= loadTokenizer();
  const count = await loading;
  let tokens = 0;
  for (const piece of pieces(text)) {
    tokens += countPiece(piece, count);
    if (tokens > max) return undefined;
  }
  return tokens;
}

function countPiece(piece: string, count: Tokenizer): number {
  if (!LONG_RUN.test(piece)) return count(piece);
  let tokens = 0;
  for (let at = 0; at < piece.length; at += LONGEST_RUN) tokens += count(piece.slice(at, at + LONGEST_RUN));
  return Math.ceil(tokens * PIECES_MARGIN);
}

/** Splits a text where the tokenizer would split anyway, if there is such a place. */
function* pieces(text: string): Generator<string> {
  let at = 0;
  while (text.length - at > PIECE) {
    const cut = splitBefore(text, at + PIECE, at + PIECE / 2);
    yield text.slice(at, cut);
    at = cut;
  }
  yield text.slice(at);
}

/** Finds the last position before `end` where a quote or blank follows a letter or digit, which starts a new token. */
function splitBefore(text: string, end: number, start: number): number {
  for (let at = end; at > start; at--) {
    if (/[A-Za-z0-9]["\s]/.test(text.slice(at - 1, at + 1))) return at;
  }
  return end;
}
