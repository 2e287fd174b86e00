// The server that asks the client questions, in both eras.

import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Era, type Opened, type Over, open, textOf } from "./clients.js";

const everywhere: { over: Over; era: Era }[] = [
  { over: "stdio", era: "legacy" },
  { over: "stdio", era: "modern" },
  { over: "http", era: "legacy" },
  { over: "http", era: "modern" },
  { over: "sse", era: "legacy" },
];

let onQuestion: (message: string) => void = () => {};

/** Answers every question with the question itself, so a test sees which call it came from. */
function answerWithTheQuestion(client: Client) {
  client.setRequestHandler("elicitation/create", ({ params }) => {
    onQuestion(params.message);
    if (params.mode === "url") return { action: params.url.endsWith("?tag=b") ? "accept" : "decline" };
    const fields = Object.keys(params.requestedSchema.properties);
    return { action: "accept", content: { answer: params.message, fields } };
  });
  client.setRequestHandler("sampling/createMessage", ({ params }) => ({
    role: "assistant",
    model: "test-model",
    content: { type: "text", text: JSON.stringify(params.messages) },
  }));
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///work", name: "work" }] }));
}

async function ask(client: Client, name: string, args = {}) {
  return JSON.parse(textOf(await client.callTool({ name, arguments: args })));
}

describe.each(everywhere)("asking over $over in the $era era", ({ over, era }) => {
  let opened: Opened;
  let client: Client;

  beforeAll(async () => {
    opened = await open("asking", {
      over,
      era,
      client: {
        capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
        inputRequired: { maxRounds: 1_000 },
      },
      prepare: answerWithTheQuestion,
    });
    client = opened.client;
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  test("asks with forms and URLs, and for sampling and roots", async () => {
    expect(await ask(client, "ask_form", { question: "Well?", tag: "a" })).toMatchObject({
      tag: "a",
      answer: {
        action: "accept",
        content: { answer: "Well? [a]", fields: ["name", "size", "agreed", "amount", "colours"] },
      },
    });
    expect(await ask(client, "ask_url", { tag: "b" })).toMatchObject({ tag: "b", answer: { action: "accept" } });
    const sampled = await ask(client, "ask_sampling", { prompt: "Think.", tag: "c" });
    expect(sampled).toMatchObject({ tag: "c", answer: { model: "test-model" } });
    expect(sampled.answer.content.text).toContain("Think. [c]");
    expect(await ask(client, "ask_roots", { tag: "d" })).toMatchObject({
      tag: "d",
      answer: { roots: [{ uri: "file:///work" }] },
    });
  });

  test.each([false, true])("asks many questions (at once: %s)", async (atOnce) => {
    const count = 12;
    const { tag, answers } = await ask(client, "ask_many", { count, at_once: atOnce, tag: "e" });
    expect(tag).toBe("e");
    expect(answers.map((given: { content: { answer: string } }) => given.content.answer)).toEqual(
      Array.from({ length: count }, (_, index) => `Question ${index + 1} of ${count} [e]`),
    );
  });

  test("delivers each answer to its own call", async () => {
    const tags = ["one", "two", "three"];
    const results = await Promise.all(tags.map((tag) => ask(client, "ask_form", { question: "Who?", tag })));
    expect(results.map(({ tag, answer }) => [tag, answer.content.answer])).toEqual(
      tags.map((tag) => [tag, `Who? [${tag}]`]),
    );
  });

  test("keeps asking until it is stopped", async () => {
    const enough = new Promise<void>((resolve) => {
      onQuestion = (message) => {
        if (message === "Question 20 [forever]") resolve();
      };
    });
    const stop = new AbortController();
    const call = client.callTool({ name: "ask_forever", arguments: { tag: "forever" } }, { signal: stop.signal });
    const stopped = expect(call).rejects.toThrow();
    await enough;
    stop.abort();
    await stopped;
    expect(await ask(client, "ask_roots")).toHaveProperty("answer.roots");
  });
});
