import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRunning, User } from "./windows.js";

const TEN = Array.from({ length: 10 }, (_, at) => at);

describe("ten windows that open at once", () => {
  it("start one broker and one server", async () => {
    await using user = new User();
    const windows = await Promise.all(TEN.map(() => user.greet()));
    const servers = await Promise.all(windows.map((window) => window.server()));
    expect(windows.map(({ stderr }) => stderr).join("")).toBe("");
    expect(new Set(servers).size).toBe(1);
    expect(user.starts).toBe(1);
    // Ten relays, the broker and the server.
    expect(user.processes).toHaveLength(12);
  });

  it("start one broker although a process that was killed left its lock and its socket", async () => {
    await using user = new User();
    mkdirSync(user.run, { mode: 0o700 });
    writeFileSync(join(user.run, "broker.lock"), `${process.pid} 1`);
    await leaveSocket(join(user.run, "broker.sock"));
    const windows = await Promise.all(TEN.map(() => user.greet()));
    await Promise.all(windows.map((window) => window.text("echo", { text: "a" })));
    expect(user.brokers).toHaveLength(1);
    expect(windows.map(({ stderr }) => stderr).join("")).toBe("");
  });

  it("attach to one broker although the one that started it was killed", async () => {
    await using user = new User();
    const windows = TEN.map(() => user.open());
    // The first broker is being started.
    await expect.poll(() => user.brokers.length).toBeGreaterThan(0);
    const killed = windows.filter((_, at) => at % 2 === 0);
    for (const { child } of killed) child.kill("SIGKILL");
    const others = windows.filter((_, at) => at % 2 === 1);
    await Promise.all(others.map((window) => window.initialize()));
    const servers = await Promise.all(others.map((window) => window.server()));
    expect(others.map(({ stderr }) => stderr).join("")).toBe("");
    expect(new Set(servers).size).toBe(1);
    expect(user.brokers).toHaveLength(1);
  });

  it("attach to one broker although it is killed while it starts", async () => {
    await using user = new User();
    const windows = TEN.slice(0, 5).map(() => user.open());
    await expect.poll(() => user.brokers.length).toBeGreaterThan(0);
    const [first = 0] = user.brokers;
    process.kill(first, "SIGKILL");
    await Promise.all(windows.map((window) => window.initialize()));
    const servers = await Promise.all(windows.map((window) => window.server()));
    expect(windows.map(({ stderr }) => stderr).join("")).toBe("");
    expect(new Set(servers).size).toBe(1);
    expect(isRunning(first)).toBe(false);
    expect(user.brokers).toHaveLength(1);
  });
});

describe("a window", () => {
  it("replaces a socket that was left over", async () => {
    await using user = new User();
    mkdirSync(user.run, { mode: 0o700 });
    await leaveSocket(join(user.run, "broker.sock"));
    const window = await user.greet();
    expect(await window.text("echo", { text: "a" })).toMatch(/^a /);
    expect(user.brokers).toHaveLength(1);
  });

  it("goes on when the folder of the socket is removed and the broker is killed", async () => {
    await using user = new User();
    const window = await user.greet();
    const { broker } = user;
    const server = await window.server();
    rmSync(user.run, { recursive: true });
    process.kill(broker, "SIGKILL");
    expect(await window.text("echo", { text: "a" })).toMatch(/^a /);
    expect(user.brokers).toHaveLength(1);
    // Its record was removed, but its input was closed.
    await expect.poll(() => isRunning(server)).toBe(false);
  });
});

/** Leaves a socket that no process listens on. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.first`, resolve));
  // Closing removes the file that it was given, not the one that it has become.
  renameSync(`${path}.first`, path);
  await new Promise((resolve) => server.close(resolve));
}
