// One client that ignores a question cannot block another.
import { fileURLToPath } from "node:url";
import { startDeadline, TrunklineError } from "@trunkline/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Call, InFlightTable } from "../../packages/client/src/channel/in-flight.js";
import { type Channel, openHub } from "../../packages/client/src/index.js";
import { configOf, stdio } from "../../packages/client/test/hub/fixtures.js";
import { leaseholder } from "../support/leaseholder.js";

const abilities = { elicitation: { form: {}, url: {} } };

/** A client that is asked and answers only when the test says so. */
function ignoring() {
  let onAsked = () => {};
  let release = () => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const channel: Channel = {
    abilities,
    ask: async () => {
      onAsked();
      await released;
      return { action: "decline" };
    },
  };
  return { channel, asked, release };
}

const answering: Channel = { abilities, ask: async () => ({ action: "accept", content: { name: "Ada" } }) };

describe("a client that ignores a question of a legacy stdio server", () => {
  it("lets another client's call fail with BUSY, which names the question, and succeed later", async () => {
    await using hub = await openHub(configOf(stdio("asking", ["--legacy-only"])), {
      answers: abilities,
      askWaitMs: 50,
    });
    const ignorant = ignoring();
    const held = hub.call("asking.ask_form", { tag: "one", question: "Which branch?" }, { channel: ignorant.channel });
    await ignorant.asked;
    // The signal only ends a call that would otherwise wait forever.
    const signal = AbortSignal.timeout(30_000);
    const blocked = hub.call("asking.ask_many", { count: 0 }, { channel: answering, signal });
    await expect(blocked).rejects.toMatchObject({
      code: "BUSY",
      retryable: true,
      message: expect.stringContaining("another client's answer to \"Which branch?"),
    });
    ignorant.release();
    await held;
    const again = await hub.call("asking.ask_form", { tag: "two" }, { channel: answering });
    expect(JSON.parse(again.text)).toMatchObject({ answer: { action: "accept", content: { name: "Ada" } } });
  }, 60_000);

  it("does not affect a client that has its own process with the policy isolate", async () => {
    await using hub = await openHub(configOf(stdio("asking", ["--legacy-only"])), {
      answers: abilities,
      askWaitMs: 50,
      askPolicy: "isolate",
    });
    const ignorant = ignoring();
    const held = hub.withChannel(ignorant.channel, () => hub.call("asking.ask_form", { tag: "one" }));
    await ignorant.asked;
    const { text } = await hub.withChannel(answering, () => hub.call("asking.ask_form", { tag: "two" }));
    expect(JSON.parse(text)).toMatchObject({ answer: { action: "accept" } });
    ignorant.release();
    await held;
  });
});

/** What a promise resolves with now; "waits" if it does not. */
async function soon(promise: Promise<unknown>): Promise<unknown> {
  return await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, "waits"))]);
}

describe("turns", () => {
  afterEach(() => void vi.useRealTimers());

  const limits = {
    holder: leaseholder(),
    waitMs: 5,
    signal: undefined,
    onBusy: (question = "") => new TrunklineError("BUSY", question),
  };

  it("are not taken at a server that has never asked", async () => {
    // The call of one client ends only when the other one's arrives.
    const witness = stdio("witness", [], { args: [fileURLToPath(new URL("../docs/witness.js", import.meta.url))] });
    await using hub = await openHub(configOf(witness), { answers: abilities });
    const tell = { method: "notifications/message", params: { level: "info", data: "waiting" } };
    const first = hub.call("witness.tell", tell, { channel: { ...answering } });
    const second = hub.call("witness.seen", {}, { channel: { ...answering }, signal: AbortSignal.timeout(30_000) });
    expect((await second).isError).toBe(false);
    expect((await first).text).toBe("told");
  }, 60_000);

  it("are taken behind calls that began before the server asked", async () => {
    const table = new InFlightTable();
    const first = { abilities };
    table.begin(first);
    const second = table.take({ abilities }, limits);
    expect(await soon(second)).toBe("waits");
    table.end(first);
    await second;
  });

  it("end with BUSY only behind a question, not behind a call that just takes long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    const table = new InFlightTable();
    using deadline = startDeadline({ what: "a call", timeoutMs: 60_000 });
    const open = new Set<string>();
    const channel = { abilities };
    const call: Call = { holder: limits.holder, channel, deadline, questions: 0, open };
    table.add(call);
    await table.take(channel, limits);
    const second = table.take({ abilities }, limits);
    // Many times the wait, without a question.
    vi.advanceTimersByTime(1_000);
    expect(await soon(second)).toBe("waits");
    open.add("Which branch?");
    vi.advanceTimersByTime(10);
    await expect(second).rejects.toMatchObject({ code: "BUSY", message: "Which branch?" });
  });
});
