// Undoes what makes one text look different to a program and the same to a reader: compatibility forms, lookalike
// letters, invisible characters, letters spelled one by one.
import { inLatin, normalized } from "@trunkline/core";

const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
};

// biome-ignore lint/suspicious/noMisleadingCharacterClass: each code point counts by itself
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
/** Latin in whatever word, unlike letters of other scripts. */
const SMALL_CAPITALS = /[\u1d00-\u1d22ʙɢʜɪʟɴʀʏꜰꜱ]/gu;
const ACCENTS = /[\u0300-\u036f]/g;

/** Lower case, without accents and invisible characters; words that mix scripts are written in Latin letters. */
export function plainLetters(text: string): string {
  return (
    withoutAccents(text)
      .normalize("NFC")
      .toLowerCase()
      .replace(SMALL_CAPITALS, inLatin)
      // Not with a Latin letter in the pattern: it would be looked for from every other letter.
      .replace(/[\p{L}\p{N}_'’-]+/gu, (word) => (/[a-z]/.test(word) ? inLatin(word) : word))
      .replaceAll("’", "'")
      .replace(/\s+/g, " ")
  );
}

/** The same text with digits read as letters, and `i-g-n-o-r-e` as one word. */
export function unspelled(plain: string): string {
  return plain
    .replace(/(?<=[a-z])[013457@$](?=[a-z])|\b[01345](?=[a-z]{2})/g, (char) => LEET[char] ?? char)
    .replace(/\b[a-z](?:([ .*_-])[a-z]){3,}\b(?:(?: {2,}|[ .*_-])[a-z](?:[ .*_-][a-z]){2,}\b)*/g, (spelled) =>
      spelled.replace(/[ .*_-]/g, ""),
    );
}

/** Equal for names that a reader takes for the same. */
export function skeletonOf(name: string): string {
  return inLatin(withoutAccents(name).toLowerCase());
}

function withoutAccents(text: string): string {
  return normalized(normalized(text, "NFKC").replace(INVISIBLE, ""), "NFD").replace(ACCENTS, "");
}
