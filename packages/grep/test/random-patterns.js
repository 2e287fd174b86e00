// Generates random patterns in ripgrep's dialect, most of them valid, over the alphabet of the tree.

const ATOMS =
  "foo|bar|a|b|x|o|\u00e9|\u03c3|\u00df|k|s|0| |-|.|.|\\w|\\W|\\d|\\D|\\s|\\S|\\b|\\B|^|$|[a-f]|[^a-f]|[[:alpha:]]|[^[:space:]]|[\\w--[a-c]]|[a-z&&[^o]]|[\u03b1-\u03c9]|\\p{Greek}|\\p{Lu}|\\PL|\\x{e9}|\\x41|\\.|\\-|(?i:foo)|(?i:\u03c3)|(?i:[^k])|(?s:.)|(?-u:\\w)|(?-u:\\b)|[\\s\\S]|\\A|\\z|(?x: f o o )".split(
    "|",
  );

/** @param {(below: number) => number} below @param {number} depth @returns {string} */
export function randomPattern(below, depth = 0) {
  const parts = Array.from({ length: 1 + below(depth === 0 ? 4 : 3) }, () => {
    const atom =
      depth < 3 && below(5) === 0 ? `(${randomPattern(below, depth + 1)})` : (ATOMS[below(ATOMS.length)] ?? "a");
    const repeat = ["*", "+", "?", "{2}", "{1,3}", "{0}", "{2,}", "*?", "+?"][below(30)] ?? "";
    return atom.length > 2 && repeat !== "" ? `(?:${atom})${repeat}` : atom + repeat;
  });
  const text = parts.join("");
  return below(6) === 0 ? `${text}|${randomPattern(below, depth + 1)}` : text;
}
