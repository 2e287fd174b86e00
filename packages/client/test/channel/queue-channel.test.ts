// Questions that a program takes from a queue and answers later, asked by the real asking server in both eras.
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { QueuedForm } from "../../src/channel/queue-channel.js";
import { createQueueChannel, type Hub, openHub, type QueueChannel, type QueuedQuestion } from "../../src/index.js";
import { configOf, stdio } from "../hub/fixtures.js";

/** Takes the next question, which must be of this kind. */
async function next<K extends QueuedQuestion["kind"]>(
  { questions }: QueueChannel,
  kind: K,
): Promise<Extract<QueuedQuestion, { kind: K }>> {
  const { value } = await questions[Symbol.asyncIterator]().next();
  expect(value?.kind).toBe(kind);
  return value as Extract<QueuedQuestion, { kind: K }>;
}

const sampled = (text: string) => ({ role: "assistant", model: "test", content: { type: "text", text } });

describe.each([
  ["modern", []],
  ["legacy", ["--legacy-only"]],
])("a queue of a %s server's questions", (_, args) => {
  let hub: Hub;
  let queue: QueueChannel;

  beforeEach(async () => {
    queue = createQueueChannel();
    hub = await openHub(configOf(stdio("asking", args)), { channel: queue.channel });
  });

  afterEach(async () => {
    queue.close();
    await hub.close();
  });

  const call = async (tool: string, more: Record<string, unknown> = {}, signal?: AbortSignal) => {
    const { text } = await hub.call({ server: "asking", tool }, more, signal === undefined ? {} : { signal });
    return JSON.parse(text);
  };

  it("delivers a form with its sender and accepts the answer, filling in defaults", async () => {
    const called = call("ask_form", { tag: "t" });
    const form = await next(queue, "form");
    expect(form.request.message).toBe("asking asks: Please fill in the form. [t]");
    expect(form.context).toMatchObject({ server: "asking", tool: "ask_form" });
    expect([...queue.pending.keys()]).toEqual([form.id]);
    expect(form.answer({ name: "Ada", colours: ["red"] })).toBe(true);
    expect((await called).answer).toEqual({
      action: "accept",
      content: { name: "Ada", colours: ["red"], agreed: false },
    });
    expect(queue.pending.size).toBe(0);
  });

  it("rejects an answer the form does not allow, and keeps the question open", async () => {
    const called = call("ask_form");
    const form = await next(queue, "form");
    expect(() => form.answer({ size: "huge" })).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENT",
        data: { problems: { name: "This is required.", size: "It must be one of small, medium, large." } },
      }),
    );
    expect(queue.pending.get(form.id)).toBe(form);
    form.answer({ name: "Ada", size: "small" });
    expect((await called).answer.content).toMatchObject({ size: "small" });
  });

  it.each(["decline", "cancel"] as const)("passes on a %s", async (action) => {
    const form = call("ask_form");
    (await next(queue, "form"))[action]();
    expect((await form).answer).toEqual({ action });
    const url = call("ask_url");
    (await next(queue, "url"))[action]();
    expect((await url).answer).toEqual({ action });
    const refused = hub.call({ server: "asking", tool: "ask_sampling" }, { prompt: "?" }).then(
      ({ isError }) => isError,
      ({ code }) => code === "UPSTREAM",
    );
    (await next(queue, "sample"))[action]();
    expect(await refused).toBe(true);
  });

  it("delivers pages to visit and requests for a model", async () => {
    const visited = call("ask_url", { tag: "x" });
    const page = await next(queue, "url");
    expect(page.request.url).toBe("https://asking.example/visit?tag=x");
    page.answer();
    expect((await visited).answer).toEqual({ action: "accept" });

    const completed = call("ask_sampling", { prompt: "Who?" });
    const sample = await next(queue, "sample");
    expect(sample.request.messages).toMatchObject([{ role: "user", content: { type: "text", text: "Who?" } }]);
    sample.answer(sampled("Me."));
    expect((await completed).answer).toMatchObject(sampled("Me."));
  });

  it("holds several questions at once, answered in any order by id", async () => {
    const calls = ["a", "b", "c"].map((tag) => call("ask_form", { tag }));
    const forms: QueuedForm[] = [];
    for await (const question of queue.questions) {
      if (question.kind === "form") forms.push(question);
      if (forms.length === calls.length) break;
    }
    for (const { id, request } of forms.toReversed()) {
      const question = queue.pending.get(id);
      if (question?.kind === "form") question.answer({ name: request.message.slice(-2, -1) });
    }
    const told = await Promise.all(calls);
    expect(told.map(({ tag, answer }) => [tag, answer.content.name])).toEqual([
      ["a", "a"],
      ["b", "b"],
      ["c", "c"],
    ]);
  });

  it("drops a question when its call is cancelled", async () => {
    const caller = new AbortController();
    const called = expect(call("ask_form", {}, caller.signal)).rejects.toMatchObject({ code: "ABORTED" });
    const form = await next(queue, "form");
    const withdrawn = once(form.context.signal, "abort");
    caller.abort();
    await called;
    await withdrawn;
    expect([form.answer({ name: "late" }), form.decline(), form.cancel()]).toEqual([false, false, false]);
    expect(queue.pending.size).toBe(0);
  });

  it("cancels open and later questions when it is closed", async () => {
    const called = call("ask_form");
    await next(queue, "form");
    queue.close();
    expect((await called).answer).toEqual({ action: "cancel" });
    expect((await call("ask_form")).answer).toEqual({ action: "cancel" });
  });
});

