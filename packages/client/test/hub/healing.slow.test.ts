import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { type Hub, openHub } from "../../src/index.js";
import { configOf, http, isAlive, stdio, until } from "./fixtures.js";

const state = (hub: Hub, name: string) => hub.status().find((status) => status.name === name)?.state;
const toolCount = (hub: Hub) => hub.tools().length;

describe("a server that is killed", () => {
  it("is restarted, its tools come back, listeners are notified, and the same hub continues", async () => {
    let changes = 0;
    await using hub = await openHub(configOf(stdio("hello"), stdio("crashing")), { onCatalogChanged: () => changes++ });
    await until(
      () => changes > 0,
      (listener) => hub.onCatalogChanged(listener),
    );
    const before = changes;
    const [, { pid } = {}] = hub.status();
    const all = toolCount(hub);
    const gone = until(
      () => toolCount(hub) < all,
      (listener) => hub.onCatalogChanged(listener),
    );
    process.kill(pid ?? 0, "SIGKILL");
    await gone;
    expect(state(hub, "hello")).toBe("pending");
    await until(
      () => toolCount(hub) === all,
      (listener) => hub.onCatalogChanged(listener),
    );
    expect(changes).toBeGreaterThanOrEqual(before + 2);
    expect((await hub.call("hello.hello")).text).toBe("Hello, world!");
    expect(hub.status().find(({ name }) => name === "hello")?.pid).not.toBe(pid);
  });

  it("makes a call that comes right after wait for the restart", async () => {
    await using hub = await openHub(configOf(stdio("hello")));
    process.kill(hub.status()[0]?.pid ?? 0, "SIGKILL");
    await until(
      () => state(hub, "hello") === "pending",
      (listener) => hub.onStatusChanged(listener),
    );
    expect((await hub.callTool("hello", "hello", {})).isError).toBe(false);
  });
});

describe("a server that crashes in mid-call", () => {
  it("fails that call clearly, is not sent the same call again, and answers the next one", async () => {
    await using hub = await openHub(configOf(stdio("crashing")));
    const first = (await hub.call("crashing.ok")).text;
    await expect(hub.call("crashing.crash", { code: 7 })).rejects.toMatchObject({
      code: "SERVER_EXITED",
      message: expect.stringContaining("exit code 7"),
    });
    const second = (await hub.callTool("crashing", "ok", {})).raw;
    expect(JSON.stringify(second)).not.toContain(first);
  });

  it("affects only its own calls", async () => {
    await using hub = await openHub(configOf(stdio("crashing"), stdio("hello"), stdio("slow")));
    const [crash, hello, slow] = await Promise.allSettled([
      hub.call("crashing.crash"),
      hub.call("hello.hello"),
      hub.call("slow.wait", { ms: 300 }),
    ]);
    expect([crash.status, hello.status, slow.status]).toEqual(["rejected", "fulfilled", "fulfilled"]);
  });

  it("is reported with its last stderr lines if it exits at start-up", async () => {
    await using hub = await openHub(configOf(stdio("crashing", ["--crash-on-start"])));
    const [status] = hub.status();
    expect(status).toMatchObject({
      state: "failed",
      toolCount: 0,
      error: { code: "SERVER_EXITED", data: { cause: "exited" } },
    });
    expect(status?.error?.message).toContain("exit code 3");
    expect(status?.stderr.length).toBeGreaterThan(0);
  });
});

describe("a session that expires", () => {
  it("is reopened once for many concurrent calls, and none of them fails", async () => {
    await using server = await startServer("expiring", ["--after", "150"]);
    await using hub = await openHub(configOf(http("expiring", server.url)));
    for (let i = 0; i < 100; i++) await hub.call("expiring.count");
    // The first 50 of these use up the session; the others find it expired.
    const results = await Promise.all(Array.from({ length: 150 }, () => hub.call("expiring.count")));
    expect(results.every(({ isError }) => !isError)).toBe(true);
    expect((await hub.call("expiring.sessions")).text).toBe("2");
  });
});

