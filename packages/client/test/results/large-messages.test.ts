import { afterEach, describe, expect, it, vi } from "vitest";
import { LargeMessages, type OpenedResult } from "../../src/results/large-messages.js";

const MB = 1024 * 1024;

async function opened(large: LargeMessages, sizeBytes: number) {
  const text = "a".repeat(sizeBytes);
  const message = { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text }] } };
  // A buffer of its own, as the transports have it, is handed over to the thread.
  const found = await large.open(new TextEncoder().encode(JSON.stringify(message)));
  if (found.kind !== "result") throw new Error(`It was read as ${found.kind}.`);
  return found;
}

describe("a large message", () => {
  let large = new LargeMessages("test");
  afterEach(async () => {
    vi.useRealTimers();
    await large.close();
    large = new LargeMessages("test");
  });

  it.each([
    ["its fields were read", (handle: OpenedResult) => handle.fields()],
    ["it was read whole", (handle: OpenedResult) => handle.whole()],
    ["its items were read", (handle: OpenedResult) => handle.items("content", { maxItems: 1, maxBytes: MB })],
    [
      "its values were released",
      async (handle: OpenedResult) => {
        const { value } = await handle.outcome();
        expect(value).toHaveProperty("sizeBytes");
        handle.release();
      },
    ],
  ])("frees its memory as soon as %s, without a garbage collection", async (_, read) => {
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 30; count++) await read((await opened(large, 2 * MB)).handle);
    // Messages to the thread are in order, so everything has been released when this one is answered.
    const { handle } = await opened(large, 1000);
    handle.release();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * MB);
  });

  it("can be read once", async () => {
    const { handle } = await opened(large, 100_000);
    const { content } = await handle.fields();
    expect(content?.length).toBeGreaterThan(100_000);
    await expect(handle.fields()).rejects.toMatchObject({ code: "RESULT_TOO_LARGE" });
  });
});
