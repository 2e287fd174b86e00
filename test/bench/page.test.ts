import { describe, expect, it } from "vitest";
import { besideTheBest } from "../../bench/gateways/beside.js";
import { benchmarkPage } from "../../bench/page.js";
import { meetsAim, type Result, type Row } from "../../bench/report.js";

const machine = { node: "v20", platform: "linux-x64", processor: "Test", cores: 2, memoryGiB: 8, load: 0 };

function result(name: string, title: string, rows: Row[]): Result {
  return { name, date: "2026-01-02T00:00:00Z", machine, about: { title, workload: "Some work." }, rows };
}

const startup = result("startup", "Startup of the command", [
  { what: "trunkline --version", figure: 90, unit: "ms", beside: "node -e 0", ratio: 2, aim: 1.5 },
]);
const client = result("client", "The client", [
  { what: "reconnects", figure: 3, unit: "", beside: "one", ratio: 3, aim: 1 },
]);

describe("the page of benchmarks", () => {
  it("keeps the sections of benchmarks that were not run, in the order of the plan", () => {
    const both = benchmarkPage([client, startup]);
    const faster = result("client", "The client", [
      { what: "reconnects", figure: 1, unit: "", beside: "one", ratio: 1, aim: 1 },
    ]);
    const page = benchmarkPage([faster], both);
    expect(page).toContain("| trunkline --version | 90 ms | 2 | node -e 0 | at most 1.5 | **no** |");
    expect(page).toContain("- Startup of the command: trunkline --version: 2 × node -e 0; the aim is at most 1.5\n");
    expect(page).toContain("| reconnects | 1 | 1 | one | at most 1 | yes |");
    expect(page).not.toContain("- The client: reconnects");
    expect(page.match(/^## The client$/gm)).toHaveLength(1);
    expect(page.indexOf("## The client")).toBeLessThan(page.indexOf("## Startup of the command"));
    expect(benchmarkPage([faster], page)).toBe(page);
  });

  it("shows a column only if a row uses it", () => {
    expect(benchmarkPage([client])).not.toContain("× the limit |");
    const limited = result("client", "The client", [{ what: "a call", figure: 4, unit: "µs", ofLimit: 2 }]);
    expect(benchmarkPage([limited])).toContain(
      "| what | figure | × the limit |\n|---|---:|---:|\n| a call | 4 µs | 2 |",
    );
  });
});

describe("comparing gateways", () => {
  const figures = [
    { name: "ours", role: "ours" as const, figure: 300 },
    { name: "raw", role: "limit" as const, figure: 100 },
    { name: "slow", role: "peer" as const, figure: 900 },
    { name: "quick", role: "peer" as const, figure: 600 },
  ];

  it("compares ours with the best of the others, never with the limit", () => {
    const [ours, raw, slow] = besideTheBest(figures, { what: "cost", unit: "µs", best: "least" });
    expect(ours).toMatchObject({ ratio: 0.5, ofLimit: 3, isBehind: false, beside: "quick, the best of the others" });
    expect(raw).toEqual({ what: "cost: raw", figure: 100, unit: "µs" });
    expect(slow).toEqual({ what: "cost: slow", figure: 900, unit: "µs", ofLimit: 9 });
  });

  it("takes the largest as the best when more is better", () => {
    const [ours] = besideTheBest(figures, { what: "calls", unit: "/s", best: "most" });
    expect(ours).toMatchObject({ beside: "slow, the best of the others", isBehind: true });
  });

  it("meets a minimum from above and a maximum from below", () => {
    const row = { what: "", figure: 1, unit: "", ratio: 2, aim: 2 };
    expect(meetsAim(row)).toBe(true);
    expect(meetsAim({ ...row, isAtLeast: true })).toBe(true);
    expect(meetsAim({ ...row, ratio: 1.9, isAtLeast: true })).toBe(false);
    expect(meetsAim({ ...row, ratio: 2.1 })).toBe(false);
  });
});
