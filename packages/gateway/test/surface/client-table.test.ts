import { describe, expect, it } from "vitest";
import { surfaceOf } from "../../src/surface/surface-decision.js";

const client = (name: string, capabilities = {}) => ({ name, capabilities });

describe("the client table", () => {
  it.each(["claude-code 2.1.42", "claude-code", "Claude-Code 3", "codex-mcp-client 0.98.0"])(
    "knows that %s searches tools itself",
    (name) => {
      expect(surfaceOf(client(name))).toEqual({ surface: "direct", isConfigured: false });
    },
  );

  it.each([
    "cursor-vscode 1.0.0",
    "Visual Studio Code 1.108.1",
    "unknown",
    "",
    "claude-code-router 1",
    "not-claude-code",
  ])("assumes nothing about %j", (name) => {
    expect(surfaceOf(client(name))).toBeUndefined();
  });

  it("believes a client that declares its search", () => {
    const capabilities = { experimental: { "trunkline/toolSearch": {} } };
    expect(surfaceOf(client("own-agent 1", capabilities))?.surface).toBe("direct");
    expect(surfaceOf(client("own-agent 1", { experimental: "trunkline/toolSearch" }))).toBeUndefined();
  });

  it("lets the configuration decide, by name or glob, with or without the version", () => {
    const choices = { "claude-code": "composite", "cursor*": "direct", "agent 2": "direct" } as const;
    expect(surfaceOf(client("claude-code 2.1.42"), choices)).toEqual({ surface: "composite", isConfigured: true });
    expect(surfaceOf(client("cursor-vscode 1.0.0"), choices)?.surface).toBe("direct");
    expect(surfaceOf(client("agent 2"), choices)?.surface).toBe("direct");
    expect(surfaceOf(client("agent 3"), choices)).toBeUndefined();
  });
});
