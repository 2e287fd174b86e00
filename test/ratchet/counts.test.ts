// The sources may lose concepts, and gain them only with a reason. See "Ratchets" in CONTRIBUTING.md.
import { describe, expect, it } from "vitest";
import {
  countSources,
  declaredIn,
  exportedBy,
  glossaryTerms,
  loweredLimits,
  overLimits,
  parse,
  readLimits,
} from "../../scripts/counts.js";

describe("the counts of the sources", () => {
  it("stay within their limits", () => {
    expect(overLimits(countSources(), readLimits())).toEqual([]);
  });

  it("include types, fields of options and functions at any depth", () => {
    const source = `
      export interface OpenOptions { readonly a?: string; b(): void }
      type CloseOptions = OpenOptions & { c: number };
      interface Other { d: string }
      function textOf() { const sizeOf = () => 1; return sizeOf; }
      class Place { nameOf() {} of() {} }`;
    const { types, functions, optionTypes, optionFields } = declaredIn(parse(source, "a.ts"));
    expect([...types.keys()]).toEqual(["OpenOptions", "CloseOptions", "Other"]);
    expect(optionTypes).toBe(2);
    expect(optionFields).toBe(3);
    expect(functions).toEqual(["textOf", "sizeOf", "nameOf", "of"]);
  });

  it("include the names behind an export of everything", () => {
    const path = new URL("../../packages/store/src/contract/index.ts", import.meta.url).pathname;
    expect(exportedBy(path)).toContain("SearchResult");
  });

  it("leave the heads of the glossary's tables out", () => {
    expect(glossaryTerms("| term | meaning |\n|---|---|\n| server | one |\n| gateway | two |\n\ntext")).toBe(2);
  });
});

describe("a limit", () => {
  it("reports a figure above it, a figure without one, and a rise without a reason", () => {
    const counts = { a: { types: 3, lines: 5 }, b: { types: 1, lines: 2 } };
    const raised = (because: string) => ({ limit: 1, was: 0, because });
    const limits = { a: { types: 2, lines: 5 }, b: { types: raised(""), lines: raised("more") } };
    expect(overLimits(counts, limits)).toEqual([
      "a.types rose from 2 to 3",
      "b.types was raised from 0 to 1 without a reason",
      "b.lines rose from 1 to 2",
    ]);
    expect(overLimits({ c: { types: 1 } }, limits)).toEqual(["c.types is 1 and has no limit yet"]);
    expect(overLimits({ b: { types: 1 } }, { b: { types: raised("the daemon has pages now") } })).toEqual([]);
  });

  it("falls with its figure, and never rises by itself", () => {
    const raised = { limit: 9, was: 8, because: "the daemon has pages now" };
    const limits = { a: { types: 5, lines: 5, files: raised, exports: raised } };
    const lowered = loweredLimits({ a: { types: 4, lines: 6, files: 9, exports: 7 }, b: { types: 1 } }, limits);
    expect(lowered).toEqual({ a: { types: 4, lines: 5, files: raised, exports: 7 }, b: { types: 1 } });
  });
});
