import { describe, expect, it } from "vitest";
import type { Report } from "../../conformance/suite.js";
import { judge } from "../../conformance/verdict.js";

const SET = "2026-07-28";

function report(scenario: string, statuses: string[], extra: Partial<Report> = {}): Report {
  return {
    scenario,
    required: true,
    folder: "",
    checks: statuses.map((status) => ({ id: "check", status })),
    ...extra,
  };
}

function judged(reports: Report[], options: { listed?: string[]; baseline?: Record<string, number> } = {}) {
  const { listed = [], baseline } = options;
  const passed = baseline ?? {};
  const checks = Object.values(passed).reduce((sum, count) => sum + count, 0);
  const { unexpected, complaints } = judge({
    side: "client",
    set: SET,
    reports,
    expectations: [{ side: "client", reason: "not yet", scenarios: { [SET]: listed } }],
    baseline: baseline && { scenarios: Object.keys(passed).length, checks, passed },
    whole: true,
  });
  return [...unexpected.map(({ scenario }) => scenario), ...complaints];
}

describe("the verdict on a conformance run", () => {
  it("accepts passing scenarios and listed failures", () => {
    const reports = [report("good", ["SUCCESS", "WARNING"]), report("bad", ["SUCCESS", "FAILURE"])];
    expect(judged(reports, { listed: ["bad"], baseline: { good: 1 } })).toEqual([]);
  });

  it("names an unlisted failure", () => {
    expect(judged([report("bad", ["FAILURE"])])).toEqual(["bad"]);
  });

  it("names a listed scenario that passes", () => {
    expect(judged([report("good", ["SUCCESS"])], { listed: ["good"] })).toEqual([
      "good passes now: remove it from the list",
    ]);
  });

  it("names a listed scenario that was not run", () => {
    expect(judged([report("good", ["SUCCESS"])], { listed: ["gone"] })).toEqual(["gone is listed but was not run"]);
  });

  it("does not count a scenario without checks as passed", () => {
    expect(judged([report("empty", ["INFO", "SKIPPED"])])).toEqual(["empty"]);
  });

  it("does not excuse a crash, even in a listed scenario", () => {
    expect(judged([report("bad", ["FAILURE"], { broken: "crashed" })], { listed: ["bad"] })).toEqual(["bad"]);
  });

  it("fails if fewer scenarios ran or fewer checks passed than recorded", () => {
    expect(judged([report("good", ["SUCCESS"])], { baseline: { good: 2, other: 1 } })).toEqual([
      "1 scenarios ran, 2 before",
      "1 checks passed, 3 before",
      "good: 1 checks passed, 2 before",
      "other: 0 checks passed, 1 before",
    ]);
  });
});
