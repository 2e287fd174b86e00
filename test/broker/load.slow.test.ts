import { describe, expect, it } from "vitest";
import { isRunning, User, type Window } from "./windows.js";

const CLIENTS = 5;
const KILLS = 20;
const CALLS_AT_ONCE = 3;

/** Calls until it is stopped, and keeps account of every answer. */
class Caller {
  readonly window: Window;
  readonly #name: string;
  readonly #workers: Promise<void>[];
  #isStopped = false;
  #count = 0;
  answers = 0;
  errors = 0;
  readonly wrong: string[] = [];
  readonly added: string[] = [];

  constructor(window: Window, name: string) {
    this.window = window;
    this.#name = name;
    this.#workers = Array.from({ length: CALLS_AT_ONCE }, () => this.#work());
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      const key = `${this.#name}.${this.#count++}`;
      const [tool, args, expected] =
        this.#count % 2 === 0
          ? (["echo", { text: key }, new RegExp(`^${key} \\d+$`)] as const)
          : (["add", { key }, new RegExp(`^added ${key}$`)] as const);
      const answer = await this.window.call(tool, args);
      const text = answer.result?.content?.[0]?.text;
      if (text !== undefined && expected.test(text) && !answer.result?.isError) {
        this.answers += 1;
        if (tool === "add") this.added.push(key);
      } else if (tool === "add" && answer.error?.data?.code === "SERVER_EXITED") this.errors += 1;
      // A call that can be repeated never fails because of the broker.
      else this.wrong.push(`${tool} ${key}: ${JSON.stringify(answer)}`);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
  }
}

async function allAnswered(callers: readonly Caller[]): Promise<void> {
  const before = callers.map(({ answers }) => answers);
  await expect.poll(() => callers.every(({ answers }, at) => answers > (before[at] ?? 0))).toBe(true);
}

describe("a broker that is killed again and again while clients call", () => {
  it("gives no wrong answer, runs no call twice, and loses no session or process", async () => {
    await using user = new User();
    const windows = await Promise.all(Array.from({ length: CLIENTS }, () => user.greet()));
    const callers = windows.map((window, at) => new Caller(window, `c${at}`));
    const brokers: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      // Every other broker is killed as soon as it exists, the others once each client has had an answer from them.
      if (kill % 2 === 0) await allAnswered(callers);
      await expect.poll(() => user.brokers.length, { interval: 5 }).toBe(1);
      const { broker } = user;
      brokers.push(broker);
      process.kill(broker, "SIGKILL");
      await expect.poll(() => isRunning(broker)).toBe(false);
    }
    await allAnswered(callers);
    await Promise.all(callers.map((caller) => caller.stop()));
    expect(callers.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(windows.flatMap(({ strange }) => strange)).toEqual([]);
    expect(windows.map(({ stderr }) => stderr).join("")).toBe("");
    expect(new Set(brokers).size).toBe(KILLS);
    // Every call that was answered ran once; one that failed ran at most once.
    const written = user.written.map((line) => line.replace("add ", ""));
    expect(new Set(written).size).toBe(written.length);
    expect(callers.flatMap(({ added }) => added).filter((key) => !written.includes(key))).toEqual([]);
    // The relays, the broker and the server.
    await expect.poll(() => user.processes.length).toBe(CLIENTS + 2);
  });
});
