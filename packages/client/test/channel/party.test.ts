// Channels that speak for the same party count as one for a legacy stdio server, which cannot say which call a question
// belongs to.
import { describe, expect, it } from "vitest";
import { type Channel, openHub } from "../../src/index.js";
import { configOf, stdio } from "../hub/fixtures.js";

const answers = { elicitation: { form: {}, url: {} } };

/** A channel whose answer is controlled by the test. */
class Held implements Channel {
  readonly party: object;
  /** Resolves when the channel has been asked. */
  readonly asked: Promise<void>;
  readonly #released: Promise<void>;
  #ask: () => void = () => {};
  release: () => void = () => {};

  constructor(party: object) {
    this.party = party;
    this.asked = new Promise((resolve) => {
      this.#ask = resolve;
    });
    this.#released = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  readonly abilities = { elicitation: { form: {}, url: {} } };

  async ask() {
    this.#ask();
    await this.#released;
    return { action: "decline" };
  }
}

async function open() {
  return await openHub(configOf(stdio("asking", ["--legacy-only"]), stdio("hello")), {
    answers,
    askPolicy: "serialize",
  });
}

describe("calls from several channels to a legacy stdio server", () => {
  it("run in parallel if the channels belong to one party, even while one of them has an open question", async () => {
    await using hub = await open();
    const party = {};
    const [asking, other] = [new Held(party), new Held(party)];
    const held = hub.withChannel(asking, () => hub.call("asking.ask_form", { tag: "one" }));
    await asking.asked;
    // Asks nothing, and returns while the first call's question is still open.
    const quick = await hub.withChannel(other, () => hub.call("asking.ask_many", { count: 0 }));
    expect(quick.isError).toBe(false);
    asking.release();
    await held;
  });

  it("take turns if the channels belong to different parties", async () => {
    await using hub = await open();
    const [asking, other] = [new Held({}), new Held({})];
    const held = hub.withChannel(asking, () => hub.call("asking.ask_form", { tag: "one" }));
    await asking.asked;
    let isDone = false;
    const waiting = hub
      .withChannel(other, () => hub.call("asking.ask_many", { count: 0 }))
      .finally(() => {
        isDone = true;
      });
    // Meanwhile calls to an idle server complete; the waiting one does not.
    for (let call = 0; call < 20; call += 1) await hub.call("hello.hello");
    expect(isDone).toBe(false);
    asking.release();
    await held;
    expect((await waiting).isError).toBe(false);
  });
});
