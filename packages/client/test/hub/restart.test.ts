// A person restarts or stops a server, alone or shared by several hubs.
import { afterEach, describe, expect, it } from "vitest";
import { ConnectionPool, type Hub, openHub } from "../../src/index.js";
import { createSignal, PoolHubs, pidOf } from "../pool/fixtures.js";
import { configOf, isAlive, stdio } from "./fixtures.js";

let closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing) await each[Symbol.asyncDispose]();
  closing = [];
});

async function openAlone(): Promise<readonly Hub[]> {
  const hub = await openHub(configOf(stdio("hello"), stdio("slow")));
  closing.push(hub);
  return [hub];
}

async function openShared(): Promise<readonly Hub[]> {
  const hubs = new PoolHubs(new ConnectionPool());
  closing.push(hubs);
  const servers = [stdio("hello"), stdio("slow")];
  return [await hubs.open(servers), await hubs.open(servers)];
}

describe.each([
  ["of one hub", openAlone],
  ["that hubs share", openShared],
])("a server %s", (_, open) => {
  it("gets a new process when it is restarted, and its tools stay", async () => {
    const hubs = await open();
    const [hub] = hubs as [Hub];
    const before = pidOf(hub, "hello");
    await hub.restart("hello");
    const after = pidOf(hub, "hello");
    expect(after).not.toBe(before);
    expect(isAlive(before)).toBe(false);
    for (const each of hubs) {
      expect((await each.call("hello.hello")).text).toBe("Hello, world!");
      expect(pidOf(each, "hello")).toBe(after);
    }
  });

  it("ends with its requests, even if it does not answer them", async () => {
    const hubs = await open();
    const [hub] = hubs as [Hub];
    const last = hubs.at(-1) as Hub;
    const pid = pidOf(last, "slow");
    const running = createSignal();
    const args = { ms: 600_000, progress_every_ms: 10 };
    const hanging = last.callTool("slow", "wait", args, { onProgress: () => running.resolve() });
    const failed = expect(hanging).rejects.toMatchObject({ code: "SERVER_EXITED" });
    await running.promise;
    await hub.restart("slow");
    await failed;
    expect(isAlive(pid)).toBe(false);
    expect(hub.status().find(({ name }) => name === "slow")).toMatchObject({ state: "connected" });
  });

  it("rests until its next call when it is stopped", async () => {
    const hubs = await open();
    const [hub] = hubs as [Hub];
    const pid = pidOf(hub, "hello");
    await hub.stop("hello");
    expect(isAlive(pid)).toBe(false);
    for (const each of hubs) {
      const status = each.status().find(({ name }) => name === "hello");
      expect(status).toMatchObject({ state: "connected", toolCount: 2 });
      expect(status?.pid).toBeUndefined();
    }
    expect((await (hubs.at(-1) as Hub).call("hello.hello")).text).toBe("Hello, world!");
    expect(pidOf(hub, "hello")).not.toBe(pid);
  });
});

it("connects a server that has never been used when it is restarted", async () => {
  await using hub = await openHub(configOf(stdio("hello")), { lazy: true });
  await hub.stop("hello");
  expect(hub.status()[0]?.state).toBe("pending");
  await hub.restart("hello");
  expect(hub.status()[0]).toMatchObject({ state: "connected", toolCount: 2 });
});

it("rejects a restart of a server that is disabled or unknown", async () => {
  await using hub = await openHub(configOf(stdio("hello", [], { disabled: true })));
  await expect(hub.restart("hello")).rejects.toMatchObject({ code: "SERVER_UNAVAILABLE" });
  await expect(hub.restart("hallo")).rejects.toMatchObject({ code: "SERVER_NOT_FOUND" });
});
