// Letters of other scripts that a reader takes for a Latin one. One table for everything that guards against them: names
// of tools, instructions in definitions, questions that ask for a secret.

/** In lower case and NFKC, which callers apply first. The lunate sigma is a final sigma there. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: "аαɑᴀ",
    b: "ьвƅʙ",
    c: "сςᴄ",
    d: "ԁɗᴅ",
    e: "еєεҽᴇ",
    f: "ғꜰ",
    g: "ɡԍɢ",
    h: "һнʜ",
    i: "іιɩıɪ",
    j: "јϳᴊ",
    k: "кκᴋ",
    l: "ӏłʟ",
    m: "мϻᴍ",
    n: "ոпηɴ",
    o: "оοօσᴏ",
    p: "рρᴘ",
    q: "ԛ",
    r: "гʀ",
    s: "ѕꜱ",
    t: "тτᴛ",
    u: "υսцᴜ",
    v: "ѵνᴠ",
    w: "ԝѡωшᴡ",
    x: "хχ",
    y: "уγүʏ",
    z: "ᴢ",
  }).flatMap(([latin, others]) => [...others].map((other): [string, string] => [other, latin])),
);

/** Replaces letters that look like a Latin one with it. Expects lower case and NFKC. */
export function inLatin(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : [...text].map((char) => LOOK_ALIKES.get(char) ?? char).join("");
}
