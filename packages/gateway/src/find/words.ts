// Extracts words from names, descriptions and questions, normalized for comparison.
import { normalized } from "@trunkline/core";
import { writtenOut } from "./abbreviations.js";

const STOP_WORDS = new Set(
  `a about all am an and any are as at be been before being but by can could did do does doing for from had has have having
  her here him his how i if in into is it its just me my of off on onto or our out over please she should so some such
  than that the their them then there these they this those through to too up us use used using was we were what when
  where which while who whom why will with would you your want need help let tell give show`.split(/\s+/),
);

/** Returns the words of a text: identifiers split, lower case, without stop words, written out, stemmed. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const word of split(text)) for (const form of formsOf(word)) words.push(form);
  return words;
}

/** Descriptions use the same few thousand words again and again, and stemming is what takes time. */
const known = new Map<string, readonly string[]>();
const MOST_KNOWN = 20_000;

/** Returns what a word is compared as: nothing for a stop word, several words for some abbreviations. */
function formsOf(word: string): readonly string[] {
  let forms = known.get(word);
  if (forms === undefined) {
    forms = STOP_WORDS.has(word) ? [] : writtenOut(word).map(stem);
    if (known.size < MOST_KNOWN) known.set(word, forms);
  }
  return forms;
}

/** Returns search terms for running text: the stems of a question's meaningful words. */
export function queryWords(text: string): string[] {
  const words = [...new Set(split(text))];
  const telling = words.filter((word) => !STOP_WORDS.has(word)).map((word) => stem(word).replace(/(?<=....)i$/, ""));
  return [...new Set(telling.length > 0 ? telling : words)];
}

/** Most texts are: they need no Unicode rules, which are much slower. */
const ASCII = /^[\t\n\r\x20-\x7E]*$/;

/** `parseHTTPRequest`, `parse_http_request` and `parse-http-request` become the same three words. */
function split(text: string): string[] {
  if (ASCII.test(text)) {
    const spaced = text.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
    const words =
      spaced
        .toLowerCase()
        .replace(/'s?\b/g, "")
        .match(/[a-z\d]+/g) ?? [];
    return words.filter((word) => word.length > 1 || /\d/.test(word));
  }
  const spaced = normalized(text, "NFKC")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .replace(/['’]s?\b/g, "");
  const words: string[] = [];
  for (const [word] of spaced.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(word)) words.push(...pairs(word));
    else if (word.length > 1 || /\p{N}/u.test(word)) words.push(word);
  }
  return words;
}

/** For scripts without spaces: every pair of adjacent characters counts as a word. */
function pairs(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** Light stemming: removes English suffixes if enough of the word remains. */
function stem(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word)) return word;
  let stemmed = word;
  if (stemmed.endsWith("ies") && stemmed.length > 4) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (/(?:ss|sh|ch|x|z)es$/.test(stemmed)) stemmed = stemmed.slice(0, -2);
  else if (/[^su]s$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  if (stemmed.length > 5 && stemmed.endsWith("ing")) stemmed = undoubled(stemmed.slice(0, -3));
  else if (stemmed.length > 4 && stemmed.endsWith("ed")) stemmed = undoubled(stemmed.slice(0, -2));
  else if (stemmed.length > 5 && stemmed.endsWith("ly")) stemmed = stemmed.slice(0, -2);
  if (stemmed.length > 4 && stemmed.endsWith("e")) stemmed = stemmed.slice(0, -1);
  if (stemmed.length > 4 && stemmed.endsWith("y")) stemmed = `${stemmed.slice(0, -1)}i`;
  return stemmed;
}

function undoubled(word: string): string {
  return /([bdgklmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}
