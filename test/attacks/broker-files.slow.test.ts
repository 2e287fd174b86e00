// The files of the broker belong to the user alone. What was planted in their place is neither followed nor believed,
// and Trunkline works all the same.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isAlive } from "../e2e/command.js";
import { BrokerUser } from "./broker-support.js";

const WITHOUT = "working without the broker: ";

/** Starts `serve` for a client that pings it once. Returns what it wrote to stderr. */
async function ping(user: BrokerUser, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
  const { stdout, stderr, code } = await user.command(["serve"], { cwd: user.project("p"), env, input });
  expect(JSON.parse(stdout)).toMatchObject({ id: 1 });
  expect(code).toBe(0);
  return stderr;
}

function prepared(): BrokerUser & { victim: string } {
  const user = new BrokerUser();
  mkdirSync(user.run, { mode: 0o700 });
  const victim = join(user.base, "victim");
  writeFileSync(victim, "precious");
  return Object.assign(user, { victim });
}

const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);

describe("the broker's files", () => {
  it("can be used by the user alone, whatever the umask", async () => {
    using user = new BrokerUser();
    mkdirSync(user.run, { mode: 0o777 });
    chmodSync(user.run, 0o777);
    const mask = process.umask(0);
    try {
      expect(await ping(user)).toBe("");
    } finally {
      process.umask(mask);
    }
    expect(modeOf(user.run)).toBe("700");
    const files = readdirSync(user.run).filter((name) => /^b/.test(name));
    expect(files).toEqual(expect.arrayContaining(["broker.log", "broker.sock"]));
    for (const name of files) expect(`${name} ${modeOf(join(user.run, name))}`).toBe(`${name} 600`);
  });

  it.each(["broker.lock", "broker.groups", "broker.sock"])("%s: a link in its place is not followed", async (name) => {
    using user = prepared();
    symlinkSync(user.victim, join(user.run, name));
    expect(await ping(user)).toBe("");
    expect(readFileSync(user.victim, "utf8")).toBe("precious");
  });

  it.each([
    ["broker.log", "a link", (path: string, victim: string) => symlinkSync(victim, path)],
    ["broker.log", "a pipe", (path: string) => void execFileSync("mkfifo", [path])],
    ["broker.log", "a folder", (path: string) => mkdirSync(path)],
    ["broker.lock", "a folder", (path: string) => mkdirSync(path)],
    ["broker.sock", "a folder", (path: string) => mkdirSync(path)],
  ])("%s: %s in its place means to work without", async (name, _, plant) => {
    using user = prepared();
    plant(join(user.run, name), user.victim);
    expect(await ping(user)).toContain(WITHOUT);
    expect(readFileSync(user.victim, "utf8")).toBe("precious");
  });

  it("the folder: a link or someone else's means to work without", async () => {
    using user = new BrokerUser();
    const elsewhere = join(user.base, "elsewhere");
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, user.run);
    expect(await ping(user)).toContain(`${WITHOUT}${user.run} is not a folder`);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)("the folder: another user's means to work without", async () => {
    using user = new BrokerUser();
    mkdirSync(user.run);
    chownSync(user.run, 12_345, 12_345);
    expect(await ping(user)).toContain(`${WITHOUT}${user.run} belongs to another user`);
  });

  it("a socket that a link leads to hears nothing", async () => {
    using user = prepared();
    const heard: string[] = [];
    const trap = createServer((socket) => socket.on("data", (chunk) => void heard.push(String(chunk))));
    const path = join(user.base, "trap");
    await new Promise<void>((resolve) => trap.listen(path, resolve));
    symlinkSync(path, join(user.run, "broker.sock"));
    expect(await ping(user, { SOME_TOKEN: "s3cret" })).toBe("");
    expect(heard).toEqual([]);
    expect(lstatSync(join(user.run, "broker.sock")).isSocket()).toBe(true);
    trap.close();
  });

  it("planted groups end no processes of anyone", async () => {
    using user = prepared();
    const bystander = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    const pid = bystander.pid ?? 0;
    try {
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
      // A broker that is gone, and groups by number only, with another start, or in another container.
      const lines = [`${pid} 1`, "1 1", "0 0", "-1 0", `${process.pid} 5`].join("\n");
      writeFileSync(join(user.run, "broker.groups.999999"), `999999 1 ${boot} pid:[1]\n${lines}\n`);
      writeFileSync(join(user.run, "broker.groups.999998"), `999998 1 another-boot\n${lines}\n`);
      expect(await ping(user)).toBe("");
      expect(isAlive(pid)).toBe(true);
      // The record of a broker in a container is left to it.
      expect(existsSync(join(user.run, "broker.groups.999999"))).toBe(true);
      expect(existsSync(join(user.run, "broker.groups.999998"))).toBe(false);
    } finally {
      bystander.kill("SIGKILL");
      await once(bystander, "exit");
    }
  });

  it("a runtime folder that others can write to is not used", async () => {
    using user = new BrokerUser();
    const runtime = join(user.base, "runtime");
    mkdirSync(runtime);
    chmodSync(runtime, 0o777);
    expect(await ping(user, { XDG_RUNTIME_DIR: runtime })).toBe("");
    expect(readdirSync(runtime)).toEqual([]);
  });
});
