import { expect, it } from "vitest";
import { readSteps } from "../../src/pipeline/read-steps.js";

it("keeps a name next to op as a parameter", () => {
  const [step] = readSteps([{ op: "x.y", name: "n", path: "p" }], "operations");
  expect(step).toMatchObject({ op: "x.y", params: { name: "n", path: "p" } });
});

it("keeps parameters that are named like step fields in params", () => {
  const [step] = readSteps([{ op: "x.y", params: { operation: "start", tool: "t" } }], "operations");
  expect(step).toMatchObject({ op: "x.y", params: { operation: "start", tool: "t" } });
});

it("accepts a reference as params", () => {
  expect(readSteps([{ op: "x.y", params: "$prev.args" }], "operations")[0]?.params).toBe("$prev.args");
});

it("rejects a step that is defined in two ways", () => {
  expect(() => readSteps([{ search: {}, grep: {} }], "steps")).toThrow("needs an op");
});
