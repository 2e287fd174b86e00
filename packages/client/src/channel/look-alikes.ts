// Text as it looks to a person, for comparisons: a server can write "password" or "Trunkline" in letters that only look
// like these.
import { normalized } from "@trunkline/core";

/** Letters of other scripts that look like a Latin one. */
const LOOK_ALIKES = new Map(
  Object.entries({
    a: "аɑαᴀ",
    b: "ьƅʙ",
    c: "сϲᴄ",
    d: "ԁᴅ",
    e: "еҽєᴇ",
    f: "ꜰ",
    g: "ɡɢ",
    h: "һʜ",
    i: "іıιɪ",
    j: "јᴊ",
    k: "кκᴋ",
    l: "ӏⅼʟ",
    m: "мᴍ",
    n: "ոпɴ",
    o: "оοσᴏ",
    p: "рρᴘ",
    q: "ԛ",
    r: "гʀ",
    s: "ѕꜱ",
    t: "тτᴛ",
    u: "υսᴜ",
    v: "ѵνᴠ",
    w: "ԝѡωᴡ",
    x: "хχ",
    y: "уүγʏ",
    z: "ᴢ",
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);

/** Characters that are not visible, and marks above and below letters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{M}\u115f\u1160\u3164\uffa0\u2800]/gu;

/** Lower case, without accents and invisible characters. Keeps line breaks and tabs. */
export function plainText(text: string): string {
  return normalized(text, "NFKD")
    .replace(INVISIBLE, (character) => (character === "\n" || character === "\t" ? character : ""))
    .toLowerCase();
}

/** {@link plainText} with letters that look like Latin ones replaced by these. */
export function looksLike(text: string): string {
  return [...plainText(text)].map((character) => LOOK_ALIKES.get(character) ?? character).join("");
}
