// The tree on which grep and ripgrep are compared: every kind of line ending, encoding and character that has ever
// caused trouble. It is the same on every machine.

/** @param {number} seed */
export function random(seed) {
  let state = seed;
  /** @param {number} below */
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

const WORDS =
  "foo bar foobar Foo FOO fooBar foo_bar foo1 the quick brown fox const return function parseHTTPRequest x y aab aaa abcabc a-b 42 007 3.14 0x1F \u00e9t\u00e9 \u00c9T\u00c9 stra\u00dfe STRASSE Stra\u1e9ee \u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3 \u212belvin \u212aelvin kelvin KELVIN \u017fmall small \u4e2d\u6587 \u0661\u0662\u0663 \ud83d\ude00 na\u00efve na\u0069\u0308ve \u0130stanbul istanbul \u00b5m \u03bcm \u01c5 \u01c6 a\u200db \u2028 \u00a0nbsp \ufeffzero \u0000".split(
    " ",
  );
const GLUE = [
  " ",
  " ",
  "  ",
  "\t",
  ", ",
  "; ",
  ".",
  "-",
  "(",
  ")",
  '"',
  "=",
  " = ",
  "::",
  "\\",
  "\u3000",
  "\r",
  "\u0085",
  "\v",
];

/** @param {() => string} next @param {number} count */
function times(count, next) {
  return Array.from({ length: count }, next).join("");
}

/** Returns names and bytes, sorted by name. @returns {{ name: string, bytes: Buffer }[]} */
export function makeTree() {
  const below = random(7);
  const words = WORDS.slice(0, -1);
  const line = () =>
    below(12) === 0
      ? ""
      : times(1 + below(7), () => (words[below(words.length)] ?? "") + (GLUE[below(GLUE.length)] ?? ""));
  /** @type {Record<string, Buffer>} */
  const files = {
    "ascii.txt": Buffer.from("foo\nbar\n\nfoo bar\n  foo\nbarfoo\nfoo\n"),
    "bom.txt": Buffer.from("\ufefffoo at the beginning\nsecond foo\n"),
    "crlf.txt": Buffer.from("foo\r\nbar foo\r\n\r\nfoo\rbar\r\nlast foo"),
    "empty.txt": Buffer.alloc(0),
    "feed.txt": Buffer.from("\n"),
    "feeds.txt": Buffer.from("\n\n\nfoo\n\n"),
    "no-end.txt": Buffer.from("one\ntwo\nfoo"),
    "one.txt": Buffer.from("x"),
    "utf16be.txt": Buffer.from("\ufefffoo caf\u00e9\nbar\n", "utf16le").swap16(),
    "utf16le.txt": Buffer.from("\ufefffoo caf\u00e9\r\nbar \ud83d\ude00\n", "utf16le"),
    "binary.bin": Buffer.from("foo\0bar\nfoo\n"),
    "invalid.txt": Buffer.concat(
      [
        "f\xffoo",
        "foo\xff",
        "\xfffoo\xff",
        "caf\xe9 foo",
        "\xc3",
        "\xe2\x82",
        "a\xed\xa0\x80b",
        "\xc0\xafb",
        "\xf4\x90\x80\x80",
        "\xc3\xa9t\xc3\xa9\xff",
      ].map((text) => Buffer.from(`${text}\n`, "latin1")),
    ),
    "long.txt": Buffer.from(`${"ab".repeat(3000)}c\n${"x".repeat(70_000)} foo\n${"a".repeat(5000)}\n`),
    "quotes.txt": Buffer.from('a "quoted" foo\nit\'s\n[x](y)\n$100.00\n^caret\nback\\slash\n{1,2}\n#hash x\n'),
  };
  for (let number = 0; number < 12; number++) {
    const end = number % 4 === 3 ? "\r\n" : "\n";
    files[`dir${number % 3}/random${number}.txt`] = Buffer.from(
      times(40, () => line() + end) + (number % 2 ? "" : line()),
    );
  }
  return Object.entries(files)
    .map(([name, bytes]) => ({ name, bytes }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
}
