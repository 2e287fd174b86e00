import { afterEach, describe, expect, it, vi } from "vitest";
import { IdempotentBatches } from "../../packages/gateway/src/composite/idempotency.js";
import { asContentStore } from "../../packages/store/src/index.js";
import { hasPostgres, needsPostgres } from "./team.js";
import { startGateway, type TestGateway, teamDatabase } from "./team-support.js";

const DAY_MS = 24 * 60 * 60 * 1000;

describe.skipIf(!hasPostgres)(`a batch with an idempotency key${needsPostgres}`, () => {
  const database = teamDatabase();
  afterEach(() => {
    vi.useRealTimers();
  });

  function batchesOf({ gateway, store }: TestGateway): IdempotentBatches {
    const content = asContentStore(store);
    return new IdempotentBatches({ principal: "ada", store: async () => content, gateway: async () => gateway });
  }

  const { signal } = new AbortController();
  const identity = (key: string, operation = "add") => ({ key, batch: [operation], signal });
  const said = (text: string) => ({ result: { content: [{ type: "text", text }] }, hasRun: true });

  it("runs once if two gateways get it at the same time, and both answer with its result", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    let runs = 0;
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const run = async () => {
      runs += 1;
      await finished;
      return said("done");
    };
    const all = [a, b, a, b].map((gateway) => batchesOf(gateway).once(identity("same"), run));
    await expect.poll(() => runs).toBe(1);
    finish();
    const outcomes = await Promise.all(all);
    expect(runs).toBe(1);
    expect(outcomes.map(({ result }) => result)).toEqual(all.map(() => said("done").result));
    expect(outcomes.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
  });

  it("is kept for as long as the database's clock says, whatever the gateways' clocks say", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const now = Date.now();
    vi.setSystemTime(now - 2 * DAY_MS);
    await batchesOf(a).once(identity("skewed"), async () => said("first"));
    vi.setSystemTime(now + 2 * DAY_MS);
    const later = await batchesOf(b).once(identity("skewed"), async () => said("second"));
    expect(later).toMatchObject({ isRepeated: true, result: { content: [{ text: "first" }] } });
    database.run("UPDATE trunkline.batches SET expires = now()");
    const expired = await batchesOf(b).once(identity("skewed"), async () => said("third"));
    expect(expired).toMatchObject({ isRepeated: false });
  });

  it("runs at the next gateway if nothing was started at the first", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    await batchesOf(a).once(identity("refused"), async () => ({ ...said("refused"), hasRun: false }));
    expect(await batchesOf(b).once(identity("refused"), async () => said("ran"))).toMatchObject({ isRepeated: false });
  });

  it("cannot be repeated with other operations", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    await batchesOf(a).once(identity("other"), async () => said("done"));
    await expect(batchesOf(b).once(identity("other", "delete"), async () => said(""))).rejects.toThrow(
      'The key "other" was used for a batch with other operations.',
    );
  });

  it("has an unknown outcome if its gateway ends before it does", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    let hasBegun = false;
    const lost = batchesOf(a).once(identity("lost"), async () => {
      hasBegun = true;
      return await new Promise(() => {});
    });
    lost.catch(() => {});
    await expect.poll(() => hasBegun).toBe(true);
    const waiting = expect(batchesOf(b).once(identity("lost"), async () => said("again"))).rejects;
    const isReported = waiting.toThrow("its outcome is unknown");
    await a.gateway.leave();
    await isReported;
    const again = await startGateway(database.url, "a");
    await expect(batchesOf(again).once(identity("lost"), async () => said("again"))).rejects.toThrow(
      "its outcome is unknown",
    );
  });

  it("has an unknown outcome if running it failed", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const failing = batchesOf(a).once(identity("failed"), () => Promise.reject(new Error("broken")));
    await expect(failing).rejects.toThrow("broken");
    await expect(batchesOf(b).once(identity("failed"), async () => said("again"))).rejects.toThrow("unknown");
  });

  it("stops waiting for another gateway when the client gives up", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let hasBegun = false;
    const running = batchesOf(a).once(identity("slow"), async () => {
      hasBegun = true;
      await finished;
      return said("done");
    });
    await expect.poll(() => hasBegun).toBe(true);
    const leaving = new AbortController();
    const waiting = batchesOf(b).once({ ...identity("slow"), signal: leaving.signal }, async () => said("again"));
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" });
    finish();
    await running;
  });

  it("belongs to its principal", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const key = { id: "1".repeat(64), batch: "2".repeat(64) };
    expect(await a.gateway.claimBatch({ ...key, principal: "ada" }, 60_000)).toEqual({ kind: "claimed" });
    expect(await b.gateway.claimBatch({ ...key, principal: "eve" }, 60_000)).toEqual({ kind: "claimed" });
    expect(await b.gateway.claimBatch({ ...key, principal: "ada" }, 60_000)).toMatchObject({ kind: "running" });
  });
});
