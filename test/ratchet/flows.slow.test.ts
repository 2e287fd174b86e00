// How many source files a request passes through may fall, and rise only with a reason: `node scripts/walk.js --files`.
import { describe, expect, it } from "vitest";
import { overLimits, readLimits } from "../../scripts/counts.js";
import { FLOWS, walk } from "../../scripts/walk.js";

/** A file that only some walks pass through, because a timer fired, is left out once a walk avoided it. */
const MAX_WALKS = 6;

describe("the flow", () => {
  it.each(Object.keys(FLOWS))("%s passes through no more files than before", async (flow) => {
    const limits = readLimits();
    let files = await walk(flow);
    for (let walks = 1; walks < MAX_WALKS; walks++) {
      if (overLimits({ flows: { [flow]: files.length } }, limits).length === 0) break;
      const again = new Set(await walk(flow));
      files = files.filter((file) => again.has(file));
    }
    expect(overLimits({ flows: { [flow]: files.length } }, limits), files.join("\n")).toEqual([]);
    expect(files.length).toBeGreaterThan(10);
  });
});
