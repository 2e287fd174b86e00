import { describe, expect, it } from "vitest";
import { compareVersions } from "../src/index.js";

describe("compareVersions", () => {
  it.each([
    ["0.3.0", "0.2.0", true],
    ["0.2.10", "0.2.9", true],
    ["1.0.0", "1.0.0-beta.1", true],
    ["0.2.0", "0.2.0", false],
    ["0.2.9", "0.2.10", false],
    ["0.9.0", "1.0.0-beta.1", false],
    ["1.0.0-beta.2", "1.0.0-beta.1", true],
    ["1.0.0", "unknown", false],
  ])("says whether %s is newer than %s: %s", (version, other, isNewer) => {
    expect(compareVersions(version, other) > 0).toBe(isNewer);
  });
});
