import { describe, expect, it } from "vitest";
import { contentIdOf, isContentId, parseContentId, parseContentIdPrefix } from "../src/index.js";

// SHA-256 of "abc", from FIPS 180-2.
const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

describe("content ids", () => {
  it("are the SHA-256 of the bytes, and of text as UTF-8", () => {
    expect(contentIdOf("abc")).toBe(ABC);
    expect(contentIdOf(new TextEncoder().encode("abc"))).toBe(ABC);
  });

  it.each([ABC, `sha256-${ABC}`, `sha256:${ABC}`, ABC.toUpperCase(), ` ${ABC} `])("are parsed from %j", (text) => {
    expect(parseContentId(text)).toBe(ABC);
    expect(isContentId(text)).toBe(true);
  });

  it.each(["", "abc", ABC.slice(1), `${ABC}0`, `md5:${ABC}`, ABC.replace("b", "g")])(
    "are not parsed from %j",
    (text) => {
      expect(() => parseContentId(text)).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
      expect(isContentId(text)).toBe(false);
    },
  );

  it("can be abbreviated to 8 digits, but not fewer", () => {
    expect(parseContentIdPrefix("sha256:BA7816BF")).toBe("ba7816bf");
    expect(parseContentIdPrefix(ABC)).toBe(ABC);
    expect(() => parseContentIdPrefix("ba7816b")).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});
