import { describe, expect, it } from "vitest";
import { pageOf } from "../../src/resources/resources.js";
import { parseUriTemplate } from "../../src/resources/uri-template.js";

describe("a URI template", () => {
  it.each([
    ["test://notes/{id}", "test://notes/7", true],
    ["test://notes/{id}", "test://notes/", false],
    ["test://notes/{id}", "test://notes/a/b", false],
    ["test://notes/{id}", "test://other/7", false],
    ["test://notes/{id}/raw", "test://notes/7/raw", true],
    ["test://notes/{id}/raw", "test://notes/7/rawer", false],
    ["file:///{+path}", "file:///a/b/c.txt", true],
    ["file:///{path*}", "file:///a/b/c.txt", true],
    ["db://{table}/{row}", "db://users/1", true],
    ["db://{table}/{row}", "db://users", false],
    ["a://x{?q,limit}", "a://x?q=1&limit=2", true],
    ["a://x{?q}", "a://x", true],
    ["a://x{/rest*}", "a://x/1/2", true],
    ["a://fixed", "a://fixed", true],
    ["a://fixed", "a://fixed2", false],
    ["{+any}", "whatever://it/is", true],
    ["a://{broken", "a://{broken", true],
  ])("%s and %s: %s", (template, uri, matches) => {
    expect(parseUriTemplate(template).matches(uri)).toBe(matches);
  });

  it("rejects a hostile URI", () => {
    const template = parseUriTemplate(`a://${"{+x}a".repeat(50)}b`);
    expect(template.matches(`a://${"a".repeat(20_000)}`)).toBe(false);
  });
});

describe("pages", () => {
  it("continue after the previous one, and reject any other cursor", () => {
    const items = Array.from({ length: 2_500 }, (_, index) => index);
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = pageOf(items, cursor);
      seen.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(items);
    for (const wrong of [
      "",
      "x",
      7,
      Buffer.from("99999").toString("base64url"),
      Buffer.from("-1").toString("base64url"),
    ])
      expect(() => pageOf(items, wrong)).toThrow(expect.objectContaining({ code: -32_602 }));
    expect(pageOf([], undefined)).toEqual({ items: [] });
  });
});
