import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRunning, User } from "./windows.js";

/** Creates folders of projects. */
function projects(user: User, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const folder = join(user.place.base, `project-${at}`);
    mkdirSync(folder);
    return folder;
  });
}

describe("a server that keeps a state", () => {
  it("is shared by the windows of a project", async () => {
    await using user = new User();
    const [a, b] = await Promise.all([user.greet(), user.greet()]);
    await a.text("remember", { value: "a's page" });
    expect(await b.text("recall")).toBe("a's page");
  });

  it('belongs to one window with "share": "client", and ends with it', async () => {
    await using user = new User();
    user.configure({ ledger: { ...user.ledger(), share: "client" } });
    const [a, b] = await Promise.all([user.greet(), user.greet()]);
    await a.text("remember", { value: "a's page" });
    await b.text("remember", { value: "b's page" });
    expect([await a.text("recall"), await b.text("recall")]).toEqual(["a's page", "b's page"]);
    const [serverA, serverB] = [await a.server(), await b.server()];
    expect(serverA).not.toBe(serverB);
    a.child.kill("SIGKILL");
    await expect.poll(() => isRunning(serverA)).toBe(false);
    expect(await b.text("recall")).toBe("b's page");
    expect(await b.server()).toBe(serverB);
    // A relay, the broker and the server of b.
    expect(user.processes).toHaveLength(3);
  });
});

describe("ten projects", () => {
  it("share one broker, and each has its own server", async () => {
    await using user = new User();
    const windows = await Promise.all(projects(user, 10).map((cwd) => user.greet({ cwd })));
    const servers = await Promise.all(windows.map((window) => window.server()));
    expect(new Set(servers).size).toBe(10);
    expect(user.processes).toHaveLength(21);
    // A second window of one of them shares the server of the first.
    const another = await user.greet({ cwd: join(user.place.base, "project-3") });
    expect(await another.server()).toBe(servers[3]);
    process.kill(user.broker, "SIGKILL");
    const next = await Promise.all(windows.map((window) => window.server()));
    expect(new Set(next).size).toBe(10);
    await expect.poll(() => servers.filter(isRunning)).toEqual([]);
    expect(windows.map(({ stderr }) => stderr).join("")).toBe("");
  });

  it('share a server with "share": "user"', async () => {
    await using user = new User();
    user.configure({ ledger: { ...user.ledger(), share: "user" } });
    const windows = await Promise.all(projects(user, 10).map((cwd) => user.greet({ cwd })));
    const servers = await Promise.all(windows.map((window) => window.server()));
    expect(new Set(servers).size).toBe(1);
    // Ten relays, the broker and the server.
    expect(user.processes).toHaveLength(12);
  });

  it("are not disturbed by one whose configuration is broken", async () => {
    await using user = new User();
    const [good = "", bad = ""] = projects(user, 2);
    mkdirSync(join(bad, ".trunkline"));
    writeFileSync(join(bad, ".trunkline", "mcp.json"), "{");
    const window = await user.greet({ cwd: good });
    const server = await window.server();
    const windows = ["on", "off"].map((broker) => user.greet({ cwd: bad, env: { TRUNKLINE_BROKER: broker } }));
    const [relayed, own] = await Promise.all(windows);
    await expect.poll(() => own?.stderr).toMatch(/not valid JSON/);
    await expect.poll(() => relayed?.stderr).toBe(own?.stderr);
    expect((await relayed?.call("echo", { text: "a" }))?.error).toEqual(
      (await own?.call("echo", { text: "a" }))?.error,
    );
    expect(await window.server()).toBe(server);
  });
});
