import { describe, expect, test } from "vitest";
import { until } from "../protocol/test-service.js";
import { callModern, type Message, modern, startHttp, textOf } from "./http-client.js";

const capabilities = { elicitation: {}, sampling: {}, roots: {} };
const accept = (name: string) => ({ action: "accept", content: { name } });

/** Returns the questions of a call. */
async function ask(url: string, tool: string, args: object = {}, more: object = {}): Promise<Message> {
  return (await callModern(url, tool, args, { capabilities, more })).last.result;
}

describe("a call that asks a modern client", () => {
  test("returns the question and resumes when the client retries with the answer", async () => {
    const { url, service } = await startHttp();
    const first = await ask(url, "ask", { key: "user_name" });
    expect(first).toMatchObject({
      resultType: "input_required",
      inputRequests: { user_name: { method: "elicitation/create", params: { message: "Your name?" } } },
    });
    const { requestState } = first;
    const second = await ask(url, "ask", {}, { requestState, inputResponses: { user_name: accept("Ada") } });
    expect(second).toMatchObject({ resultType: "complete", content: [{ text: JSON.stringify(accept("Ada")) }] });
    expect(service.exchanges).toHaveLength(1);
  });

  test("asks all pending questions at once", async () => {
    const { url } = await startHttp();
    const { inputRequests, requestState } = await ask(url, "ask_all");
    const keys = Object.keys(inputRequests);
    expect(
      Object.values<Message>(inputRequests)
        .map(({ method }) => method)
        .sort(),
    ).toEqual(["elicitation/create", "roots/list", "sampling/createMessage"]);
    const answers: Message = {
      elicitation: accept("Ada"),
      sampling: { role: "assistant", content: { type: "text", text: "hi" }, model: "m" },
      roots: { roots: [{ uri: "file:///x" }] },
    };
    const inputResponses = Object.fromEntries(keys.map((key) => [key, answers[key.replace(/_\d+$/, "")]]));
    const { content } = await ask(url, "ask_all", {}, { requestState, inputResponses });
    expect(JSON.parse(content[0].text)).toEqual([accept("Ada"), answers.sampling, answers.roots]);
  });

  test("asks again for missing or invalid answers and ignores unsolicited ones", async () => {
    const { url } = await startHttp();
    let { requestState } = await ask(url, "ask", { key: "k" });
    for (const inputResponses of [
      {},
      { other: accept("x") },
      { k: 12 },
      { k: { action: "maybe" } },
      { k: { action: "accept", content: {} } },
    ]) {
      const again = await ask(url, "ask", {}, { requestState, inputResponses });
      expect(again).toMatchObject({ resultType: "input_required", inputRequests: { k: {} } });
      expect(again.requestState).not.toBe(requestState);
      requestState = again.requestState;
    }
    const done = await ask(url, "ask", {}, { requestState, inputResponses: { k: accept("Ada"), extra: accept("x") } });
    expect(done).toMatchObject({ resultType: "complete" });
  });

  test("keeps its answers if the reply got lost", async () => {
    const { url } = await startHttp();
    const first = await ask(url, "ask_twice");
    const [key] = Object.keys(first.inputRequests) as [string];
    const answered = { requestState: first.requestState, inputResponses: { [key]: accept("one") } };
    const second = await ask(url, "ask_twice", {}, answered);
    const repeated = await ask(url, "ask_twice", {}, answered);
    expect(repeated.inputRequests).toEqual(second.inputRequests);
    const [next] = Object.keys(repeated.inputRequests) as [string];
    const { requestState } = repeated;
    const done = await ask(url, "ask_twice", {}, { requestState, inputResponses: { [next]: accept("two") } });
    expect(done.content[0].text).toContain("one");
    expect(done.content[0].text).toContain("two");
  });

  test("answers both of two concurrent retries", async () => {
    const { url } = await startHttp();
    const { inputRequests, requestState } = await ask(url, "ask_then_wait", { ms: 50 });
    const [key] = Object.keys(inputRequests) as [string];
    const answered = { requestState, inputResponses: { [key]: accept("Ada") } };
    const both = await Promise.all([1, 2].map(() => ask(url, "ask_then_wait", {}, answered)));
    for (const result of both) expect(result).toMatchObject({ resultType: "complete" });
  });

  test("accepts an answer sent with the first call, by the question's name", async () => {
    const { url } = await startHttp();
    const inputResponses = { user_name: accept("Ada"), other: accept("Eve") };
    expect(await ask(url, "ask", { key: "user_name" }, { inputResponses })).toMatchObject({ resultType: "complete" });
    expect(await ask(url, "ask", { key: "unheard" }, { inputResponses })).toMatchObject({
      resultType: "input_required",
    });
  });

  test("cannot be resumed with a modified state or the state of another call", async () => {
    const { url } = await startHttp();
    const { requestState } = await ask(url, "ask");
    for (const [tool, state] of [
      ["ask", `${requestState}x`],
      ["ask", 5],
      ["ask", ""],
      ["ask_twice", requestState],
    ] as const) {
      const { last } = await callModern(url, tool, {}, { capabilities, more: { requestState: state } });
      expect(last.error, `${tool} ${state}`).toMatchObject({ code: -32602, data: { reason: "requestState" } });
    }
  });

  test("gives up if the client does not come back in time", async () => {
    const { url, service } = await startHttp({ limits: { parked: { ttlMs: 30, max: 10 } } });
    const { requestState } = await ask(url, "ask");
    await until(() => service.exchanges[0]?.signal.aborted === true);
    const { last } = await callModern(url, "ask", {}, { capabilities, more: { requestState } });
    expect(last.error).toMatchObject({ code: -32602 });
  });

  test("makes room for newer calls if there are too many", async () => {
    const { url, service } = await startHttp({ limits: { parked: { ttlMs: 60_000, max: 2 } } });
    for (const _ of [1, 2, 3]) await ask(url, "ask");
    expect(service.exchanges.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
  });

  test("ends with the endpoint", async () => {
    const { url, service, close } = await startHttp();
    await ask(url, "ask");
    await close();
    expect(service.exchanges[0]?.signal.aborted).toBe(true);
  });

  test("cannot ask for anything the client does not declare", async () => {
    const { url } = await startHttp();
    expect(textOf(await callModern(url, "ask", {}, { capabilities: { sampling: {} } }))).toBe("nobody to ask");
    const { status, last } = await callModern(url, "ask", {}, { capabilities: { elicitation: { url: {} } } });
    expect(status).toBe(400);
    expect(last.error).toMatchObject({
      code: -32021,
      message: expect.stringContaining("elicitation.form"),
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });

  test("rejects answers that are not objects", async () => {
    const { url } = await startHttp();
    const { last } = await callModern(url, "ask", {}, { capabilities, more: { inputResponses: null } });
    expect(last.error).toMatchObject({ code: -32602 });
  });

  test("never turns a list into a question", async () => {
    const { url, service } = await startHttp();
    await modern(url, "tools/list", {}, { capabilities });
    expect(service.exchanges[0]?.channel.ask).toBeUndefined();
  });
});
