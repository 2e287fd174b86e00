import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { HELD_OUT } from "../../../../bench/pins/held-out.js";
import { measure } from "../../../../bench/pins/measure.js";
import { PARAPHRASED } from "../../../../bench/pins/paraphrased.js";
import { TUNING } from "../../../../bench/pins/tuning.js";
import { TUNING_PARAPHRASED } from "../../../../bench/pins/tuning-paraphrased.js";

const PARTS = [
  { name: "held out", changes: HELD_OUT },
  { name: "paraphrased", changes: PARAPHRASED },
  { name: "used for tuning", changes: [...TUNING, ...TUNING_PARAPHRASED] },
];
const page = readFileSync(new URL("../../../../docs/benchmarks.md", import.meta.url), "utf8");

/** As the page rounds it. */
function percent(part: number, whole: number): string {
  return `${Number(((100 * part) / whole).toPrecision(3))} %`;
}

describe("the labelled changes", () => {
  it("are at least 60, benign and hostile in similar numbers, each with its own id", () => {
    const all = PARTS.flatMap(({ changes }) => changes);
    const hostile = all.filter(({ label }) => label === "hostile").length;
    expect(all.length).toBeGreaterThanOrEqual(60);
    expect(hostile / all.length).toBeGreaterThan(0.4);
    expect(hostile / all.length).toBeLessThan(0.6);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { id, label } of all) expect(id).toMatch(label === "hostile" ? /-h\d\d$/ : /-b\d\d$/);
  });

  it.each(PARTS)("are judged as published: $name", ({ name, changes }) => {
    const { hostile, benign, missed, falselyHeld } = measure(changes);
    expect(page).toContain(
      `| hostile changes held: ${name}, of ${hostile} | ${percent(hostile - missed.length, hostile)} |`,
    );
    expect(page).toContain(`| harmless changes held: ${name}, of ${benign} | ${percent(falselyHeld.length, benign)} |`);
  });
});
