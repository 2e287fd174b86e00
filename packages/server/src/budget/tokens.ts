// Tokens of o200k_base, for budgets. The tokenizer is loaded when something first needs counting exactly, and never sees
// more text than a budget can be worth.

type Tokenizer = (text: string) => number;

let loading: Promise<Tokenizer> | undefined;

async function loadTokenizer(): Promise<Tokenizer> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  // What looks like a control token in an answer is text like any other.
  const options = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, options);
}

/** The longest token of o200k_base has 128 bytes. */
const LONGEST_TOKEN_BYTES = 128;
/** The tokenizer takes quadratic time on what it cannot split: longer runs are counted in pieces. */
const LONGEST_RUN = 256;
const LONG_RUN = /[\p{L}\p{M}]{257}|\s{257}|[^\s\p{L}\p{N}]{257}/u;
/** Pieces may come out a little under the whole. */
const PIECES_MARGIN = 1.02;
const PIECE = 16 * 1024;

/**
 * The tokens of a text where they are at most `max`; undefined where they are more. A token is at least a byte, so a
 * text of at most `max` bytes is not counted but taken to be that long.
 */
export async function tokensWithin(text: string, max: number): Promise<number | undefined> {
  if (text.length > max * LONGEST_TOKEN_BYTES) return undefined;
  const bytes = text.length > max ? Number.POSITIVE_INFINITY : Buffer.byteLength(text);
  if (bytes <= max) return bytes;
  return await countTokens(text, max);
}

/** The tokens of a text, however long; undefined as soon as they are more than `max`. */
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

/** Pieces that the tokenizer would split at anyway, wherever the text has such a place. */
function* pieces(text: string): Generator<string> {
  let at = 0;
  while (text.length - at > PIECE) {
    const cut = splitBefore(text, at + PIECE, at + PIECE / 2);
    yield text.slice(at, cut);
    at = cut;
  }
  yield text.slice(at);
}

/** The last place before `end` where a letter or digit is followed by a quote or a blank, which begins a new token. */
function splitBefore(text: string, end: number, start: number): number {
  for (let at = end; at > start; at--) {
    if (/[A-Za-z0-9]["\s]/.test(text.slice(at - 1, at + 1))) return at;
  }
  return end;
}
