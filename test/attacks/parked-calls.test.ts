// A modern client that retries a parked call must get its result, and nobody else's request may disturb it.
import { silentLogger } from "@trunkline/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Call } from "../../packages/gateway/src/protocol/call.js";
import { DEFAULT_LIMITS } from "../../packages/gateway/src/protocol/limits.js";
import { ModernProtocol } from "../../packages/gateway/src/protocol/modern.js";
import { ParkedCalls } from "../../packages/gateway/src/protocol/parked-calls.js";
import { RequestContext } from "../../packages/gateway/src/protocol/request-context.js";
import { envelope, type Message } from "../../packages/gateway/test/endpoints/http-client.js";
import { createTestService } from "../../packages/gateway/test/protocol/test-service.js";

const view = { outlet: { send: () => {} }, progressToken: undefined, logLevel: undefined };

function runningCall(principal = "ada"): Call {
  return new Call({
    caller: {
      id: "1",
      principal,
      name: "test",
      era: "modern",
      revision: "2026-07-28",
      endpoint: "http",
      lasting: false,
      capabilities: { elicitation: {} },
    },
    meta: {},
    view,
  });
}

/** A protocol over a test service, and a function that calls its tool `ask_then_gate`. */
function openProtocol() {
  const service = createTestService();
  const protocol = new ModernProtocol(service, { logger: silentLogger, limits: DEFAULT_LIMITS });
  const start = (more: object = {}) => {
    const context = new RequestContext(
      { id: "1", principal: "ada", endpoint: "http", lasting: false },
      { send: () => {} },
    );
    const params = { name: "ask_then_gate", arguments: {}, ...more, _meta: envelope({ elicitation: {} }) };
    const answer = protocol.handle({ kind: "request", id: 1, method: "tools/call", params }, context);
    return { context, result: answer.then((reply) => (reply?.message as Message)?.result) };
  };
  return { service, protocol, start };
}

afterEach(() => void vi.useRealTimers());

describe("parked calls", () => {
  it("do not time out after the client has answered, however often they were parked", () => {
    vi.useFakeTimers();
    const parked = new ParkedCalls({ ttlMs: 1_000, max: 10 });
    const call = runningCall();
    // Two concurrent retries: both are told to ask again, so the call is parked twice.
    parked.park(call, "tools/call ask");
    const state = parked.park(call, "tools/call ask");
    expect(parked.take(state, "tools/call ask", "ada")).toBe(call);
    vi.advanceTimersByTime(5_000);
    expect(call.outcome).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("are not dropped to make room once the client has answered", () => {
    const parked = new ParkedCalls({ ttlMs: 60_000, max: 2 });
    const answered = runningCall();
    parked.take(parked.park(answered, "a"), "a", "ada");
    const waiting = [1, 2, 3].map(() => runningCall());
    for (const call of waiting) parked.park(call, "b");
    expect(answered.outcome).toBeUndefined();
    expect(waiting.map(({ outcome }) => outcome?.kind)).toEqual(["error", undefined, undefined]);
    parked.close();
  });

  it("cannot be resumed by another principal that learns the state", () => {
    const parked = new ParkedCalls({ ttlMs: 60_000, max: 2 });
    const call = runningCall();
    const state = parked.park(call, "a");
    expect(() => parked.take(state, "a", "eve")).toThrow("requestState is unknown");
    expect(parked.take(state, "a", "ada")).toBe(call);
    parked.close();
  });

  it("are not dropped because another principal has too many", () => {
    const parked = new ParkedCalls({ ttlMs: 60_000, max: 2 });
    const call = runningCall();
    parked.park(call, "a");
    for (const flooding of [1, 2, 3].map(() => runningCall("eve"))) parked.park(flooding, "b");
    expect(call.outcome).toBeUndefined();
    expect(parked.size).toBe(3);
    parked.close();
  });

  it("survive the end of one of two concurrent retries", async () => {
    const { service, protocol, start } = openProtocol();
    const { inputRequests, requestState } = await start().result;
    const [key] = Object.keys(inputRequests) as [string];
    const answered = { requestState, inputResponses: { [key]: { action: "accept", content: { name: "Ada" } } } };
    const first = start(answered);
    const second = start(answered);
    first.context.cancel(new Error("disconnected"));
    service.openGate();
    expect(await second.result).toMatchObject({ resultType: "complete" });
    expect(await first.result).toBeUndefined();
    await protocol.close();
  });

  it("end when every request that waits for them is cancelled", async () => {
    const { service, protocol, start } = openProtocol();
    const { requestState, inputRequests } = await start().result;
    const [key] = Object.keys(inputRequests) as [string];
    const answered = { requestState, inputResponses: { [key]: { action: "accept", content: { name: "Ada" } } } };
    for (const { context } of [start(answered), start(answered)]) context.cancel(new Error("disconnected"));
    expect(service.exchanges[0]?.signal.aborted).toBe(true);
    await protocol.close();
  });
});
