import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../test/support/seed.js";
import { temporaryStore } from "../support/temporary.js";

describe("calls", () => {
  it("leave the main thread free while a large file is added", async () => {
    const { store, folder } = await temporaryStore();
    writeFileSync(join(folder, "big.bin"), seededRandom().bytes(40_000_000));
    await store.add({ content: "threads are up", name: "warm" });
    const before = performance.eventLoopUtilization();
    await store.add({ path: "big.bin" });
    // Hashing, chunking and compressing on the main thread would keep it busy all the time.
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
  });

  it("stop the work, not just the waiting, and leave the store intact", async () => {
    const { store, folder } = await temporaryStore();
    writeFileSync(join(folder, "big.bin"), seededRandom().bytes(60_000_000));
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    const work = store.add({ path: "big.bin" }, { signal: controller.signal, onProgress });
    await expect(work).rejects.toMatchObject({ code: "ABORTED" });
    await store.add({ content: "next", name: "next" });
    expect(await store.list({ pathsOnly: true })).toMatchObject({ paths: ["next"] });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("share transactions when many arrive at once, and each gets its own answer or error", async () => {
    const { store } = await temporaryStore();
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, number) =>
        number % 10 === 0
          ? store.update({ name: `missing-${number}`, tags: ["x"] })
          : store.add({ content: `text ${number}`, name: `n${number}` }),
      ),
    );
    expect(results.filter((result) => result.status === "rejected")).toHaveLength(20);
    expect(await store.list()).toMatchObject({ total: 180 });
    expect(await store.verify()).toMatchObject({ ok: true });
  });

  it("report progress for a folder", async () => {
    const { store, folder } = await temporaryStore();
    writeFileSync(join(folder, "a.txt"), "a");
    const messages: unknown[] = [];
    await store.add({ path: "." }, { onProgress: (progress) => messages.push(progress) });
    expect(messages.at(-1)).toEqual({ progress: 1, total: 1, message: "1 files added" });
  });

  it("reject with CLOSED after close, which is idempotent", async () => {
    const { store } = await temporaryStore();
    const pending = store.add({ content: "x", name: "x" });
    const settled = expect(pending).rejects.toMatchObject({ code: "CLOSED" });
    await store.close();
    await store.close();
    await settled;
    await expect(store.list()).rejects.toMatchObject({ code: "CLOSED" });
  });
});
