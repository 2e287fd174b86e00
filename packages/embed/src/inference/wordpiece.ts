// The tokenizer of BERT's uncased models, as defined in their tokenizer.json: clean, split off Chinese characters,
// strip accents, lower-case, split at spaces and punctuation, then take the longest known pieces from the left.
import { isRecord, normalized, TrunklineError } from "@trunkline/core";

/** Turns text into a model's token ids. */
export interface Tokenizer {
  /** The ids including the start and end markers, at most `maxTokens` in total. */
  encode(text: string, maxTokens: number): number[];
}

/** Longer words count as unknown. All BERT models use this value. */
const MAX_WORD_LENGTH = 100;
/**
 * A token has at least one character, but a text may start with any number of characters that yield none. Reading it in
 * pieces avoids normalizing a text of many megabytes for its first few hundred tokens.
 */
const PIECE_LENGTH = 4096;

const CONTROL = /[\p{C}\uFFFD]/gu;
const MARK = /\p{Mn}/gu;
const CHINESE =
  /[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu;
const WORD_OR_PUNCTUATION = /[\p{P}$+<=>^`|~]|[^\s\p{P}$+<=>^`|~]+/gu;
const ASCII = /^[\t\n\r\x20-\x7E]*$/;

/** Creates a tokenizer from the parsed tokenizer.json. Throws `INVALID_ARGUMENT` if it is not of this kind. */
export function createTokenizer(definition: unknown): Tokenizer {
  const vocabulary = vocabularyOf(definition);
  const special = (mark: string): number => {
    const id = vocabulary.get(mark);
    if (id === undefined) throw notWordPiece(`it has no ${mark}`);
    return id;
  };
  const [unknown, begin, end] = [special("[UNK]"), special("[CLS]"), special("[SEP]")];

  const appendWord = (word: string, ids: number[]): void => {
    if (word.length > MAX_WORD_LENGTH && [...word].length > MAX_WORD_LENGTH) {
      ids.push(unknown);
      return;
    }
    const from = ids.length;
    let at = 0;
    while (at < word.length) {
      const mark = at === 0 ? "" : "##";
      let to = Math.min(word.length, at + vocabulary.longest);
      let id = vocabulary.get(mark + word.slice(at, to));
      while (id === undefined && --to > at) id = vocabulary.get(mark + word.slice(at, to));
      if (id === undefined) {
        // One unknown piece makes the whole word unknown.
        ids.length = from;
        ids.push(unknown);
        return;
      }
      ids.push(id);
      at = to;
    }
  };

  return {
    encode(text, maxTokens) {
      const ids = [begin];
      for (const piece of piecesOf(text)) {
        for (const [word] of normalise(piece).matchAll(WORD_OR_PUNCTUATION)) {
          appendWord(word, ids);
          if (ids.length >= maxTokens) break;
        }
        if (ids.length >= maxTokens) break;
      }
      if (ids.length >= maxTokens) ids.length = maxTokens - 1;
      ids.push(end);
      return ids;
    },
  };
}

/** Splits only at spaces, because that does not change the tokens. A longer run without spaces stays whole. */
function* piecesOf(text: string): Generator<string> {
  let from = 0;
  while (text.length - from > PIECE_LENGTH) {
    const space = /[ \n\r\t]/g;
    space.lastIndex = from + PIECE_LENGTH;
    const to = space.exec(text)?.index;
    if (to === undefined) break;
    yield text.slice(from, to);
    from = to;
  }
  yield text.slice(from);
}

function normalise(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const clean = text
    .replace(/[\t\n\r]/g, " ")
    .replace(CONTROL, "")
    .replace(CHINESE, " $& ");
  return (
    normalized(clean, "NFD")
      .replace(MARK, "")
      // The reference lower-cases character by character; JavaScript treats a sigma at the end of a word differently.
      .replaceAll("Σ", "σ")
      .toLowerCase()
  );
}

interface Vocabulary {
  get(piece: string): number | undefined;
  /** The length of the longest piece. */
  readonly longest: number;
}

/** Looks pieces up in the parsed object itself: copying 30,000 of them takes longer than the rest of the tokenizer. */
function vocabularyOf(definition: unknown): Vocabulary {
  const model = isRecord(definition) ? definition.model : undefined;
  if (!isRecord(model) || !isRecord(model.vocab)) throw notWordPiece("it has no vocabulary");
  if ("type" in model && model.type !== "WordPiece") throw notWordPiece(`its model is ${String(model.type)}`);
  const ids = model.vocab;
  let longest = 0;
  for (const piece in ids) {
    if (typeof ids[piece] !== "number") throw notWordPiece(`the id of "${piece}" is not a number`);
    longest = Math.max(longest, piece.length);
  }
  return {
    get: (piece) => {
      const id = ids[piece];
      // Not a number for a word such as "constructor", which every object has.
      return typeof id === "number" ? id : undefined;
    },
    longest,
  };
}

function notWordPiece(reason: string): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", `This is not a WordPiece tokenizer definition: ${reason}.`);
}
