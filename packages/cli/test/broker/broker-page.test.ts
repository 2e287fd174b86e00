import { PassThrough } from "node:stream";
import type { PooledServerStatus } from "@trunkline/client";
import type { ConnectedClient } from "@trunkline/daemon";
import { describe, expect, it } from "vitest";
import { savedText, shownSpan, showStatus } from "../../src/commands/broker/broker-page.js";
import { brokerStatus } from "../../src/commands/broker/broker-status.js";
import { memoryOfGroups, ownMemory } from "../../src/commands/broker/process-memory.js";
import { createContext } from "../../src/terminal/context.js";
import { Page } from "../../src/terminal/report-page.js";

const NOW_MS = Date.parse("2026-11-16T12:00:00Z");
const MB = 1_000_000;

const client = (program: string, more: Partial<ConnectedClient> = {}): ConnectedClient => ({
  ...{ kind: "client", pid: 7, program, folder: "/home/ada/app", command: "serve", sinceMs: NOW_MS - 90_000 },
  ...more,
});

const server = (more: Partial<PooledServerStatus> = {}): PooledServerStatus => ({
  ...{ name: "git", key: "k", state: "connected", pid: 9, share: "workspace", hubs: ["/home/ada/app"], clients: [] },
  ...more,
});

const users = (...names: string[]) => names.map((name) => ({ hub: "/home/ada/app", name }));

function statusOf(servers: readonly PooledServerStatus[], clients: readonly ConnectedClient[] = []) {
  return brokerStatus({
    ...{ version: "1.2.3", pid: 5, place: { socket: "s", log: "l" }, startedMs: NOW_MS - 3_900_000, clients, servers },
    ...{ stores: [], memory: { bytes: 80 * MB, ownBytes: 70 * MB } },
    serverMemory: new Map([[9, { bytes: 30 * MB, ownBytes: 20 * MB }]]),
  });
}

function shown(status: ReturnType<typeof statusOf>): string {
  const stdout = new PassThrough();
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  const context = createContext({ stdin, stdout, stderr, env: {}, cwd: "/", userHome: "/home/ada" });
  showStatus(new Page(context), status, { userHome: "/home/ada", nowMs: NOW_MS });
  return String(stdout.read());
}

describe("the status of the broker", () => {
  it("shows programs by name, with the number of their windows, and paths as shells do", () => {
    const connected = [
      client("cursor"),
      client("zed"),
      client("", { program: undefined, kind: "person", command: "call" }),
    ];
    const text = shown(
      statusOf(
        [server({ clients: users("cursor 1.0", "zed 2.1", "cursor 1.0"), lastCallAt: "2026-11-16T11:59:50Z" })],
        connected,
      ),
    );
    expect(text).toContain("trunkline broker 1.2.3, up 1 h 5 min, 80.0 MB, pid 5\n");
    expect(text).toContain("  cursor          ~/app, for 1 min, pid 7\n");
    expect(text).toContain("  trunkline call  ~/app, for 1 min, pid 7\n");
    expect(text).toContain("  git  connected, 30.0 MB, pid 9, last call 10 s ago\n");
    expect(text).toContain("       shared by cursor (2), zed in ~/app\n");
  });

  it("tells programs apart whose names begin alike, and cuts off endless names", () => {
    const connected = [client("code"), client("code insiders")];
    const clients = users("code insiders 1.0", "code 1.0", `${"x".repeat(5000)} 1.0`);
    expect(statusOf([server({ clients })], connected).servers[0]?.clients.map(({ program }) => program)).toEqual([
      "code insiders",
      "code",
      "x".repeat(100),
    ]);
  });

  it.each([
    [["workspace"], "other workspaces have their own"],
    [["$PATH"], 'another "git" has a different $PATH'],
    [["$LANG", "$PATH", "workspace"], 'another "git" has a different $LANG and $PATH'],
  ])("says why a server is not shared: %j", (differs, why) => {
    expect(shown(statusOf([server({ differs })]))).toContain(`not used yet in ~/app; not shared: ${why}\n`);
  });

  it.each([
    [["$PATH"], 'set one value for all of them in its entry: "env": { "PATH": "…" }'],
    [["$PATH", "workspace"], undefined],
    [["command"], undefined],
  ])("says how windows with another environment can share a server: %j", (differs, hint) => {
    const status = statusOf([server({ differs }), server({ differs, pid: 10 })]);
    const text = shown(status).replaceAll(/\s+/g, " ");
    if (hint === undefined) expect(text).not.toContain("set one value");
    else expect(text.split(`To share "git" among windows with a different $PATH, ${hint}`)).toHaveLength(2);
    expect(status.servers[0]?.differs).toEqual(differs);
  });

  it("says that a server was used if the client that called it has left", () => {
    const text = shown(statusOf([server({ lastCallAt: "2026-11-16T11:59:48Z" })]));
    expect(text).toContain("last call 12 s ago\n       used earlier in ~/app\n");
  });

  it("makes names of programs and servers harmless", () => {
    const text = shown(statusOf([server({ name: "a\u001b[2J" })], [client("b\u0007")]));
    expect(text).toMatch(/^ {2}a\S*\[2J {2}connected/m);
    expect(text).toMatch(/^ {2}b\S* +~\/app, for 1 min/m);
    for (const hidden of ["\u0007", "\u001b"]) expect(text).not.toContain(hidden);
  });
});

describe("what sharing saves", () => {
  it("is one process with its private memory for every further client that called a running server", () => {
    const { saved } = statusOf([
      server({ clients: users("a", "b", "c") }),
      server({ clients: users("a") }),
      server({ clients: [] }),
      server({ state: "idle", pid: undefined as never, clients: users("a", "b") }),
    ]);
    expect(saved).toEqual({ processes: 2, memory_bytes: 40 * MB });
    expect(savedText(saved)).toContain(
      "Sharing saves 2 server processes and 40.0 MB: ".replace("40.0 MB", "40.0\u00a0MB"),
    );
  });

  it("is not estimated if the system does not say how much memory a process needs", () => {
    const { saved } = statusOf([server({ clients: users("a", "b"), pid: 10 })]);
    expect(saved).toEqual({ processes: 1 });
    expect(savedText(saved)).toBe(
      "Sharing saves 1 server process: without it, every further client of a server would start its own.",
    );
  });

  it("is not mentioned if nothing is shared", () => {
    expect(savedText(statusOf([server({ clients: users("a") })]).saved)).toBeUndefined();
  });
});

describe("a time span", () => {
  it.each([
    [0, "0 s"],
    [59_999, "59 s"],
    [60_000, "1 min"],
    [3_600_000, "1 h"],
    [12_000_000, "3 h 20 min"],
    [86_400_000, "1 day"],
    [200_000_000, "2 days"],
  ])("of %i ms is %s", (ms, text) => {
    expect(shownSpan(ms)).toBe(text);
  });
});

describe.runIf(process.platform === "linux")("the memory of a process", () => {
  it("has a private part", () => {
    const { bytes = 0, ownBytes = 0 } = ownMemory() ?? {};
    expect(ownBytes).toBeGreaterThan(1 * MB);
    expect(bytes).toBeGreaterThanOrEqual(ownBytes);
  });

  it("is unknown for a group that does not exist", () => {
    expect(memoryOfGroups([2 ** 22 + 1])).toEqual(new Map());
  });
});