describe("the queue of questions", () => {
  const context = (signal = new AbortController().signal) => ({ server: "s", signal });
  const form = (message: string) => ({ method: "elicitation/create", params: { message, requestedSchema: {} } });

  /** Asks like a server; the outcome is checked later. */
  function ask({ channel }: QueueChannel, message: string, signal?: AbortSignal) {
    const answered = channel.ask?.(form(message), context(signal)) ?? Promise.reject(new Error("no ask"));
    answered.catch(() => {});
    return answered;
  }

  it("does not deliver a question that was cancelled before it was taken", async () => {
    using queue = createQueueChannel();
    const caller = new AbortController();
    const first = ask(queue, "first", caller.signal);
    const second = ask(queue, "second");
    caller.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
    const question = await next(queue, "form");
    expect(question.request.message).toBe("second");
    question.answer({});
    expect(await second).toEqual({ action: "accept", content: {} });
  });

  it("does not accept a question that was cancelled before it arrived", async () => {
    using queue = createQueueChannel();
    await expect(ask(queue, "late", AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    expect(queue.pending.size).toBe(0);
  });

  it("delivers every question once, whichever loop takes it, and ends the loops when closed", async () => {
    const queue = createQueueChannel();
    const loop = async () => {
      const taken: string[] = [];
      for await (const question of queue.questions) {
        if (question.kind === "form") taken.push(question.request.message);
        question.decline();
      }
      return taken;
    };
    const before = ask(queue, "1");
    const loops = [loop(), loop()];
    await before;
    await Promise.all(["2", "3", "4"].map((message) => ask(queue, message)));
    queue.close();
    queue.close();
    expect((await Promise.all(loops)).flat().sort()).toEqual(["1", "2", "3", "4"]);
    expect(await loop()).toEqual([]);
  });

  it("keeps the questions that one loop did not take for the next", async () => {
    using queue = createQueueChannel();
    const answers = [ask(queue, "1"), ask(queue, "2")];
    for await (const question of queue.questions) {
      question.cancel();
      break;
    }
    (await next(queue, "form")).decline();
    expect(await Promise.all(answers)).toEqual([{ action: "cancel" }, { action: "decline" }]);
  });

  it("advertises only the kinds it accepts", () => {
    expect(createQueueChannel().channel.abilities).toMatchObject({
      elicitation: { form: {}, url: {} },
      sampling: {},
    });
    expect(createQueueChannel({ kinds: ["form"] }).channel.abilities).toEqual({ elicitation: { form: {} } });
    expect(createQueueChannel({ kinds: [] }).channel.abilities).toEqual({});
  });

  it("passes log messages and progress to listeners", () => {
    const told: unknown[] = [];
    const { channel } = createQueueChannel({
      log: (message) => told.push(message),
      progress: (step) => told.push(step),
    });
    channel.log?.({ server: "s", level: "info", data: 1 });
    channel.progress?.({ server: "s", progress: 1 });
    expect(told).toEqual([
      { server: "s", level: "info", data: 1 },
      { server: "s", progress: 1 },
    ]);
    expect(createQueueChannel().channel.log).toBeUndefined();
  });
});
