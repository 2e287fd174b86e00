import { findAgent, registerAgent } from "@trunkline/agent";
import { describe, expect, it } from "vitest";

const agent = findAgent("tools");

describe("agents by name", () => {
  it("suggests the nearest name", () => {
    expect(() => findAgent("raect")).toThrow(
      expect.objectContaining({ code: "NOT_FOUND", hint: expect.stringContaining("react") }),
    );
  });

  it("accepts new agents, but no duplicate names", async () => {
    const mine = { name: "mine", summary: "", run: agent.run };
    registerAgent(mine);
    expect(findAgent("mine")).toBe(mine);
    expect(() => registerAgent({ ...mine })).toThrow(/already/);
  });
});
