import { describe, expect, it } from "vitest";
import { verdictOn } from "../src/policy.js";

describe("policies", () => {
  it.each([
    ["nothing said", [], "allow"],
    ["a glob", [{ "github.*": "deny" }], "deny"],
    ["another server's glob", [{ "gitlab.*": "deny" }], "allow"],
    ["the most specific rule of a set", [{ "*": "deny", "github.*": "ask", "github.create_*": "allow" }], "allow"],
    ["a name before any glob", [{ "github.create_issu*": "deny", "github.create_issue": "allow" }], "allow"],
    ["the stricter of two that are as specific", [{ "github.*": "allow", "*e_issue": "deny" }], "deny"],
    ["the strictest of several sets", [{ "github.create_issue": "allow" }, { "*": "ask" }], "ask"],
    ["the other style of names", [{ mcp__github__create_issue: "deny" }], "deny"],
  ] as const)("%s", (_, policies, verdict) => {
    expect(verdictOn("github.create_issue", policies)).toBe(verdict);
  });

  it("apply to Trunkline's own operations too", () => {
    expect(verdictOn("delete", [{ delete: "ask" }])).toBe("ask");
    expect(verdictOn("delete", [{ "*.delete": "deny" }])).toBe("allow");
  });
});
