// How the rows of the page "Servers" are put together.
import type { ServerStatus } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { figuresOf } from "../../src/console/call-figures.js";
import type { RunningServer } from "../../src/console/console-world.js";
import { type RowSources, serverRows } from "../../src/console/server-rows.js";

function status(name: string, more: Partial<ServerStatus> = {}): ServerStatus {
  const config = {
    name,
    type: "stdio",
    command: "node",
    args: ["a b.js"],
    env: {},
    scope: "user",
    dialect: "mcpServers",
    file: "/settings.json",
    disabled: false,
    lazy: false,
    trusted: true,
    connectTimeoutMs: 1_000,
    callTimeoutMs: 1_000,
  } as ServerStatus["config"];
  return { name, state: "connected", config, toolCount: 1, resourceCount: 0, promptCount: 0, stderr: [], ...more };
}

function running(name: string, more: Partial<RunningServer> = {}): RunningServer {
  return { name, state: "connected", share: "workspace", folders: ["/p"], usedBy: [], ...more };
}

function rows(given: Partial<RowSources>) {
  return serverRows({
    status: [],
    config: { rejected: [], diagnostics: [] },
    running: [],
    figures: new Map(),
    held: new Map(),
    connecting: new Set(),
    ...given,
  });
}

const broken = new TrunklineError("SPAWN_FAILED", 'Program "x" not found.', { hint: "Install it." });

describe("rows of servers", () => {
  it("begin with what needs a person, then go by name", () => {
    const shown = rows({
      status: [
        status("b", { revision: "1" }),
        status("a", { state: "disabled" }),
        status("z", { state: "failed", error: broken }),
        status("y", { revision: "1" }),
      ],
      config: {
        rejected: [{ name: "w", scope: "user", file: "/f.json" }],
        diagnostics: [{ severity: "error", message: "args must be a list.", file: "/f.json", line: 3, server: "w" }],
      },
      held: new Map([["y", 2]]),
    });
    expect(shown.map(({ name }) => name)).toEqual(["w", "y", "z", "a", "b"]);
    expect(shown[0]).toMatchObject({
      state: "rejected",
      problem: { message: "error: args must be a list. (/f.json:3)" },
    });
    expect(shown[2]?.problem).toEqual({ message: 'SPAWN_FAILED: Program "x" not found.', hint: "Install it." });
    expect(shown[4]).toMatchObject({ target: 'node "a b.js"', problem: undefined });
  });

  it.each<[string, Partial<ServerStatus>, Partial<RunningServer> | undefined, string]>([
    ["that was never tried", { state: "pending" }, undefined, "not-connected"],
    ["that starts", { state: "pending" }, { state: "starting" }, "connecting"],
    ["that crashed and is started again", { state: "pending", error: broken }, undefined, "connecting"],
    ["that works", { revision: "1" }, {}, "connected"],
    ["that rests in the broker", { revision: "1" }, { state: "idle" }, "idle"],
    ["that rests", {}, undefined, "idle"],
    ["that needs a sign-in", { state: "needs-auth", error: broken }, undefined, "needs-auth"],
    ["of an unapproved file", { state: "untrusted" }, undefined, "untrusted"],
  ])("say of a server %s what it does", (_, given, process, state) => {
    const [row] = rows({
      status: [status("a", given)],
      running: process === undefined ? [] : [running("a", process)],
    });
    expect(row?.state).toBe(state);
  });

  it("show the process that this workspace uses, and everyone who has called it", () => {
    const [row] = rows({
      status: [status("a", { revision: "1", pid: 7 })],
      running: [
        running("a", { pid: 5, memoryBytes: 50, usedBy: [{ program: "cursor", folder: "~/p" }] }),
        running("a", { pid: 7, memoryBytes: 70, usedBy: [{ program: "claude", folder: "~/p" }] }),
      ],
    });
    expect(row).toMatchObject({ pid: 7, memoryBytes: 70, usedBy: ["cursor in ~/p", "claude in ~/p"] });
  });
});

describe("figures of calls", () => {
  const call = (operation: string, durationMs: number, outcome: "ok" | "error" = "ok") => ({
    operation,
    durationMs,
    outcome,
  });

  it("belong to the server with the longest matching name", () => {
    const calls = [call("a.b.c", 1), call("a.x", 2, "error"), call("search", 3), call("other.x", 4)];
    const figures = figuresOf(calls, ["a", "a.b"]);
    expect([...figures.keys()].sort()).toEqual(["a", "a.b"]);
    expect(figures.get("a")).toEqual({ calls: 1, errors: 1, p50Ms: 2, latencies: [2] });
  });

  it("have a median of all calls, and the durations of the last 30", () => {
    const calls = Array.from({ length: 101 }, (_, index) => call("a.x", index));
    const { p50Ms, latencies } = figuresOf(calls, ["a"]).get("a") ?? {};
    expect(p50Ms).toBe(50);
    expect(latencies).toHaveLength(30);
    expect(latencies?.at(-1)).toBe(100);
  });
});
