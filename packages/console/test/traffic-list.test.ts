import type { CallRow } from "@trunkline/console/contract";
import { describe, expect, it } from "vitest";
import { readFilter } from "../page/pages/traffic/call-filter.js";
import { CallList } from "../page/pages/traffic/call-list.js";

let last = 0;
const call = (operation: string, more: Partial<CallRow> = {}): CallRow => ({
  id: `1-${++last}`,
  atMs: 1_000,
  client: "Cursor 1.0",
  operation,
  durationMs: 10,
  sizeBytes: 100,
  outcome: "ok",
  ...more,
});

const shown = (list: CallList) => list.shown.map(({ operation, steps }) => (steps ? steps.length : operation));

describe("the list of calls", () => {
  it("has the newest first and each call once, whichever way it arrives", () => {
    const list = new CallList();
    const [a, b, c] = [call("a"), call("b"), call("c")];
    list.append([b, a]);
    expect(list.prepend([a, b, c])).toBe(1);
    list.append([a]);
    expect(shown(list)).toEqual(["c", "b", "a"]);
  });

  it("puts the steps of a request in one row, with the time from the first to the last", () => {
    const list = new CallList();
    const step = (atMs: number, more: Partial<CallRow> = {}) => call("step", { request: "r", atMs, ...more });
    list.append([call("x"), step(1_500, { durationMs: 40 }), call("y")]);
    list.append([step(1_200, { outcome: "error", code: "TIMEOUT" }), step(1_000)]);
    expect(shown(list)).toEqual(["x", 3, "y"]);
    expect(list.shown[1]).toMatchObject({ atMs: 1_000, durationMs: 540, sizeBytes: 300, outcome: "error" });
    expect(list.shown[1]?.steps?.map(({ atMs }) => atMs)).toEqual([1_000, 1_200, 1_500]);
  });

  it("filters what is added as it filters what is there", () => {
    const list = new CallList();
    list.append([call("git.log"), call("search")]);
    list.setFilter(readFilter("git"));
    expect(list.prepend([call("search"), call("git.diff")])).toBe(1);
    list.append([call("git.old"), call("other")]);
    expect(shown(list)).toEqual(["git.diff", "git.log", "git.old"]);
    list.append([call("other", { request: "r" })]);
    list.append([call("git.step", { request: "r" })]);
    expect(shown(list)).toEqual(["git.diff", "git.log", "git.old", 2]);
    list.setFilter(undefined);
    expect(list.shown.length).toBe(list.count);
  });
});

describe("the filter", () => {
  const fits = (text: string, more: Partial<CallRow> = {}) => readFilter(text)?.(call("git.log", more));
  it.each([
    ["git", true],
    ["GIT cursor", true],
    ["git other", false],
    ["client:cursor", true],
    ["client:git", false],
    ["op:git.*", true],
    ["op:it.*", false],
    ["op:log", true],
    ["op:git.(log|x)", false],
    ["failed", false],
    ["ok", true],
    ["pipeline", false],
    [">5ms", true],
    [">10ms", false],
    ["<1s", true],
    [">0.05kB", true],
    ["<100b", false],
    [">1parsec", false],
  ])("%s: %s", (text, expected) => {
    expect(fits(text)).toBe(expected);
  });

  it("knows failures by their code", () => {
    const failure = { outcome: "error", code: "TIMEOUT" } as const;
    expect(fits("failed code:time", failure)).toBe(true);
    expect(fits("timeout", failure)).toBe(true);
  });

  it("shows everything without words", () => {
    expect(readFilter("  ")).toBeUndefined();
  });
});
