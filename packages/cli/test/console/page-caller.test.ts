import type { Exchange, Service } from "@trunkline/gateway";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { App } from "../../src/app/app.js";
import { PageCallers } from "../../src/console/page-caller.js";

const IDLE_MS = 10 * 60_000;

/** A workspace that notes which callers it was told to release. */
function fakeApp() {
  const ending = new AbortController();
  const released: string[] = [];
  const parties: unknown[] = [];
  const service = { release: async ({ id }: { id: string }) => void released.push(id) };
  const app = {
    signal: ending.signal,
    service: async () => service as unknown as Service,
    exchange: async (_name: string, { id, channel }: { id: string; channel: { party: object } }) => {
      parties.push(channel.party);
      return { caller: { id } } as unknown as Exchange;
    },
  };
  return { app: app as unknown as App, released, parties, end: () => ending.abort() };
}

function openCallers() {
  const callers = new PageCallers();
  const signal = new AbortController().signal;
  return {
    callers,
    /** A request that has ended. Resolves with the caller's id. */
    ask: (app: App, tab = "tab") => callers.run(app, { tab, signal }, async ({ exchange }) => exchange.caller.id),
    /** A request that runs until `end` is called. */
    begin: async (app: App, tab = "tab") => {
      let end = () => {};
      const running = new Promise<void>((resolve) => {
        end = resolve;
      });
      let id = "";
      const ended = callers.run(app, { tab, signal }, async ({ exchange }) => {
        id = exchange.caller.id;
        await running;
      });
      await vi.waitUntil(() => id !== "");
      return {
        id,
        end: async () => {
          end();
          await ended;
        },
      };
    },
  };
}

describe("the tabs that call something", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("are one client each, in all workspaces", async () => {
    const { ask } = openCallers();
    const [here, there] = [fakeApp(), fakeApp()];
    const id = await ask(here.app, "one");
    expect(await ask(there.app, "one")).toBe(id);
    expect(await ask(here.app, "two")).not.toBe(id);
    expect(here.parties[0]).toBe(there.parties[0]);
    expect(here.parties[0]).not.toBe(here.parties[1]);
  });

  it("are released when they have asked for nothing for ten minutes, each on its own", async () => {
    const { ask } = openCallers();
    const { app, released, parties } = fakeApp();
    const one = await ask(app, "one");
    vi.advanceTimersByTime(IDLE_MS / 2);
    await ask(app, "two");
    vi.advanceTimersByTime(IDLE_MS / 2);
    expect(released).toEqual([one]);
    // The next call has a connection of its own again, which the release of the former one cannot end.
    expect(await ask(app, "one")).not.toBe(one);
    expect(parties[2]).not.toBe(parties[0]);
  });

  it("are not released while a request runs, however long", async () => {
    const { ask, begin } = openCallers();
    const { app, released } = fakeApp();
    const request = await begin(app);
    await ask(app);
    vi.advanceTimersByTime(10 * IDLE_MS);
    expect(released).toEqual([]);
    await request.end();
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(released).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(released).toEqual([request.id]);
  });

  it("are released without pages at once, or when their requests end", async () => {
    const { callers, ask, begin } = openCallers();
    const { app, released } = fakeApp();
    const idle = await ask(app, "idle");
    const [first, second] = [await begin(app, "busy"), await begin(app, "busy")];
    callers.rest();
    expect(released).toEqual([idle]);
    await first.end();
    expect(released).toEqual([idle]);
    await second.end();
    expect(released).toEqual([idle, first.id]);
    vi.advanceTimersByTime(IDLE_MS);
    expect(released).toHaveLength(2);
  });

  it("stay if a page comes back while a request runs", async () => {
    const { callers, begin } = openCallers();
    const { app, released } = fakeApp();
    const request = await begin(app);
    callers.rest();
    callers.watch([app]);
    await request.end();
    expect(released).toEqual([]);
  });

  it("forget workspaces that were closed", async () => {
    const { callers, ask } = openCallers();
    const [here, there] = [fakeApp(), fakeApp()];
    const id = await ask(here.app);
    await ask(there.app);
    there.end();
    callers.watch([here.app]);
    expect(callers.apps).toEqual([here.app]);
    vi.advanceTimersByTime(IDLE_MS);
    expect([here.released, there.released]).toEqual([[id], []]);
    expect(callers.apps).toEqual([]);
  });

  it("are counted correctly if a request fails", async () => {
    const { callers, ask } = openCallers();
    const { app, released } = fakeApp();
    const context = { tab: "tab", signal: new AbortController().signal };
    const failing = callers.run(app, context, async () => {
      throw new Error("failed");
    });
    await expect(failing).rejects.toThrow("failed");
    const broken = { ...app, service: () => Promise.reject(new Error("closed")) } as unknown as App;
    await expect(ask(broken)).rejects.toThrow("closed");
    callers.rest();
    expect(released).toHaveLength(1);
  });
});
