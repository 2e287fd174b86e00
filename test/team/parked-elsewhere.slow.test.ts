import { describe, expect, it } from "vitest";
import { callModern, type Message } from "../../packages/gateway/test/endpoints/http-client.js";
import { until } from "../../packages/gateway/test/protocol/test-service.js";
import { hasPostgres, needsPostgres } from "./team.js";
import { accept, call, capabilities, startGateway, teamDatabase } from "./team-support.js";

describe.skipIf(!hasPostgres)(`a call that asks at one gateway${needsPostgres}`, () => {
  const database = teamDatabase();

  it("goes on when it is answered at another one", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const { result } = await call(a.url, "ask", { key: "who" });
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.stringMatching(/^a\./) });
    const { requestState } = result;
    const done = await call(b.url, "ask", {}, { requestState, inputResponses: { who: accept("Ada") } });
    expect(done.result).toMatchObject({ resultType: "complete", content: [{ text: JSON.stringify(accept("Ada")) }] });
    expect(a.service.exchanges).toHaveLength(1);
    expect(b.service.exchanges).toHaveLength(0);
  });

  it("asks its next question there, and may be answered at a third", async () => {
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => startGateway(database.url, name)));
    let last: Message = await call(a?.url ?? "", "ask_twice");
    for (const [gateway, name] of [
      [b, "one"],
      [c, "two"],
    ] as const) {
      const { requestState, inputRequests } = last.result;
      const [key] = Object.keys(inputRequests) as [string];
      last = await call(gateway?.url ?? "", "ask_twice", {}, { requestState, inputResponses: { [key]: accept(name) } });
    }
    expect(last.result.content[0].text).toMatch(/one.*two/);
  });

  it("streams progress and log messages to the client's own gateway", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "info" };
    const options = { capabilities, meta };
    const first = await callModern(a.url, "ask_then_report", {}, options);
    const { requestState, inputRequests } = first.last.result;
    const [key] = Object.keys(inputRequests) as [string];
    const more = { requestState, inputResponses: { [key]: accept("Ada") } };
    const { messages, isStream } = await callModern(b.url, "ask_then_report", {}, { ...options, more });
    expect(isStream).toBe(true);
    expect(messages.map(({ method, params, result }) => method ?? params?.progress ?? result.resultType)).toEqual([
      "notifications/progress",
      "notifications/message",
      "notifications/progress",
      "complete",
    ]);
  });

  it("is cancelled when the client leaves the other gateway", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const { result } = await call(a.url, "ask_then_gate");
    const [key] = Object.keys(result.inputRequests) as [string];
    const leaving = new AbortController();
    const more = { requestState: result.requestState, inputResponses: { [key]: accept("Ada") } };
    const answered = callModern(b.url, "ask_then_gate", {}, { capabilities, more, signal: leaving.signal });
    await until(() => a.service.exchanges[0] !== undefined && a.service.answered === 1);
    leaving.abort();
    await expect(answered).rejects.toThrow();
    await until(() => a.service.exchanges[0]?.signal.aborted === true);
  });

  it("cannot be resumed after its gateway has ended, and the error says so", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const { result } = await call(a.url, "ask");
    await a.close();
    const { error } = await call(b.url, "ask", {}, { requestState: result.requestState });
    expect(error).toMatchObject({
      code: -32602,
      message: "The gateway that ran this call is gone. Repeat the call without requestState.",
      data: { reason: "requestState", retryable: true },
    });
  });

  it("ends for a client that waits when its gateway loses its connection for good", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const { result } = await call(a.url, "ask_then_gate");
    const [key] = Object.keys(result.inputRequests) as [string];
    const more = { requestState: result.requestState, inputResponses: { [key]: accept("Ada") } };
    const waiting = call(b.url, "ask_then_gate", {}, more);
    await until(() => a.service.answered === 1);
    await a.gateway.leave();
    expect((await waiting).error).toMatchObject({ data: { retryable: true } });
  });

  it("survives a lost connection to the database", async () => {
    const [a, b] = await Promise.all([startGateway(database.url, "a"), startGateway(database.url, "b")]);
    const { result } = await call(a.url, "ask", { key: "who" });
    database.cluster.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trunkline'");
    const more = { requestState: result.requestState, inputResponses: { who: accept("Ada") } };
    // The first requests may still find broken connections.
    let answered: Message;
    do answered = await call(b.url, "ask", {}, more);
    while (answered.error?.data?.code === "STORE_UNAVAILABLE");
    expect(answered.result).toMatchObject({ resultType: "complete" });
  });
});

describe.skipIf(!hasPostgres)(`the name of a gateway${needsPostgres}`, () => {
  const database = teamDatabase();

  it("belongs to one living gateway at a time", async () => {
    const a = await startGateway(database.url, "a");
    await expect(startGateway(database.url, "a")).rejects.toMatchObject({
      code: "USAGE",
      message: 'A gateway named "a" already uses this store.',
    });
    await a.close();
    await startGateway(database.url, "a");
  });
});
