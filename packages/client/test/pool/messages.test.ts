// Messages of a shared server reach the hub they belong to, and no other.
import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { leaseholder } from "../../../../test/support/leaseholder.js";
import { withFileLock } from "../../src/auth/file-lock.js";
import { Conversation } from "../../src/connection/server-conversation.js";
import type { Channel, ServerLog } from "../../src/index.js";
import { pinFolder, pinOwner, pinPath } from "../../src/pins/pin-file.js";
import { Home } from "../auth/fixtures.js";
import { stdio } from "../hub/fixtures.js";
import { createSignal, PoolHubs, pidsOf } from "./fixtures.js";

const abilities = { elicitation: { form: {}, url: {} } };
const legacy = stdio("asking", ["--legacy-only"]);

describe("a log message", () => {
  it("during a call reaches the call's channel and the listeners of its hub only", async () => {
    await using hubs = new PoolHubs();
    const seen: string[] = [];
    const channelOf = (name: string): Channel => ({ log: ({ data }: ServerLog) => void seen.push(`${name}: ${data}`) });
    const one = await hubs.open(stdio("talking"), { channel: channelOf("one") });
    const two = await hubs.open(stdio("talking"), { channel: channelOf("two") });
    expect(pidsOf([one, two])).toHaveLength(1);
    one.onNotification((_, method) => void seen.push(`one heard ${method}`));
    two.onNotification((_, method) => void seen.push(`two heard ${method}`));
    await one.call("talking.say", { level: "info", text: "hello" });
    expect(seen).toEqual(["one: hello", "one heard notifications/message"]);
    seen.length = 0;
    await two.call("talking.say", { level: "info", text: "hi" }, { channel: channelOf("three") });
    expect(seen).toEqual(["three: hi", "two heard notifications/message"]);
  });
});

describe("a log message after a call", () => {
  it("reaches none of several hubs: it may be about another one's call", async () => {
    const seen: string[] = [];
    const holders = ["one", "two"].map((name) =>
      leaseholder({ channel: { log: ({ data }) => void seen.push(`${name}: ${data}`) } }),
    );
    const { logger } = leaseholder();
    const conversation = new Conversation({
      definition: legacy,
      policy: "serialize",
      logger,
      holders: () => holders,
      onRootsAsked: () => true,
    });
    const say = () => conversation.notice("notifications/message", { level: "info", data: "late" }, undefined);
    expect(say()).toEqual([]);
    expect(seen).toEqual([]);
    expect(conversation.notice("notifications/tools/list_changed", {}, undefined)).toEqual(holders);
    holders.shift();
    expect(say()).toEqual(holders);
    expect(seen).toEqual(["two: late"]);
  });
});

