import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { recordedBrokers } from "../../packages/daemon/src/relay/index.js";
import { needs } from "../support/needs.js";
import { isRunning, User } from "./windows.js";

const OWN_DISKS = ["unshare", "--user", "--mount", "--map-root-user"];
const [program = "", ...unshare] = OWN_DISKS;
const hasDisks = spawnSync(program, [...unshare, "true"]).status === 0;
const DISK_BYTES = 256 * 1024;

/** Runs a command with a small disk for the broker's files, after `first`. */
function smallDisk({ run }: User, first = "true"): string[] {
  mkdirSync(run);
  const script = `mount -t tmpfs -o size=${DISK_BYTES},mode=700 none "$0" && { ${first}; exec "$@"; }`;
  return [...OWN_DISKS, "sh", "-c", script, run];
}

/** Writes to a disk until it is full. */
function fill(folder: string): void {
  for (const [at, size] of [DISK_BYTES / 2, 16_384, 4_096].entries()) {
    try {
      for (let part = 0; ; part++) writeFileSync(join(folder, `fill-${at}-${part}`), Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

describe("a full disk", () => {
  it.skipIf(!hasDisks)(`does not keep a window from working${needs("user namespaces", hasDisks)}`, async () => {
    await using user = new User();
    const window = await user.greet({ within: smallDisk(user, 'cat /dev/zero > "$0/fill" 2> /dev/null') });
    expect(await window.text("echo", { text: "a" })).toMatch(/^a \d+$/);
    expect(window.stderr).toMatch(/^trunkline: working without the broker: .* cannot be written: ENOSPC\n$/);
    expect(await window.close()).toBe(0);
    expect(user.processes).toEqual([]);
  });

  it.skipIf(!hasDisks)(`harms neither the broker nor its servers${needs("user namespaces", hasDisks)}`, async () => {
    await using user = new User();
    const window = await user.greet({ within: smallDisk(user) });
    const server = await window.server();
    // The disk as the window sees it.
    const run = join("/proc", String(window.pid), "root", user.run);
    const brokers = () =>
      recordedBrokers(join(run, "broker.groups")).flatMap(({ pid, isAlive }) => (isAlive ? [pid] : []));
    const [broker = 0] = brokers();
    fill(run);
    // A server that is started now cannot be recorded.
    process.kill(server, "SIGKILL");
    await expect.poll(async () => await window.text("echo", { text: "a" }).catch(() => "")).toMatch(/^a \d+$/);
    const next = await window.server();
    expect(next).not.toBe(server);
    expect(brokers()).toEqual([broker]);
    // The record of a broker that is killed makes room for the next one.
    process.kill(broker, "SIGKILL");
    expect(await window.text("echo", { text: "b" })).toMatch(/^b \d+$/);
    expect(window.stderr).toBe("");
    await expect.poll(() => [server, next].filter(isRunning)).toEqual([]);
    const last = brokers();
    expect(last).toHaveLength(1);
    expect(await window.close()).toBe(0);
    for (const pid of last) process.kill(pid, "SIGKILL");
    await expect.poll(() => user.processes).toEqual([]);
  });
});

describe("a lock that cannot be written", () => {
  it("does not keep a window from working", async () => {
    await using user = new User();
    mkdirSync(join(user.run, "broker.lock"), { recursive: true });
    const window = await user.greet();
    expect(await window.text("echo", { text: "a" })).toMatch(/^a \d+$/);
    expect(window.stderr).toMatch(/^trunkline: working without the broker: .*broker\.lock cannot be written: \w+\n$/m);
    expect(await window.close()).toBe(0);
    expect(user.processes).toEqual([]);
  });
});
