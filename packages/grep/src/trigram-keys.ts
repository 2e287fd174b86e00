// Trigrams as numbers: three characters of seven bits each. Characters outside ASCII share these numbers. A collision
// only means reading a text that cannot match, never missing one that does.
import { foldAscii } from "./literals.js";

const CHARACTER_BITS = 7;

export const TRIGRAM_KEYS = 1 << (3 * CHARACTER_BITS);

function characterKey(codePoint: number): number {
  const folded = foldAscii(codePoint);
  return folded < 0x80 ? folded : Math.imul(folded, 0x9e3779b1) >>> (32 - CHARACTER_BITS);
}

function append(key: number, character: number): number {
  return ((key << CHARACTER_BITS) | character) & (TRIGRAM_KEYS - 1);
}

export function trigramKey(trigram: string): number {
  let key = 0;
  for (const character of trigram) key = append(key, characterKey(character.codePointAt(0) as number));
  return key;
}

const LINE_FEED = 0x0a;
/** The text in which each key was last seen. */
let lastSeen: Uint16Array | undefined;
let texts = 0;
/** The keys of the current text. */
let found = new Int32Array(4096);

/** Returns the distinct keys of a text, unordered. Matches never span lines, so trigrams don't either. */
export function textKeys(text: string): Int32Array {
  lastSeen ??= new Uint16Array(TRIGRAM_KEYS);
  if (++texts > 0xffff) {
    lastSeen.fill(0);
    texts = 1;
  }
  const seen = lastSeen;
  if (found.length < Math.min(text.length, TRIGRAM_KEYS))
    found = new Int32Array(Math.min(2 * text.length, TRIGRAM_KEYS));
  const keys = found;
  let count = 0;
  let key = 0;
  let characters = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === LINE_FEED) {
      characters = 0;
      continue;
    }
    if (unit < 0x80) key = append(key, unit >= 0x41 && unit <= 0x5a ? unit + 32 : unit);
    else {
      const codePoint = text.codePointAt(at) as number;
      if (codePoint > 0xffff) at++;
      key = append(key, characterKey(codePoint));
    }
    if (++characters < 3 || seen[key] === texts) continue;
    seen[key] = texts;
    keys[count++] = key;
  }
  return keys.slice(0, count);
}