describe("connecting", () => {
  it("is shared by concurrent first calls to a lazy server, and retried after a failure", async () => {
    await using hub = await openHub(configOf(stdio("crashing", [], { lazy: true })));
    expect(state(hub, "crashing")).toBe("pending");
    expect(hub.tools()).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => hub.call("crashing.ok")));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);

    await using failing = await openHub(configOf(stdio("crashing", ["--crash-on-start"], { lazy: true })));
    for (let round = 0; round < 2; round++) {
      await expect(failing.call("crashing.ok")).rejects.toMatchObject({ code: "SERVER_EXITED" });
    }
  });

  it("happens for all servers in parallel, with visible states", async () => {
    const slow = (name: string) => stdio("slow", ["--start-delay-ms", "600"], { name });
    const seen = new Set<string>();
    const hub: Hub = await openHub(configOf(slow("a"), slow("b"), slow("c"), stdio("hello")), {
      onStatusChanged: () => seen.add("changed"),
    });
    await using closing = hub;
    expect(closing.status().map((status) => status.state)).toEqual([
      "connected",
      "connected",
      "connected",
      "connected",
    ]);
    expect(seen.has("changed")).toBe(true);
  });

  it("skips disabled, untrusted and unusable servers and says why they cannot be called", async () => {
    const unusable = { message: "Nobody could be asked for the token.", hint: "Run it at a terminal." };
    await using hub = await openHub(
      configOf(
        stdio("hello", [], { name: "off", disabled: true }),
        stdio("hello", [], { name: "strange", trusted: false }),
        stdio("hello", [], { name: "unusable", unusable }),
      ),
    );
    expect(hub.status().map((status) => status.state)).toEqual(["disabled", "untrusted", "failed"]);
    await expect(hub.callTool("off", "hello", {})).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      hint: expect.stringContaining("servers enable off"),
    });
    await expect(hub.callTool("strange", "hello", {})).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      hint: expect.stringContaining("trunkline trust"),
    });
    await expect(hub.callTool("unusable", "hello", {})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: unusable.message,
    });
  });

  it("distinguishes the causes of a failure", async () => {
    await using server = await startServer("hello", ["--http"]);
    const free = new URL(server.url);
    await server.close();
    await using hub = await openHub(
      configOf(
        stdio("hello", [], { name: "missing", command: "no-such-program-anywhere" }),
        http("refused", free.href),
        http("unknown", "http://no-such-host.invalid/mcp"),
        http("blocked", "http://127.0.0.1:6000/mcp"),
        http("unset", "http://no-such-host.invalid/mcp", { unset: ["WIKI"] }),
        http("badly", "WIKI/mcp"),
        stdio("old", ["--version-answer", "1999-01-01"], { name: "strange" }),
      ),
    );
    expect(Object.fromEntries(hub.status().map(({ name, error }) => [name, error?.data?.cause]))).toEqual({
      missing: "program-missing",
      refused: "refused",
      unknown: "unreachable",
      blocked: "unreachable",
      unset: "variable-unset",
      badly: "configuration",
      strange: "protocol",
    });
    expect(hub.warnings()).toHaveLength(7);
  });
});

describe("reloading", () => {
  it("restarts only what changed", async () => {
    await using hub = await openHub(configOf(stdio("hello"), stdio("crashing"), stdio("slow")));
    const pids = Object.fromEntries(hub.status().map(({ name, pid }) => [name, pid]));
    await hub.reload(
      configOf(stdio("hello", [], { line: 7 }), stdio("crashing", [], { env: { A: "b" } }), stdio("old")),
    );
    const now = Object.fromEntries(hub.status().map(({ name, pid }) => [name, pid]));
    expect(Object.keys(now)).toEqual(["crashing", "hello", "old"]);
    expect(now.hello).toBe(pids.hello);
    expect(now.crashing).not.toBe(pids.crashing);
    expect([pids.crashing, pids.slow].map((pid) => isAlive(pid ?? 0))).toEqual([false, false]);
  });
});

describe("closing", () => {
  it("is idempotent, ends every process, and rejects later calls", async () => {
    const hub = await openHub(configOf(stdio("hello"), stdio("crashing")));
    const pids = hub.status().map(({ pid }) => pid ?? 0);
    await Promise.all([hub.close(), hub.close()]);
    expect(pids.map(isAlive)).toEqual([false, false]);
    await expect(hub.callTool("hello", "hello", {})).rejects.toMatchObject({ code: "CLOSED" });
    expect(hub.tools()).toEqual([]);
  });

  it("kills the whole process tree of a server that ignores everything", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trunkline-tree-"));
    const pidFile = join(folder, "pid");
    const hub = await openHub(
      configOf(
        stdio("silent", ["--ignore-sigterm", "--grandchild", "--pid-file", pidFile], { connectTimeoutMs: 1_500 }),
      ),
    );
    expect(hub.status()[0]?.state).toBe("failed");
    await hub.close();
    const grandchild = Number(readFileSync(pidFile, "utf8"));
    expect(grandchild).toBeGreaterThan(1);
    expect(isAlive(grandchild)).toBe(false);
    rmSync(folder, { recursive: true });
  });

  it("happens when the given signal aborts", async () => {
    const controller = new AbortController();
    const hub = await openHub(configOf(stdio("hello")), { signal: controller.signal });
    const pid = hub.status()[0]?.pid ?? 0;
    controller.abort();
    await hub.close();
    expect(isAlive(pid)).toBe(false);
  });

  it("ends a pending attempt to connect", async () => {
    const controller = new AbortController();
    const opening = openHub(configOf(stdio("silent")), { signal: controller.signal });
    setImmediate(() => controller.abort());
    const hub = await opening;
    await hub.close();
    expect(hub.status()[0]?.state).not.toBe("connected");
  });
});

describe("the environment of a server", () => {
  it("contains only what programs need and what its entry sets", async () => {
    const env = {
      PATH: process.env.PATH,
      HOME: "/somewhere",
      GITHUB_TOKEN: "ghp_secret",
      AWS_SECRET_ACCESS_KEY: "x",
      LANG: "C",
    };
    await using hub = await openHub(configOf(stdio("old", [], { env: { OWN: "1" } })), { env });
    const names: string[] = JSON.parse((await hub.call("old.env")).text);
    expect(names.filter((name) => !["_", "PWD", "SHLVL"].includes(name)).sort()).toEqual([
      "HOME",
      "LANG",
      "OWN",
      "PATH",
    ]);
  });
});
