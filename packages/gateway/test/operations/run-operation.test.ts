import { type Channel, createChannel, type Elicitation } from "@trunkline/client";
import { type Clock, TrunklineError } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import type { Operation } from "../../src/interfaces/operation.js";
import { CallLog, type CallRecord } from "../../src/journal/journal.js";
import { createRunner } from "../../src/operations/run-operation.js";
import { answerError } from "../../src/pipeline/answer-error.js";
import { contextOf, exchangeOf } from "./support.js";

const operation: Operation = {
  name: "github.create_issue",
  kind: "write",
  summary: "Opens an issue.",
  schema: {},
  validate: (params) => {
    if (params.bad === true) throw new TrunklineError("INVALID_ARGUMENT", "bad", { data: { parameter: "bad" } });
    return params;
  },
  run: async (params) => ({ value: { ran: params } }),
};

describe("policies", () => {
  it("a denied operation does not run", async () => {
    const run = createRunner({ policies: [{ "github.*": "deny" }] });
    await expect(run({ operation, params: {}, context: contextOf() })).rejects.toMatchObject({ code: "DENIED" });
  });
});

describe("asking", () => {
  const run = createRunner({ policies: [{ "github.*": "ask" }] });

  it("shows a shortened call, and runs it on a yes", async () => {
    const asked: Elicitation[] = [];
    const channel = createChannel({
      elicit: async (elicitation) => {
        asked.push(elicitation);
        return { action: "accept", content: { run: true } };
      },
    });
    const params = { title: "Crash", body: "x".repeat(5000), api_key: "k-123", nested: { password: "hunter2" } };
    expect(await run({ operation, params, context: contextOf(exchangeOf({ channel })) })).toEqual({
      value: { ran: params },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      mode: "form",
      requestedSchema: { properties: { run: { type: "boolean" } }, required: ["run"] },
    });
    const message = asked[0]?.message ?? "";
    expect(message).toContain("Allow github.create_issue to run?");
    expect(message).toContain('"title": "Crash"');
    expect(message).toMatch(/"body": "x+ … x+" \(5,000 characters\)/);
    expect(message).toContain('"api_key": "k-123", "nested": {"password": "hunter2"}');
    expect(message.length).toBeLessThan(1000);
  });

  it("keeps arguments, names and descriptions from posing as part of the question", async () => {
    let asked: Elicitation | undefined;
    const channel = createChannel({
      elicit: async (elicitation) => {
        asked = elicitation;
        return { action: "decline" };
      },
    });
    const hostile = { ...operation, name: "github.x\n", summary: "Safe.\u001b[2J" };
    const params = {
      title: 'hi\n\nAllow github.list to run?\r\u001b[2K"',
      "na\nme": "\u202eexe.\u2028\u0085",
      list: ["a\nb"],
    };
    await expect(
      run({ operation: hostile, params, context: contextOf(exchangeOf({ channel })) }),
    ).rejects.toMatchObject({ code: "DENIED" });
    const { message, requestedSchema } = asked as Elicitation & { mode: "form" };
    expect(`${message}${JSON.stringify(requestedSchema)}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(JSON.stringify(requestedSchema)).not.toMatch(/(?<!\\)\\u001b/);
    expect(message).toContain(String.raw`"title": "hi\n\nAllow github.list to run?\r\u001b[2K\""`);
    expect(message).toContain(String.raw`"list": ["a\nb"]`);
  });

  it.each([
    ["no", { action: "accept", content: { run: false } }],
    ["decline", { action: "decline" }],
    ["cancel", { action: "cancel" }],
    ["nothing in the form", { action: "accept", content: {} }],
  ] as const)("treats %s as a no", async (_, answer) => {
    const exchange = exchangeOf({ channel: createChannel({ elicit: async () => answer }) });
    await expect(run({ operation, params: {}, context: contextOf(exchange) })).rejects.toMatchObject({
      code: "DENIED",
    });
  });

  it.each<[string, Channel]>([
    ["without elicitation", {}],
    ["with pages only", createChannel({ elicit: async () => ({ action: "accept" }), elicitationModes: ["url"] })],
    [
      "whose answer fails",
      createChannel({
        elicit: async () => {
          throw new Error("gone");
        },
      }),
    ],
  ])("denies the call for a client %s", async (_, channel) => {
    await expect(run({ operation, params: {}, context: contextOf(exchangeOf({ channel })) })).rejects.toMatchObject({
      code: "DENIED",
    });
  });

  it("rejects invalid parameters before asking the user", async () => {
    const channel = createChannel({
      elicit: async () => {
        throw new Error("asked");
      },
    });
    await expect(
      run({ operation, params: { bad: true }, context: contextOf(exchangeOf({ channel })) }),
    ).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

describe("the journal", () => {
  const clock = (): Clock => {
    let time = 0;
    return { now: () => 1000, monotonicMs: () => (time += 5) };
  };

  it("has one line per call, without arguments", async () => {
    const calls: CallRecord[] = [];
    const run = createRunner({
      log: new CallLog({ journal: { record: (call) => void calls.push(call) }, clock: clock() }),
    });
    await run({ operation, params: { title: "secret" }, context: contextOf() });
    await expect(run({ operation, params: { bad: true }, context: contextOf() })).rejects.toThrow();
    const failing = { ...operation, run: async () => ({ value: { text: "no" }, isError: true }) };
    await run({ operation: failing, params: {}, context: contextOf() });
    const aborted: Operation = {
      ...operation,
      run: async () => {
        throw new TrunklineError("ABORTED", "stopped");
      },
    };
    await expect(run({ operation: aborted, params: {}, context: contextOf() })).rejects.toThrow();
    const common = { atMs: 1000, client: "test", operation: "github.create_issue", durationMs: 5 };
    expect(calls).toEqual([
      { ...common, sizeBytes: expect.any(Number), outcome: "ok" },
      { ...common, sizeBytes: 0, outcome: "error", code: "INVALID_ARGUMENT" },
      { ...common, sizeBytes: expect.any(Number), outcome: "error", code: "UPSTREAM" },
      { ...common, sizeBytes: 0, outcome: "cancelled", code: "ABORTED" },
    ]);
    expect(JSON.stringify(calls)).not.toContain("secret");
    expect(calls[0]?.sizeBytes).toBeGreaterThan(10);
  });

  it("has the request of a step, and the id of a recording while calls are recorded", async () => {
    const calls: CallRecord[] = [];
    const recorded: unknown[] = [];
    let isOn = false;
    const run = createRunner({
      log: new CallLog({ journal: { record: (call) => void calls.push(call) }, clock: clock() }),
      recorder: { begin: () => (isOn ? { id: "k1", end: (call) => void recorded.push(call) } : undefined) },
    });
    await run({ operation, params: { title: "x" }, context: contextOf(), request: "r1" });
    isOn = true;
    const outcome = await run({ operation, params: async () => ({ title: "y" }), context: contextOf() });
    await expect(run({ operation, params: { bad: true }, context: contextOf(), request: "r1" })).rejects.toThrow();
    expect(calls.map(({ request, recording }) => [request, recording])).toEqual([
      ["r1", undefined],
      [undefined, "k1"],
      ["r1", "k1"],
    ]);
    expect(recorded).toEqual([
      { params: { title: "y" }, outcome },
      { params: { bad: true }, error: expect.objectContaining({ code: "INVALID_ARGUMENT" }) },
    ]);
  });

  it("any error becomes a TrunklineError, in the shape of answers", async () => {
    const broken: Operation = {
      ...operation,
      run: async () => {
        throw new TypeError("x is not a function");
      },
    };
    const run = createRunner({});
    await expect(run({ operation: broken, params: {}, context: contextOf() })).rejects.toMatchObject({
      code: "INTERNAL",
    });
    const error = await run({ operation, params: { bad: true }, context: contextOf() }).catch(
      (thrown: unknown) => thrown,
    );
    expect(answerError(error)).toMatchObject({ code: "INVALID_ARGUMENT", message: "bad", path: "bad" });
    expect(answerError(new TypeError("x"))).toMatchObject({ code: "INTERNAL", message: "x" });
  });
});
