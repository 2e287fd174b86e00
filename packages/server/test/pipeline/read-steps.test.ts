import { expect, it } from "vitest";
import { readSteps } from "../../src/pipeline/read-steps.js";

it("keeps parameters beside op that are called as fields of a step could be", () => {
  const [step] = readSteps([{ op: "x.y", operation: "start", name: "n", tool: "t" }], "operations");
  expect(step).toMatchObject({ op: "x.y", params: { operation: "start", name: "n", tool: "t" } });
});

it("takes a reference for params", () => {
  expect(readSteps([{ op: "x.y", params: "$prev.args" }], "operations")[0]?.params).toBe("$prev.args");
});

it("refuses a step that says what it is in two ways", () => {
  expect(() => readSteps([{ search: {}, grep: {} }], "steps")).toThrow("needs an op");
});
