// Everyday use asks nothing: ordinary servers with large results, long lists and progress notice no limit.
import type { ToolProgress } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { stdio } from "../../packages/client/test/hub/fixtures.js";
import { testExchange, testService } from "../../packages/gateway/test/service/support.js";

const SLOW = { connectTimeoutMs: 120_000, callTimeoutMs: 240_000 };

describe("everyday use", () => {
  it("keeps a result of 40 MB whole", async () => {
    await using set = testService([stdio("hostile", [], SLOW)]);
    const bytes = 40_000_000;
    const steps = [{ op: "hostile.big", params: { bytes } }];
    const result = await set.service.handle("tools/call", { name: "query", arguments: { steps } }, testExchange());
    const { hash, size } = result.structuredContent as { hash: string; size: number };
    expect(size).toBeGreaterThan(bytes - 100);
    const store = await set.store();
    const [id] = await store.resolve(hash);
    expect((await store.get(id as never)).length).toBe(size);
  });

  it("lists two thousand tools and calls them", async () => {
    await using set = testService([stdio("hostile", ["--tools", "2000"], SLOW)]);
    const hub = await set.hub();
    await hub.connect();
    expect(hub.tools().length).toBeGreaterThan(2_000);
    expect((await hub.call("hostile.echo", { text: "hello" })).text).toBe("hello");
  });

  it("passes on every report of ordinary progress", async () => {
    await using set = testService([stdio("hostile", [], SLOW)]);
    const hub = await set.hub();
    const reports: ToolProgress[] = [];
    await hub.call("hostile.progress", { count: 20 }, { onProgress: (report) => void reports.push(report) });
    expect(reports.map(({ progress }) => progress)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});
