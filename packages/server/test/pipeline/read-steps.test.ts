import { expect, it } from "vitest";
import { readSteps } from "../../src/pipeline/read-steps.js";

it("keeps parameters next to op even if they are named like step fields", () => {
  const [step] = readSteps([{ op: "x.y", operation: "start", name: "n", tool: "t" }], "operations");
  expect(step).toMatchObject({ op: "x.y", params: { operation: "start", name: "n", tool: "t" } });
});

it("accepts a reference as params", () => {
  expect(readSteps([{ op: "x.y", params: "$prev.args" }], "operations")[0]?.params).toBe("$prev.args");
});

it("rejects a step that is defined in two ways", () => {
  expect(() => readSteps([{ search: {}, grep: {} }], "steps")).toThrow("needs an op");
});
