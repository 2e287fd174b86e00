import { describe, expect, it } from "vitest";
import { createTestService, until } from "../../packages/gateway/test/protocol/test-service.js";
import { hasPostgres, needsPostgres } from "./team.js";
import { accept, call, startGateway, task, teamDatabase } from "./team-support.js";

const support = { gate: "required", ask: "required", hang: "required", echo: "required" } as const;

describe.skipIf(!hasPostgres)(`a task of one gateway${needsPostgres}`, () => {
  const database = teamDatabase();
  const start = (name: string) => startGateway(database.url, name, { service: createTestService(support) });

  it("is polled, answered and fetched at another one", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { taskId } = (await call(a.url, "ask", { key: "who" })).result;
    expect(taskId).toMatch(/^a\.[0-9a-f-]{36}$/);
    let polled = await task(b.url, "get", taskId);
    while (polled.result.status === "working") polled = await task(b.url, "get", taskId);
    expect(polled.result).toMatchObject({ status: "input_required", inputRequests: { who: {} } });
    await task(b.url, "update", taskId, { inputResponses: { who: accept("Ada") } });
    do polled = await task(b.url, "get", taskId);
    while (polled.result.status !== "completed");
    expect(polled.result.result).toMatchObject({
      resultType: "complete",
      content: [{ text: JSON.stringify(accept("Ada")) }],
    });
  });

  it("is cancelled at another one", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { taskId } = (await call(a.url, "hang", { tag: "x" })).result;
    expect(await task(b.url, "cancel", taskId)).toMatchObject({ result: { resultType: "complete" } });
    expect((await task(b.url, "get", taskId)).result).toMatchObject({ status: "cancelled" });
    await until(() => a.service.aborted.includes("x"));
  });

  it("can be fetched after its gateway has ended, and after it has started again", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { taskId } = (await call(a.url, "echo", { text: "kept" })).result;
    const running = (await call(a.url, "hang")).result;
    await a.close();
    const kept = { status: "completed", result: { content: [{ text: "kept" }] }, resultType: "complete" };
    expect((await task(b.url, "get", taskId)).result).toMatchObject(kept);
    // It was cut short, which its client can read.
    expect((await task(b.url, "get", running.taskId)).result).toMatchObject({
      status: "cancelled",
      statusMessage: "The server is stopping.",
    });
    const again = await start("a");
    expect((await task(again.url, "get", taskId)).result).toMatchObject(kept);
    expect(await task(again.url, "cancel", taskId)).toMatchObject({ result: { resultType: "complete" } });
  });

  it("is reported as gone if its gateway ended before the task did", async () => {
    const [a, b] = await Promise.all([start("a"), start("b")]);
    const { taskId } = (await call(a.url, "hang")).result;
    await a.gateway.leave();
    expect((await task(b.url, "get", taskId)).error).toMatchObject({
      code: -32602,
      message: "The gateway that ran this task is gone. Repeat the call.",
      data: { reason: "taskId", retryable: true },
    });
  });

  it("expires by the database's clock, and the oldest make room for newer ones", async () => {
    const { gateway } = await start("a");
    const keep = (id: string, ttlMs: number) =>
      gateway.keepTask({ id, principal: "ada", detail: Buffer.from("{}"), ttlMs, max: 2 });
    await keep("a.1", 60_000);
    await keep("a.2", 1);
    await expect.poll(() => gateway.findTask("a.2", "ada")).toBeUndefined();
    expect(await gateway.findTask("a.1", "ada")).toBeDefined();
    expect(await gateway.findTask("a.1", "eve")).toBeUndefined();
    await keep("a.3", 60_000);
    await keep("a.4", 60_000);
    expect(await gateway.findTask("a.1", "ada")).toBeUndefined();
    expect(await gateway.findTask("a.4", "ada")).toBeDefined();
    await gateway.forgetTasks("ada");
    expect(await gateway.findTask("a.4", "ada")).toBeUndefined();
  });
});
