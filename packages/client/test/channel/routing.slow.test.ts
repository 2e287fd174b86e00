// Two hundred calls from twenty channels at once: every question reaches the channel whose call caused it, and no other.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import {
  type AskPolicy,
  type ChannelAnswers,
  ConnectionPool,
  createChannel,
  type Hub,
  openHub,
  type ServerDefinition,
} from "../../src/index.js";
import { configOf, http, stdio } from "../hub/fixtures.js";

const CHANNELS = 20;
const CALLS = 10;

/** A channel that answers with its own name and records every question that was not meant for it. */
class Witness {
  readonly name: string;
  readonly strays: string[] = [];
  asked = 0;

  constructor(index: number) {
    this.name = `channel-${index}`;
  }

  elicit: NonNullable<ChannelAnswers["elicit"]> = async ({ message }) => {
    this.#note(message);
    return { action: "accept", content: { name: this.name } };
  };

  sample: NonNullable<ChannelAnswers["sample"]> = async (params) => {
    this.#note(JSON.stringify(params));
    return { role: "assistant", model: "test", content: { type: "text", text: this.name } };
  };

  roots: NonNullable<ChannelAnswers["roots"]> = async () => {
    this.asked++;
    return [{ uri: `file:///${this.name}` }];
  };

  #note(question: string): void {
    this.asked++;
    if (!question.includes(`[${this.name}/`)) this.strays.push(question);
  }
}

const TOOLS = ["ask_form", "ask_sampling", "ask_roots", "ask_form", "ask_sampling"];

/** Makes the calls of all channels at the same time, in turn on each of the hubs, and collects the answers by tag. */
async function converse(
  ...hubs: Hub[]
): Promise<{ witnesses: Witness[]; results: { tag: string; text: string; isError: boolean }[] }> {
  const witnesses = Array.from({ length: CHANNELS }, (_, index) => new Witness(index));
  const results = await Promise.all(
    witnesses.map((witness, at) => {
      const hub = hubs[at % hubs.length] as Hub;
      return hub.withChannel(createChannel(witness), () =>
        Promise.all(
          Array.from({ length: CALLS }, async (_, index) => {
            const tag = `${witness.name}/${index}`;
            const tool = TOOLS[index % TOOLS.length] ?? "ask_form";
            const { text, isError } = await hub.call(
              { server: "asking", tool },
              { tag, prompt: "Who are you?" },
              { timeoutMs: 60_000 },
            );
            return { tag, text, isError };
          }),
        ),
      );
    }),
  );
  return { witnesses, results: results.flat() };
}

const answers = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

function open(server: ServerDefinition, askPolicy: AskPolicy = "serialize"): Promise<Hub> {
  return openHub(configOf(server), { answers, askPolicy });
}

async function expectEveryAnswerAtItsCaller(...hubs: Hub[]): Promise<void> {
  const { witnesses, results } = await converse(...hubs);
  expect(witnesses.flatMap(({ strays }) => strays)).toEqual([]);
  expect(witnesses.map(({ asked }) => asked)).toEqual(Array(CHANNELS).fill(CALLS));
  expect(results).toHaveLength(CHANNELS * CALLS);
  for (const { tag, text, isError } of results) {
    expect(isError, text).toBe(false);
    const result = JSON.parse(text);
    expect(result.tag).toBe(tag);
    // The answer contains the name of the channel that gave it.
    expect(JSON.stringify(result.answer)).toContain(tag.split("/")[0]);
  }
}

describe("200 calls from 20 channels, each of which is asked something", () => {
  it("get their own answers from a modern server over stdio", async () => {
    await using hub = await open(stdio("asking"));
    expect(hub.status()[0]?.revision).toBe("2026-07-28");
    await expectEveryAnswerAtItsCaller(hub);
  }, 90_000);

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])(
    "get their own answers from a %s server over Streamable HTTP",
    async (_, args) => {
      await using server = await startServer("asking", ["--http", ...args]);
      await using hub = await open(http("asking", server.url));
      await expectEveryAnswerAtItsCaller(hub);
    },
    90_000,
  );

  it.each(["serialize", "isolate"] as const)(
    "get their own answers from a legacy server over stdio with the policy %s",
    async (policy) => {
      await using hub = await open(
        stdio("asking", ["--legacy-only"], { asks: true, connectTimeoutMs: 60_000 }),
        policy,
      );
      expect(hub.status()[0]?.revision).toBe("2025-11-25");
      await expectEveryAnswerAtItsCaller(hub);
    },
    120_000,
  );

  it("get no answer, rather than another channel's, from a legacy stdio server with the policy decline", async () => {
    await using hub = await open(stdio("asking", ["--legacy-only"]), "decline");
    const { witnesses, results } = await converse(hub);
    expect(witnesses.flatMap(({ strays }) => strays)).toEqual([]);
    expect(results.some(({ text, isError }) => isError || text.includes("cancel"))).toBe(true);
  }, 90_000);

  it("are not answered correctly if the in-flight table is bypassed, which shows that serialize is needed", async () => {
    // `asks: false` lets the calls run in parallel although the server does ask.
    await using hub = await open(stdio("asking", ["--legacy-only"], { asks: false }));
    await expect(expectEveryAnswerAtItsCaller(hub)).rejects.toThrow();
  }, 90_000);
});

describe("200 calls from 20 channels of two hubs that share the server", () => {
  const open = async (connections: ConnectionPool, server: ServerDefinition, workspace: string) => {
    return await openHub(configOf({ ...server, share: "user" }), {
      ...{ answers, connections, workspace },
      // HTTP servers are only shared by hubs with the same sign-ins.
      home: place,
    });
  };
  let place: string;
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), "trunkline-routing-"));
  });
  afterAll(() => rmSync(place, { recursive: true }));

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])(
    "get their own answers from a %s server over stdio",
    async (_, args) => {
      await using pool = new ConnectionPool();
      const server = stdio("asking", args, { connectTimeoutMs: 60_000, ...(args.length > 0 ? { asks: true } : {}) });
      await using one = await open(pool, server, "one");
      await using two = await open(pool, server, "two");
      expect(pool.servers()).toMatchObject([{ hubs: ["", ""], pid: one.status()[0]?.pid }]);
      await expectEveryAnswerAtItsCaller(one, two);
      expect(pool.servers()).toHaveLength(1);
    },
    120_000,
  );

  it.each([
    ["modern", []],
    ["legacy", ["--legacy-only"]],
  ])(
    "get their own answers from a %s server over Streamable HTTP",
    async (_, args) => {
      await using server = await startServer("asking", ["--http", ...args]);
      await using pool = new ConnectionPool();
      await using one = await open(pool, http("asking", server.url), "one");
      await using two = await open(pool, http("asking", server.url), "two");
      await expectEveryAnswerAtItsCaller(one, two);
      expect(pool.servers()).toMatchObject([{ hubs: ["", ""] }]);
    },
    90_000,
  );
});

describe("with one channel in flight", () => {
  it("delivers a legacy stdio server's question to it, even if the connection was opened in another scope", async () => {
    const [first, second] = [new Witness(1), new Witness(2)];
    await using hub = await openHub(configOf(stdio("asking", ["--legacy-only"], { lazy: true })), { answers });
    for (const witness of [first, second]) {
      const tag = `${witness.name}/0`;
      const { text } = await hub.withChannel(createChannel(witness), () => hub.call("asking.ask_form", { tag }));
      expect(JSON.parse(text).answer.content).toEqual({ name: witness.name, agreed: false });
      expect(witness.strays).toEqual([]);
    }
  });
});
