import { describe, expect, it } from "vitest";
import {
  firstChars,
  firstWords,
  hasControls,
  printable,
  printableLines,
  replaceControls,
  toOneLine,
} from "../src/index.js";

const hostile = "a\u001b[2J\u202eb\u2028c\r\nd\u{e0001}";

describe("untrusted text", () => {
  it("has its control characters escaped", () => {
    expect(printable(hostile)).toBe("a\\u001b[2J\\u202eb\\u2028c\\u000d\\u000ad\\udb40\\udc01");
    expect(hasControls(printable(hostile))).toBe(false);
    expect(printable("größer, 漢字, 😀")).toBe("größer, 漢字, 😀");
  });

  it("keeps line breaks, tabs and joiners in multi-line output", () => {
    expect(printableLines("a\r\nb\t👩‍💻\u0007\u2029")).toBe("a\nb\t👩‍💻\\u0007\\u2029");
  });

  it("is detected by a single control character", () => {
    for (const char of ["\u0000", "\n", "\u007f", "\u009b", "\u200f", "\u2029", "\ufeff"])
      expect(hasControls(`a${char}b`)).toBe(true);
    expect(hasControls("plain text")).toBe(false);
  });

  it("can have control characters replaced, or be joined into one line", () => {
    expect(replaceControls("a\u001b\nb", "?")).toBe("a??b");
    expect(toOneLine("  a \n\n\u001b b\u00a0\u200bc\t")).toBe("a b c");
  });

  it("is shortened between words, so that no secret is cut in half", () => {
    expect(firstWords("use the token abcdefgh", 22)).toBe("use the token abcdefgh");
    expect(firstWords("use the token abcdefgh", 21)).toBe("use the token…");
    expect(firstWords("use the token abcdefgh", 13)).toBe("use the token…");
    expect(firstWords("abcdefgh", 4)).toBe("…");
  });

  it("is cut between characters", () => {
    expect([firstChars("short", 5), firstChars("longer", 5), firstChars("ab😀cd", 3)]).toEqual([
      "short",
      "longe…",
      "ab…",
    ]);
  });
});
