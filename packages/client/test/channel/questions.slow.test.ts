import { describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import {
  type Channel,
  createChannel,
  type Elicitation,
  type HubOptions,
  openHub,
  type Question,
  type ServerDefinition,
  type ServerLog,
} from "../../src/index.js";
import { configOf, http, stdio } from "../hub/fixtures.js";

const eras: [string, string[]][] = [
  ["modern", []],
  ["legacy", ["--legacy-only"]],
];

describe.each(eras)("a %s server", (_, args) => {
  const open = (options: HubOptions, server: ServerDefinition = stdio("asking", args)) =>
    openHub(configOf(server), options);

  it("asks the default channel during a call without its own channel", async () => {
    const seen: Elicitation[] = [];
    const channel = createChannel({
      elicit: async (elicitation) => {
        seen.push(elicitation);
        return { action: "accept", content: { name: "Ada", amount: 3 } };
      },
    });
    await using hub = await open({ channel });
    const { text } = await hub.call("asking.ask_form", { tag: "x", question: "Who?" });
    // Missing fields with a default are filled in.
    expect(JSON.parse(text)).toMatchObject({
      tag: "x",
      answer: { action: "accept", content: { name: "Ada", amount: 3, agreed: false } },
    });
    expect(seen).toMatchObject([
      { mode: "form", message: "asking asks: Who? [x]", requestedSchema: { type: "object" } },
    ]);
  });

  it("passes its question to a channel with its name and gets the answer unchanged", async () => {
    const asked: Question[] = [];
    const channel: Channel = {
      abilities: { elicitation: { form: {} } },
      ask: async (question) => {
        asked.push(question);
        return { action: "accept", content: { name: "Ada", acme: "kept" } };
      },
    };
    await using hub = await open({ channel });
    const { text } = await hub.call("asking.ask_form", { tag: "x", question: "Who?" });
    expect(JSON.parse(text).answer.content).toEqual({ name: "Ada", acme: "kept" });
    expect(asked).toMatchObject([{ method: "elicitation/create", params: { message: "asking asks: Who? [x]" } }]);
  });

  it("gets a cancel when the channel's answer is invalid", async () => {
    const channel: Channel = { abilities: { elicitation: { form: {} } }, ask: async () => ({ action: "perhaps" }) };
    await using hub = await open({ channel });
    expect(JSON.parse((await hub.call("asking.ask_form")).text)).toMatchObject({ answer: { action: "cancel" } });
  });

  it("receives a refusal unchanged", async () => {
    for (const action of ["decline", "cancel"] as const) {
      await using hub = await open({ channel: createChannel({ elicit: async () => ({ action }) }) });
      expect(JSON.parse((await hub.call("asking.ask_form")).text)).toMatchObject({ answer: { action } });
    }
  });

  it("asks the user to open a page only if the channel supports it", async () => {
    const urls: string[] = [];
    const channel = createChannel({
      elicit: async (elicitation) => {
        if (elicitation.mode === "url") urls.push(elicitation.url);
        return { action: "accept" };
      },
    });
    await using both = await open({ channel });
    expect(JSON.parse((await both.call("asking.ask_url", { tag: "t" })).text)).toMatchObject({
      answer: { action: "accept" },
    });
    expect(urls).toEqual(["https://asking.example/visit?tag=t"]);

    await using formsOnly = await open({
      channel: createChannel({ elicitationModes: ["form"], elicit: async () => ({ action: "accept" }) }),
    });
    const refused = await formsOnly.call("asking.ask_url").catch((error: unknown) => error);
    expect(JSON.stringify(refused)).not.toContain("accept");
    expect(urls).toHaveLength(1);
  });

  it("is not told about abilities that no channel has", async () => {
    await using hub = await open({});
    const outcome = await hub.call("asking.ask_form").then(
      ({ isError, text }) => ({ refused: isError || text.includes("decline") }),
      () => ({ refused: true }),
    );
    expect(outcome).toEqual({ refused: true });
  });

  it("gets the hub's roots, and a channel's own in its scope", async () => {
    await using hub = await open({ roots: [{ uri: "file:///shared", name: "shared" }] });
    expect(JSON.parse((await hub.call("asking.ask_roots")).text).answer).toMatchObject({
      roots: [{ uri: "file:///shared" }],
    });
    const own = createChannel({ roots: async () => [{ uri: "file:///own" }] });
    const { text } = await hub.withChannel(own, () => hub.call("asking.ask_roots"));
    expect(JSON.parse(text).answer).toMatchObject({ roots: [{ uri: "file:///own" }] });
    // The call may end before its channel has answered.
    const gone = createChannel({ roots: () => Promise.reject(new Error("The call has ended.")) });
    const late = await hub.withChannel(gone, () => hub.call("asking.ask_roots"));
    expect(JSON.parse(late.text).answer).toMatchObject({ roots: [{ uri: "file:///shared" }] });
  });

  it("gets every answer if it asks several times during a call", async () => {
    let count = 0;
    await using hub = await open({
      channel: createChannel({ elicit: async () => ({ action: "accept", content: { answer: String(++count) } }) }),
    });
    expect(JSON.parse((await hub.call("asking.ask_many", { count: 4 })).text).answers).toHaveLength(4);
    expect(JSON.parse((await hub.call("asking.ask_many", { count: 3, at_once: true })).text).answers).toHaveLength(3);
  });

  it("is stopped if it never stops asking", async () => {
    let count = 0;
    const channel = createChannel({
      elicit: async () => {
        count++;
        return { action: "accept", content: { answer: "again" } };
      },
    });
    await using hub = await open({ channel, maxQuestions: 5 });
    await expect(hub.call("asking.ask_forever")).rejects.toMatchObject({
      code: "PROTOCOL",
      message: expect.stringContaining("more than 5 questions"),
    });
    expect(count).toBe(5);
    expect(hub.status()[0]?.state).toBe("connected");
  });

  it("does not use up its call's time while a person thinks", async () => {
    const channel = createChannel({
      elicit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 700));
        return { action: "accept", content: { name: "slow" } };
      },
    });
    await using hub = await open({ channel });
    expect((await hub.call("asking.ask_form", {}, { timeoutMs: 400 })).text).toContain("slow");
  });

  it("gets a cancel or an error if the channel fails", async () => {
    await using hub = await open({
      channel: createChannel({
        elicit: async () => Promise.reject(new Error("window closed")),
        sample: async () => Promise.reject(new Error("no model")),
      }),
    });
    expect(JSON.parse((await hub.call("asking.ask_form")).text)).toMatchObject({ answer: { action: "cancel" } });
    const sampled = await hub.call("asking.ask_sampling", { prompt: "hi" }).then(
      ({ isError }) => isError,
      () => true,
    );
    expect(sampled).toBe(true);
  });

  it("has its question cancelled together with the call", async () => {
    const controller = new AbortController();
    let withdraw: () => void = () => {};
    const withdrawn = new Promise<void>((resolve) => {
      withdraw = resolve;
    });
    const channel = createChannel({
      elicit: (_elicitation, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            withdraw();
            reject(signal.reason);
          });
          controller.abort("enough");
        }),
    });
    await using hub = await open({ channel });
    await expect(hub.call("asking.ask_form", {}, { signal: controller.signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
    await withdrawn;
  });

  it("sends its logs and progress to the call's channel", async () => {
    const logs: ServerLog[] = [];
    const progress: number[] = [];
    const channel: Channel = { log: (message) => logs.push(message), progress: (step) => progress.push(step.progress) };
    await using hub = await openHub(configOf(stdio("flooding", args), stdio("slow", args)), { logLevel: "debug" });
    await hub.withChannel(channel, async () => {
      await hub.call("flooding.logs", { count: 20 });
      await hub.call("slow.wait", { ms: 200, progress_every_ms: 20 });
    });
    expect(logs.length).toBeGreaterThan(10);
    expect(logs[0]).toMatchObject({ server: "flooding", level: expect.any(String) });
    expect(progress.length).toBeGreaterThan(3);
  });
});

describe("over HTTP+SSE", () => {
  it("answers questions too", async () => {
    await using server = await startServer("asking", ["--sse"]);
    await using hub = await openHub(configOf(http("asking", server.url, { type: "sse" })), {
      channel: createChannel({ elicit: async () => ({ action: "accept", content: { name: "Ada" } }) }),
    });
    expect((await hub.call("asking.ask_form")).text).toContain("Ada");
  });
});
