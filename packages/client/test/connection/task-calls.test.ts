import { afterEach, describe, expect, it } from "vitest";
import { startServer } from "../../../../test/servers/start.js";
import {
  type CallProgress,
  createChannel,
  type Elicitation,
  type HubOptions,
  openHub,
  type ServerDefinition,
} from "../../src/index.js";
import { configOf, http, stdio } from "../hub/fixtures.js";
import { Told } from "../hub/told.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const servers: [string, () => Promise<ServerDefinition>][] = (["modern", "legacy"] as const).flatMap((era) => [
  [`${era} stdio server`, async () => stdio("tasking", ["--era", era])],
  [
    `${era} HTTP server`,
    async () => {
      const server = await startServer("tasking", ["--era", era]);
      closing.push(server.close);
      return http("tasking", server.url);
    },
  ],
]);

describe.each(servers)("a task of a %s", (name, define) => {
  const open = async (options: HubOptions = {}) => {
    const hub = await openHub(configOf(await define()), options);
    closing.unshift(() => hub.close());
    return hub;
  };
  const isModern = name.startsWith("modern");

  it("is created if the tool requires it, and returns the result of a plain call", async () => {
    const progress: CallProgress[] = [];
    const messages: (string | undefined)[] = [];
    const hub = await open({ channel: { progress: (told) => void progress.push(told) } });
    const result = await hub.call(
      "tasking.work",
      { steps: 3 },
      { onProgress: ({ message }) => void messages.push(message) },
    );
    expect(result).toMatchObject({ isError: false, text: "work done in 3 steps" });
    expect(Object.keys(result.raw)).not.toContain("resultType");
    // The task's status and the server's progress arrive the same way.
    expect(messages.filter((message) => message !== undefined)).toEqual([
      "started",
      "step 1 of 3",
      "step 2 of 3",
      "done",
    ]);
    expect(progress).toContainEqual({ server: "tasking", tool: "work", progress: 2, total: 3 });
  });

  it("completes although its progress listeners throw", async () => {
    const fail = () => {
      throw new Error("a defect in the listener");
    };
    const hub = await open({ channel: { progress: fail } });
    const result = await hub.call("tasking.work", { steps: 3 }, { onProgress: fail });
    expect(result).toMatchObject({ isError: false, text: "work done in 3 steps" });
  });

  it("is created for an optional tool on request, or if the server decides so", async () => {
    const hub = await open();
    expect((await hub.call("tasking.optional", {}, { task: true })).text).toBe("optional done in 2 steps");
    expect((await hub.call("tasking.optional", {}, { task: { ttlMs: 1_000 } })).text).toBe("optional done in 2 steps");
    expect((await hub.call("tasking.optional", {}, { task: false })).text).toBe("optional done at once");
    expect((await hub.call("tasking.optional")).text).toBe(
      isModern ? "optional done in 2 steps" : "optional done at once",
    );
    expect((await hub.call("tasking.plain", {}, { task: true })).text).toBe("plain done at once");
  });

  it("asks the channel of its call and continues with the answer", async () => {
    const asked: Elicitation[] = [];
    const answering = (given: string) =>
      createChannel({
        elicit: async (elicitation) => {
          asked.push(elicitation);
          return { action: "accept", content: { name: given } };
        },
      });
    // With this policy a question without an owner would be declined; a task's question has one.
    const hub = await open({ answers: { elicitation: { form: {} } }, askPolicy: "decline" });
    const [first, second] = await Promise.all(
      ["Ada", "Bob"].map((given) => hub.withChannel(answering(given), () => hub.call("tasking.ask"))),
    );
    expect(first?.text).toContain('"name":"Ada"');
    expect(second?.text).toContain('"name":"Bob"');
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({ mode: "form", message: "tasking asks: What is your name?" });
  });

  it("rejects if it fails, but not if its result reports a failure", async () => {
    const hub = await open();
    await expect(hub.call("tasking.fail")).rejects.toMatchObject({
      code: "UPSTREAM",
      message: expect.stringContaining("it went wrong"),
    });
    expect(await hub.call("tasking.broken")).toMatchObject({ isError: true, text: "it broke" });
  });

  it("is cancelled when its caller gives up", async () => {
    const hub = await open();
    const controller = new AbortController();
    const started = new Told<unknown>();
    const call = hub.call("tasking.forever", {}, { signal: controller.signal, onProgress: started.tell });
    call.catch(() => {});
    await started.next();
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    const [state] = JSON.parse((await hub.call("tasking.state")).text);
    expect(state).toMatchObject({ tool: "forever", status: "cancelled" });
    expect(state.seen.at(-1)).toBe("tasks/cancel");
  });
});
