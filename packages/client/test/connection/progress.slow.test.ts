import { describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { type Hub, openHub } from "../../src/index.js";
import { configOf, http, stdio } from "../hub/fixtures.js";

const CALLS = 200;
const AT_ONCE = 20;
const EACH = 3;

/** Makes many calls and returns the progress that each had received when its result arrived. */
async function progressOfCalls(hub: Hub): Promise<string[]> {
  const seen: string[] = [];
  for (let made = 0; made < CALLS; made += AT_ONCE) {
    const batch = Array.from({ length: AT_ONCE }, async () => {
      const own: number[] = [];
      await hub.call("slow.burst", { count: EACH }, { onProgress: ({ progress }) => own.push(progress) });
      seen.push(own.join());
    });
    await Promise.all(batch);
  }
  return seen;
}

const ALL = Array.from({ length: CALLS }, () => "1,2,3");

describe("progress sent just before the result", () => {
  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])("arrives before it over stdio, in %s calls", async (era, args) => {
    await using hub = await openHub(configOf(stdio("slow", args)));
    expect(hub.status()[0]?.revision).toBe(era === "modern" ? "2026-07-28" : "2025-11-25");
    expect(await progressOfCalls(hub)).toEqual(ALL);
  });

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])("arrives before it over Streamable HTTP, in %s calls", async (era, args) => {
    await using server = await startServer("slow", args);
    await using hub = await openHub(configOf(http("slow", server.url)));
    expect(hub.status()[0]?.revision).toBe(era === "modern" ? "2026-07-28" : "2025-11-25");
    expect(await progressOfCalls(hub)).toEqual(ALL);
  });

  it("arrives before it over HTTP+SSE", async () => {
    await using server = await startServer("slow", ["--sse"]);
    await using hub = await openHub(configOf(http("slow", server.url, { type: "sse" })));
    expect(await progressOfCalls(hub)).toEqual(ALL);
  });
});