describe("a question", () => {
  it("of one of a client's calls survives the end of another", async () => {
    await using hubs = new PoolHubs();
    const hub = await hubs.open(legacy, { answers: abilities });
    const party = {};
    const ended = createSignal();
    const accept = { action: "accept", content: { answer: "yes" } };
    const asked: string[] = [];
    const channelOf = (name: string, answer: (message: string) => Promise<object>): Channel => ({
      abilities,
      party,
      ask: async ({ params }) => {
        const message = String(params?.message);
        asked.push(`${name}: ${message.slice(-3)}`);
        return { ...(await answer(message)) };
      },
    });
    const one = channelOf("one", async () => accept);
    // Asked for the other call, it fails with the end of its own, as the channel of a served client does.
    const two = channelOf("two", async (message) => {
      if (message.includes("[2]")) return accept;
      await ended.promise;
      throw new Error("The call has ended.");
    });
    const first = hub.call("asking.ask_many", { count: 1, tag: "1" }, { channel: one });
    const second = hub.call("asking.ask_many", { count: 1, tag: "2" }, { channel: two });
    void second.then(ended.resolve);
    for (const call of [first, second]) expect(JSON.parse((await call).text).answers).toEqual([accept]);
    expect(asked.at(-1)).toBe("one: [1]");
  });

  it("of another hub's call is not named to the calls that wait behind it", async () => {
    await using hubs = new PoolHubs();
    const options = { answers: abilities, askWaitMs: 50 };
    const [one, two] = [await hubs.open(legacy, options), await hubs.open(legacy, options)];
    const [asked, released] = [createSignal(), createSignal()];
    const ignoring: Channel = {
      abilities,
      ask: async () => {
        asked.resolve();
        await released.promise;
        return { action: "decline" };
      },
    };
    const held = one.call("asking.ask_form", { question: "Which branch of project X?" }, { channel: ignoring });
    await asked.promise;
    const answering: Channel = { abilities, ask: async () => ({ action: "decline" }) };
    await expect(two.call("asking.ask_many", { count: 0 }, { channel: answering })).rejects.toMatchObject({
      code: "BUSY",
      message: 'Server "asking" waits for another client\'s answer.',
    });
    released.resolve();
    expect((await held).isError).toBe(false);
    expect((await two.call("asking.ask_many", { count: 0 }, { channel: answering })).isError).toBe(false);
  });

  it("outside any call is cancelled, unless exactly one hub is there to be asked", async () => {
    const asked: string[] = [];
    const nameless = (name: string) =>
      leaseholder({
        channel: {
          abilities,
          ask: async () => {
            asked.push(name);
            return { action: "accept", content: {} };
          },
        },
      });
    const holders = [nameless("one"), nameless("two")];
    const { logger } = leaseholder();
    const conversation = new Conversation({
      definition: legacy,
      policy: "serialize",
      logger,
      holders: () => holders,
      onRootsAsked: () => true,
    });
    const question = {
      method: "elicitation/create",
      params: { message: "Who?", requestedSchema: { type: "object", properties: {} } },
    };
    const ask = () => conversation.answer(question, { call: undefined, signal: new AbortController().signal });
    expect(await ask()).toEqual({ action: "cancel" });
    expect(asked).toEqual([]);
    holders.shift();
    expect(await ask()).toEqual({ action: "accept", content: {} });
    expect(asked).toEqual(["two"]);
  });

  it("is never put to a hub without a channel because of another hub's call", async () => {
    await using hubs = new PoolHubs();
    const seen: string[] = [];
    const channelOf = (name: string): Channel => ({
      abilities,
      ask: async () => {
        seen.push(name);
        return { action: "accept", content: { name } };
      },
    });
    const one = await hubs.open(legacy, { answers: abilities, channel: channelOf("one") });
    const two = await hubs.open(legacy, { answers: abilities });
    await two.call("asking.ask_form");
    expect(seen).toEqual([]);
    await one.call("asking.ask_form");
    expect(seen).toEqual(["one"]);
  });
});

describe("one hub's trouble does not delay another", () => {
  it("when its pinned definitions are locked while it lists", async () => {
    using home = new Home();
    await using hubs = new PoolHubs();
    // With a folder of its own, the server is the same with and without a home.
    const server = stdio("hello", [], { cwd: home.path, identity: "hello" });
    const path = pinPath(pinFolder(home.path), pinOwner(server));
    mkdirSync(pinFolder(home.path), { recursive: true });
    const [locked, released] = [createSignal(), createSignal()];
    const holding = withFileLock(`${path}.lock`, async () => {
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const opening = hubs.open(server, { home: home.path });
    const two = await hubs.open(server);
    expect((await two.call("hello.hello")).text).toBe("Hello, world!");
    expect(hubs.pool.servers()).toMatchObject([{ hubs: ["", ""] }]);
    released.resolve();
    await holding;
    const one = await opening;
    expect(one.tools()).toHaveLength(2);
    expect(pidsOf([one, two])).toHaveLength(1);
  });

  it("when the server floods it", async () => {
    await using hubs = new PoolHubs();
    const heard = { one: 0, two: 0 };
    const one = await hubs.open(stdio("flooding", ["--legacy-only"]), { channel: { log: () => void heard.one++ } });
    const two = await hubs.open(stdio("flooding", ["--legacy-only"]), { channel: { log: () => void heard.two++ } });
    const flood = one.call("flooding.logs", { count: 2_000 });
    const calls = Array.from({ length: 10 }, () => two.call("flooding.big", { bytes: 10 }));
    expect((await Promise.all(calls)).every(({ isError }) => !isError)).toBe(true);
    expect((await flood).isError).toBe(false);
    expect(heard.two).toBe(0);
  });
});
