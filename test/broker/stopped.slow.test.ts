import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isRunning, User } from "./windows.js";

/** Stops processes, as a machine that sleeps does, and waits until they stand still. */
async function freeze(...pids: number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  await expect
    .poll(() => pids.every((pid) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))))
    .toBe(true);
}

function wake(...pids: number[]): void {
  for (const pid of pids) process.kill(pid, "SIGCONT");
}

describe("a broker that is stopped for a while", () => {
  it("keeps its windows, and a window that opens meanwhile works without it", async () => {
    await using user = new User();
    const [a, b] = await Promise.all([user.greet(), user.greet()]);
    const server = await a.server();
    expect(await b.server()).toBe(server);
    const { broker } = user;
    await freeze(broker);
    const asked = [a.text("echo", { text: "1" }), b.text("echo", { text: "2" })];
    // It waits some seconds for the broker to read its hello, then serves itself.
    const c = await user.greet();
    expect(c.stderr).toBe("trunkline: working without the broker: it does not answer\n");
    expect(await c.server()).not.toBe(server);
    wake(broker);
    expect(await Promise.all(asked)).toEqual([`1 ${server}`, `2 ${server}`]);
    expect(user.broker).toBe(broker);
    const d = await user.greet();
    expect(await d.server()).toBe(server);
    expect([a, b, d].map(({ stderr }) => stderr).join("")).toBe("");
  });

  it("is replaced once it is killed, and its calls are repeated", async () => {
    await using user = new User();
    const window = await user.greet();
    const { broker } = user;
    const server = await window.server();
    await freeze(broker);
    const asked = window.text("echo", { text: "1" });
    process.kill(broker, "SIGKILL");
    expect(await asked).toMatch(/^1 \d+$/);
    expect(isRunning(broker)).toBe(false);
    await expect.poll(() => isRunning(server)).toBe(false);
  });

  it("can be ended by `trunkline broker stop`", async () => {
    await using user = new User();
    const window = await user.greet();
    const { broker } = user;
    await freeze(broker);
    const { code, stderr } = await user.place.runProcess(["broker", "stop"]);
    expect(stderr).toContain(`pid ${broker}`);
    expect(code).toBe(0);
    await expect.poll(() => isRunning(broker)).toBe(false);
    expect(await window.text("echo", { text: "1" })).toMatch(/^1 \d+$/);
  });
});

describe("a machine that sleeps", () => {
  it("finds every window, the broker and the servers as they were", async () => {
    await using user = new User();
    const windows = await Promise.all([user.greet(), user.greet(), user.greet()]);
    const server = await windows[0]?.server();
    const { processes, broker } = user;
    expect(processes).toHaveLength(5);
    const asked = windows.map((window, at) => window.text("look", { key: `${at}` }));
    await expect.poll(() => user.written.length).toBe(3);
    await freeze(...processes);
    user.go();
    wake(...processes);
    expect(await Promise.all(asked)).toEqual(["looked 0", "looked 1", "looked 2"]);
    expect(await windows[2]?.server()).toBe(server);
    expect(user.broker).toBe(broker);
    expect(user.processes).toEqual(processes);
  });
});
