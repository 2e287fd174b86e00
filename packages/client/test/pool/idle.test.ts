// Servers that stop when no one uses them, and start again with the next call. The clock moves only by hand.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConnectionPool, type Hub } from "../../src/index.js";
import { isAlive, stdio } from "../hub/fixtures.js";
import { createSignal, ManualClock, PoolHubs, pidOf } from "./fixtures.js";

const IDLE_MS = 1_000;

let clock: ManualClock;
let hubs: PoolHubs;
beforeEach(() => {
  clock = new ManualClock();
  hubs = new PoolHubs(new ConnectionPool({ clock, idleStopMs: IDLE_MS }));
});
afterEach(async () => await hubs[Symbol.asyncDispose]());

const states = () => hubs.pool.servers().map(({ state }) => state);

describe("a server that no one uses", () => {
  it("is stopped, stays listed, and is started again by the next call of any hub", async () => {
    const [one, two] = [await hubs.open(stdio("hello")), await hubs.open(stdio("hello"))];
    const pid = pidOf(one);
    const events: string[] = [];
    for (const hub of [one, two]) {
      hub.onCatalogChanged(() => void events.push("catalogue"));
      hub.onStatusChanged(() => void events.push("status"));
    }
    clock.advance(IDLE_MS - 1);
    expect(states()).toEqual(["connected"]);
    await two.call("hello.hello");
    clock.advance(IDLE_MS - 1);
    expect(states()).toEqual(["connected"]);
    events.length = 0;
    clock.advance(1);
    expect(states()).toEqual(["idle"]);
    const visible = (hub: Hub) => hub.status().map(({ state, toolCount, pid: shown }) => ({ state, toolCount, shown }));
    for (const hub of [one, two]) {
      expect(visible(hub)).toEqual([{ state: "connected", toolCount: 2, shown: undefined }]);
      expect(hub.tools()).toHaveLength(2);
    }
    const answering = one.call("hello.hello");
    await expect.poll(states, { interval: 1 }).toEqual(["starting"]);
    expect((await answering).text).toBe("Hello, world!");
    expect(states()).toEqual(["connected"]);
    expect(isAlive(pid)).toBe(false);
    expect(pidOf(one)).not.toBe(pid);
    expect((await two.call("hello.hello")).text).toBe("Hello, world!");
    expect(pidOf(two)).toBe(pidOf(one));
    // The tools were there all the time.
    expect(events).not.toContain("catalogue");
    clock.advance(IDLE_MS);
    expect(states()).toEqual(["idle"]);
  });

  it("is closed for good if no hub is left", async () => {
    const hub = await hubs.open(stdio("hello"));
    const pid = pidOf(hub);
    await hub.close();
    expect(states()).toEqual(["connected"]);
    clock.advance(IDLE_MS);
    expect(states()).toEqual([]);
    await hubs.pool.close();
    expect(isAlive(pid)).toBe(false);
  });

  it("is stopped after the time in its entry, or never", async () => {
    await hubs.open(stdio("hello", [], { name: "soon", idleStopMs: 10 }));
    await hubs.open(stdio("hello", [], { name: "never", idleStopMs: 0 }));
    clock.advance(10);
    expect(states()).toEqual(["connected", "idle"]);
    clock.advance(100 * IDLE_MS);
    expect(states()).toEqual(["connected", "idle"]);
  });

  it("that fails to start again says so, and its tools are gone", async () => {
    const hub = await hubs.open(stdio("crashing", ["--crash-after", "0"]));
    clock.advance(IDLE_MS);
    expect(states()).toEqual(["idle"]);
    await expect(hub.call("crashing.ok")).rejects.toMatchObject({ code: "SERVER_EXITED" });
    expect(hub.status()[0]?.state).not.toBe("idle");
  });
});

describe("a server is not stopped", () => {
  it("during a call, and gets its whole time after it", async () => {
    const hub = await hubs.open(stdio("slow"));
    const [begun, ending] = [createSignal(), new AbortController()];
    const call = hub.call(
      "slow.wait",
      { ms: 600_000, progress_every_ms: 1 },
      { onProgress: begun.resolve, signal: ending.signal },
    );
    call.catch(() => {});
    await begun.promise;
    clock.advance(10 * IDLE_MS);
    expect(states()).toEqual(["connected"]);
    ending.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    clock.advance(IDLE_MS - 1);
    expect(states()).toEqual(["connected"]);
    clock.advance(IDLE_MS);
    expect(states()).toEqual(["idle"]);
  });

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])("while a hub has subscribed to a resource of a %s server", async (_, args) => {
    const hub = await hubs.open(stdio("library", args));
    const unsubscribe = await hub.subscribe("library", "test://notes/today", () => {});
    clock.advance(10 * IDLE_MS);
    expect(states()).toEqual(["connected"]);
    await unsubscribe();
    clock.advance(2 * IDLE_MS);
    expect(states()).toEqual(["idle"]);
  });

  it("while a task is in flight", async () => {
    const hub = await hubs.open(stdio("tasking", ["--legacy-only"]));
    const [begun, ending] = [createSignal(), new AbortController()];
    const call = hub.call("tasking.forever", {}, { onProgress: begun.resolve, signal: ending.signal });
    call.catch(() => {});
    await begun.promise;
    clock.advance(10 * IDLE_MS);
    expect(states()).toEqual(["connected"]);
    ending.abort();
    await call.catch(() => {});
  });

  it("if each client has its own", async () => {
    const hub = await hubs.open(stdio("hello", [], { share: "client" }));
    await hub.call("hello.hello");
    clock.advance(10 * IDLE_MS);
    expect(states()).toEqual(["connected"]);
  });
});
