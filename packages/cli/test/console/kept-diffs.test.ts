import { diffDefinitions } from "@trunkline/client/internal";
import { describe, expect, it, vi } from "vitest";
import { KeptDiffs } from "../../src/console/definition-rows.js";

function openDiffs(limits: { diffs?: number; lines?: number } = {}) {
  const find = vi.fn(diffDefinitions);
  const diffs = new KeptDiffs({ diffs: 2, lines: 100, ...limits }, find);
  return { find, between: (before: string, after: string) => diffs.between({ text: before }, { text: after }) };
}

describe("differences that were found before", () => {
  it("are found once for the same definitions, also if these were read again", () => {
    const { find, between } = openDiffs();
    expect(between("a", "b")).toEqual([
      { sign: "-", field: "text", text: "a" },
      { sign: "+", field: "text", text: "b" },
    ]);
    expect(between("a", "b")).toBe(between("a", "b"));
    expect(between("b", "a")).not.toEqual(between("a", "b"));
    expect(find).toHaveBeenCalledTimes(2);
  });

  it("are forgotten when too many others were asked for since", () => {
    const { find, between } = openDiffs();
    for (const text of ["b", "c", "b", "d", "b"]) between("a", text);
    expect(find).toHaveBeenCalledTimes(3);
    between("a", "c");
    expect(find).toHaveBeenCalledTimes(4);
  });

  it("are not kept if they have too many lines", () => {
    const { find, between } = openDiffs({ lines: 5 });
    const long = "1\n2\n3\n4\n5";
    for (let time = 0; time < 2; time++) expect(between("a", long)).toHaveLength(6);
    expect(find).toHaveBeenCalledTimes(2);
    for (let time = 0; time < 2; time++) between("a", "b");
    expect(find).toHaveBeenCalledTimes(3);
  });
});
