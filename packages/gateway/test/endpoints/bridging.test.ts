// Connects real servers with real clients of the opposite era: a server's question reaches the client that made the
// call, and the answer reaches the server.
import { openHub } from "@trunkline/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import { configOf, http, stdio } from "../../../client/test/hub/fixtures.js";
import type { McpService } from "../../src/interfaces/mcp-service.js";
import { createTestService } from "../protocol/test-service.js";
import { callModern, type Message, Session, StreamReader, startHttp } from "./http-client.js";

const answers = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** An endpoint that forwards every call to one server through a hub. */
async function serveThrough(server: ReturnType<typeof stdio> | ReturnType<typeof http>): Promise<string> {
  const hub = await openHub(configOf(server), { answers });
  const handle: McpService["handle"] = async (_, { name, arguments: args = {} }, { channel, signal }) => {
    const call = () => hub.callTool(server.name, String(name), args as Record<string, unknown>, { signal });
    return (await hub.withChannel(channel, call)).raw;
  };
  const { url } = await startHttp({ service: { ...createTestService(), handle } });
  onTestFinished(() => hub.close());
  return url;
}

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** Answers questions until there is a result, like a modern client. */
async function converse(url: string, tool: string, args: object, answer: (question: Message) => object) {
  let more = {};
  for (let rounds = 1; ; rounds += 1) {
    const { last } = await callModern(url, tool, args, { capabilities, more });
    if (last.result?.resultType !== "input_required") return { last, rounds };
    const { inputRequests, requestState } = last.result;
    const entries = Object.entries<Message>(inputRequests).map(([key, question]) => [key, answer(question)]);
    more = { requestState, inputResponses: Object.fromEntries(entries) };
  }
}

const legacyServers = {
  "over stdio": async () => stdio("asking", ["--legacy-only"]),
  "over HTTP": async () => {
    const server = await startServer("asking", ["--legacy-only"]);
    onTestFinished(() => server.close());
    return http("asking", server.url);
  },
};

describe.each(Object.entries(legacyServers))(
  "a legacy server %s that asks during a modern client's call",
  (_, start) => {
    test("gets its answer with the repeated call", async () => {
      const url = await serveThrough(await start());
      const { last, rounds } = await converse(url, "ask_form", { tag: "t1" }, ({ method, params }) => {
        expect(method).toBe("elicitation/create");
        expect(params.message).toContain("[t1]");
        return { action: "accept", content: { name: "Ada", agreed: true } };
      });
      expect(rounds).toBe(2);
      expect(JSON.parse(last.result.content[0].text)).toMatchObject({
        tag: "t1",
        answer: { action: "accept", content: { name: "Ada", agreed: true } },
      });
    });

    test("can ask as often as it likes", async () => {
      const url = await serveThrough(await start());
      let asked = 0;
      const { last } = await converse(url, "ask_many", { count: 3 }, () => {
        asked += 1;
        return { action: "accept", content: { answer: `answer ${asked}` } };
      });
      expect(asked).toBe(3);
      expect(last.result.content[0].text).toContain("answer 3");
    });

    test("can sample and list roots", async () => {
      const url = await serveThrough(await start());
      const sampled = await converse(url, "ask_sampling", { prompt: "Who?" }, () => ({
        role: "assistant",
        model: "m",
        content: { type: "text", text: "me" },
      }));
      expect(sampled.last.result.content[0].text).toContain("me");
      const rooted = await converse(url, "ask_roots", {}, () => ({ roots: [{ uri: "file:///here" }] }));
      expect(rooted.last.result.content[0].text).toContain("file:///here");
    });
  },
);

describe("a modern server that asks during a legacy client's call", () => {
  test("sends its question to the client as a request on the call's stream", async () => {
    const url = await serveThrough(stdio("asking"));
    const session = await Session.open(url, { capabilities });
    const params = { name: "ask_many", arguments: { count: 2, at_once: true } };
    const stream = new StreamReader(await session.send({ jsonrpc: "2.0", id: "c", method: "tools/call", params }));
    for (const number of [1, 2]) {
      const question = await stream.next();
      expect(question).toMatchObject({ method: "elicitation/create" });
      const result = { action: "accept", content: { answer: `answer ${number}` } };
      await session.send({ jsonrpc: "2.0", id: question.id, result });
    }
    const answer = await stream.next();
    expect(answer).toMatchObject({ id: "c" });
    expect(answer.result.content[0].text).toContain("answer 2");
  });
});

describe("a modern server that asks during a modern client's call", () => {
  test("keeps the names of its questions", async () => {
    const url = await serveThrough(stdio("asking"));
    const { last } = await callModern(url, "ask_many", { count: 2, at_once: true }, { capabilities });
    expect(Object.keys(last.result.inputRequests)).toEqual(["question_1", "question_2"]);
  });
});
