// The Porter stemmer, as FTS5 applies it: the keyword index of either engine has the same stems.

const VOWELS = "aeiou";

/** Whether the letter at a position is a vowel. `y` is one after a consonant. */
function isVowel(word: string, at: number): boolean {
  const letter = word[at] as string;
  if (VOWELS.includes(letter)) return true;
  return letter === "y" && at > 0 && !isVowel(word, at - 1);
}

/** Counts the sequences of vowels that are followed by consonants. */
function measure(stem: string): number {
  let count = 0;
  let before = false;
  for (let at = 0; at < stem.length; at++) {
    const vowel = isVowel(stem, at);
    if (before && !vowel) count++;
    before = vowel;
  }
  return count;
}

function hasVowel(stem: string): boolean {
  return /[aeiou]|.y/.test(stem);
}

/** Whether a stem ends in consonant, vowel, consonant, and the last one is not w, x or y. */
function endsShort(stem: string): boolean {
  const last = stem.length - 1;
  if (last < 2 || "wxy".includes(stem[last] as string)) return false;
  return !isVowel(stem, last) && isVowel(stem, last - 1) && !isVowel(stem, last - 2);
}

function endsDouble(stem: string): boolean {
  const last = stem.length - 1;
  return last > 0 && stem[last] === stem[last - 1] && !isVowel(stem, last);
}

type Rules = readonly (readonly [ending: string, replacement: string])[];

const STEP_2: Rules = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["logi", "log"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
];

const STEP_3: Rules = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];

const STEP_4: Rules = "al,ance,ence,er,ic,able,ible,ant,ement,ment,ent,ion,ou,ism,ate,iti,ous,ive,ize"
  .split(",")
  .map((ending) => [ending, ""] as const);

/** Replaces the first ending that the word has, if what is left is long enough. */
function replaceEnding(word: string, rules: Rules, least: number): string {
  for (const [ending, replacement] of rules) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    if (stem === "" || measure(stem) <= least) return word;
    if (ending === "ion" && !/[st]$/.test(stem)) return word;
    return stem + replacement;
  }
  return word;
}

function withoutPlural(word: string): string {
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function withoutTense(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const stem = word.endsWith("ed") ? word.slice(0, -2) : word.endsWith("ing") ? word.slice(0, -3) : undefined;
  if (stem === undefined || !hasVowel(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (endsDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

function withoutFinalE(word: string): string {
  let result = word;
  if (result.endsWith("e")) {
    const stem = result.slice(0, -1);
    const count = measure(stem);
    if (count > 1 || (count === 1 && !endsShort(stem))) result = stem;
  }
  return result.endsWith("ll") && measure(result.slice(0, -1)) > 1 ? result.slice(0, -1) : result;
}

const LONGEST_BYTES = 64;

/** Returns the stem of a word in lower case. Very short and very long words have none. */
export function stem(word: string): string {
  const bytes = Buffer.byteLength(word);
  if (bytes < 3 || bytes > LONGEST_BYTES) return word;
  if (bytes === word.length) return stemOfBytes(word);
  // FTS5 looks at bytes: another letter counts as two or more consonants.
  return Buffer.from(stemOfBytes(Buffer.from(word).toString("latin1")), "latin1").toString();
}

function stemOfBytes(word: string): string {
  let result = withoutTense(withoutPlural(word));
  if (result.endsWith("y") && hasVowel(result.slice(0, -1))) result = `${result.slice(0, -1)}i`;
  result = replaceEnding(result, STEP_2, 0);
  result = replaceEnding(result, STEP_3, 0);
  result = replaceEnding(result, STEP_4, 1);
  return withoutFinalE(result);
}
