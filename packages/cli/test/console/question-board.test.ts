import type { Channel, QuestionContext } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { channelThrough, type Exchange, withAskThrough } from "../../../gateway/src/interfaces/exchange.js";
import { Call } from "../../../gateway/src/protocol/call.js";
import { QuestionBoard, type WaitingQuestion } from "../../src/console/question-board.js";
import { checkedAnswer } from "../../src/console/question-rows.js";

const FORM = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 2 },
    size: { type: "string", enum: ["small", "large"], default: "small" },
  },
  required: ["name"],
};

function formQuestion(message = "s asks: Who?") {
  return { method: "elicitation/create", params: { message, requestedSchema: FORM } };
}

/** A board, a client that answers when a test says so, and a question to it. */
function ask({ method = "elicitation/create", context = {} as Partial<QuestionContext> } = {}) {
  const board = new QuestionBoard();
  const ending = new AbortController();
  const client = { resolve: (_answer: Record<string, unknown>) => {}, reject: (_error: Error) => {} };
  const answered = new Promise<Record<string, unknown>>((resolve, reject) => {
    Object.assign(client, { resolve, reject });
  });
  let changes = 0;
  let withdrawn: AbortSignal | undefined;
  board.onChange(() => {
    changes += 1;
  });
  const answer = board.through("/p")(
    {
      caller: { name: "cursor" },
      question: { ...formQuestion(), method },
      context: { server: "s", signal: ending.signal, ...context },
    },
    (signal) => {
      withdrawn = signal;
      return answered;
    },
  );
  answer.catch(() => {});
  return { board, ending, client, answer, changes: () => changes, isWithdrawn: () => withdrawn?.aborted === true };
}

const idOf = (board: QuestionBoard) => board.waiting[0]?.id ?? "";

describe("a question on the board", () => {
  it("is answered there first: the client is told that it is withdrawn", async () => {
    const { board, answer, changes, isWithdrawn, client } = ask();
    expect(board.waiting).toHaveLength(1);
    board.answer(idOf(board), { action: "accept", content: { name: "Ada" } });
    expect(board.waiting).toEqual([]);
    expect(isWithdrawn()).toBe(true);
    client.reject(new Error("withdrawn"));
    expect(await answer).toEqual({ action: "accept", content: { name: "Ada" } });
    await expect.poll(changes).toBe(2);
  });

  it("goes away when the client answers first", async () => {
    const { board, answer, client, changes, isWithdrawn } = ask();
    const id = idOf(board);
    client.resolve({ action: "decline" });
    expect(await answer).toEqual({ action: "decline" });
    expect(isWithdrawn()).toBe(false);
    expect(() => board.answer(id, { action: "accept" })).toThrow("no longer open");
    await expect.poll(changes).toBe(2);
  });

  it("takes only the first of two answers given at once", async () => {
    const { board, answer } = ask();
    const id = idOf(board);
    board.answer(id, { action: "decline" });
    expect(() => board.answer(id, { action: "accept" })).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
    expect(await answer).toEqual({ action: "decline" });
  });

  it("goes away when its call is aborted, even if the client does not react", async () => {
    const { board, answer, ending } = ask();
    ending.abort(new TrunklineError("ABORTED", "cancelled"));
    await expect(answer).rejects.toThrow("cancelled");
    expect(board.waiting).toEqual([]);
  });

  it("goes away when the client disconnects", async () => {
    const { board, answer, client } = ask();
    client.reject(new TrunklineError("CLOSED", "The client has disconnected."));
    await expect(answer).rejects.toThrow("disconnected");
    expect(board.waiting).toEqual([]);
  });

  it("is not there if it is for a model or a program", async () => {
    const { board, answer, client } = ask({ method: "sampling/createMessage" });
    expect(board.waiting).toEqual([]);
    client.resolve({ role: "assistant" });
    expect(await answer).toEqual({ role: "assistant" });
  });
});

describe("an answer from the page", () => {
  const question = (params: object): WaitingQuestion => ({
    id: "1",
    sinceMs: 0,
    folder: "/p",
    caller: { name: "cursor" },
    question: { method: "elicitation/create", params: { ...params } },
    context: { server: "s", signal: new AbortController().signal },
  });
  const form = question({ requestedSchema: FORM });

  it.each([
    ["is too short", { name: "A" }, "Name: It must have at least 2 characters."],
    ["is missing", {}, "Name: This is required."],
    ["is not an option", { name: "Ada", size: "huge" }, "size: It must be one of small, large."],
    ["has another type", { name: 7 }, "Name: It must be text."],
    ["is not in the form", { name: "Ada", admin: true }, 'The form has no field "admin".'],
  ])("is refused if a value %s", (_, content, message) => {
    expect(() => checkedAnswer(form, { action: "accept", content })).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message }),
    );
  });

  it("gets the form's defaults", () => {
    expect(checkedAnswer(form, { action: "accept", content: { name: "Ada" } })).toEqual({
      action: "accept",
      content: { name: "Ada", size: "small" },
    });
  });

  it("has no content unless a form was accepted", () => {
    const visit = question({ mode: "url", url: "https://a.example" });
    expect(checkedAnswer(visit, { action: "accept", content: { name: "Ada" } })).toEqual({ action: "accept" });
    expect(checkedAnswer(form, { action: "decline" })).toEqual({ action: "decline" });
  });
});

describe("a modern client's call", () => {
  const view = { outlet: { send: () => {} }, progressToken: undefined, logLevel: undefined };
  const caller = {
    id: "1",
    principal: "ada",
    name: "zed",
    era: "modern",
    revision: "2026-07-28",
    endpoint: "http",
    lasting: false,
    capabilities: { elicitation: {} },
  } as const;

  it("does not take a late answer to one question for an answer to the next of the same name", async () => {
    const board = new QuestionBoard();
    const call = new Call({ caller, meta: {}, view });
    call.run(async (given) => {
      const { channel, signal } = withAskThrough(given, board.through("/p"));
      const answers = [];
      for (const message of ["First?", "Second?"])
        answers.push(await channel.ask?.(formQuestion(message), { server: "s", key: "name", signal }));
      return { answers };
    });
    expect(await call.turn()).toEqual({ kind: "asks" });
    expect(Object.keys(call.questions)).toEqual(["name"]);
    board.answer(idOf(board), { action: "accept", content: { name: "one" } });
    await expect.poll(() => board.waiting[0]?.question.params?.message).toBe("Second?");
    // The client repeats its request with what its user said to the first question.
    call.answer({ name: { action: "accept", content: { name: "late" } } });
    expect(call.hasQuestions).toBe(true);
    const [key = ""] = Object.keys(call.questions);
    call.answer({ [key]: { action: "accept", content: { name: "two" } } });
    expect(await call.turn()).toMatchObject({
      kind: "result",
      result: { answers: [{ content: { name: "one" } }, { content: { name: "two" } }] },
    });
    expect(board.waiting).toEqual([]);
  });

  it("leaves nothing on the board when it is dropped", async () => {
    const board = new QuestionBoard();
    const call = new Call({ caller, meta: {}, view });
    call.run(async (given) => {
      const { channel, signal } = withAskThrough(given, board.through("/p"));
      return { answer: await channel.ask?.(formQuestion(), { server: "s", signal }) };
    });
    await call.turn();
    call.cancel(new TrunklineError("TIMEOUT", "The client did not return with an answer."));
    await expect.poll(() => board.waiting).toEqual([]);
  });
});

describe("very many questions", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Asks in a board, as a server of a folder; the client never answers. */
  function askOn(board: QuestionBoard, { folder = "/p", server = "s", isOwn = false } = {}) {
    const ending = new AbortController();
    const answer = board.through(folder)(
      {
        caller: { name: "cursor" },
        question: formQuestion(),
        context: { server, signal: ending.signal, ...(isOwn ? { isOwn } : {}) },
      },
      () => new Promise(() => {}),
    );
    answer.catch(() => {});
    return { answer, end: () => ending.abort(new Error("ended")) };
  }

  it("are told once at once, and then at most ten times a second", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const board = new QuestionBoard();
    const seen: number[] = [];
    board.onChange(() => seen.push(board.waiting.length));
    const asked = Array.from({ length: 50 }, () => askOn(board));
    expect(seen).toEqual([1]);
    vi.advanceTimersByTime(99);
    expect(seen).toEqual([1]);
    vi.advanceTimersByTime(1);
    expect(seen).toEqual([1, 50]);
    for (const { end } of asked) end();
    expect(seen).toEqual([1, 50]);
    vi.advanceTimersByTime(100);
    expect(seen).toEqual([1, 50, 0]);
    vi.advanceTimersByTime(10_000);
    expect(seen).toEqual([1, 50, 0]);
    askOn(board);
    expect(seen).toEqual([1, 50, 0, 1]);
  });

  it("of one server hide no others, and are shown a hundred at a time", async () => {
    const board = new QuestionBoard();
    const asked = Array.from({ length: 150 }, () => askOn(board));
    const ids = board.waiting.map(({ id }) => id);
    expect(ids).toHaveLength(100);
    askOn(board, { server: "t" });
    askOn(board, { folder: "/q" });
    askOn(board, { isOwn: true });
    expect(board.waiting).toHaveLength(103);
    asked[0]?.end();
    expect(board.waiting).toHaveLength(103);
    expect(board.waiting.slice(0, 99).map(({ id }) => id)).toEqual(ids.slice(1));
  });

  it("are all answered by their client, shown or not", async () => {
    const board = new QuestionBoard();
    for (let count = 0; count < 100; count++) askOn(board);
    const answer = board.through("/p")(
      { caller: { name: "cursor" }, question: formQuestion(), context: { server: "s", signal: neverAborted() } },
      async () => ({ action: "decline" }),
    );
    expect(board.waiting).toHaveLength(100);
    expect(await answer).toEqual({ action: "decline" });
  });
});

function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

describe("an exchange with the console", () => {
  it("keeps a signal that is created on demand, and a channel with private state", async () => {
    const signal = new AbortController().signal;
    class Lazy implements Exchange {
      readonly caller = { id: "1", name: "cursor" } as Exchange["caller"];
      readonly channel = new PrivateChannel();
      readonly meta = {};
      get signal() {
        return signal;
      }
    }
    class PrivateChannel implements Channel {
      readonly #said: unknown[] = [];
      readonly abilities = { elicitation: { form: {} } };
      log(message: { data: unknown }) {
        this.#said.push(message.data);
      }
      async ask() {
        return { action: "accept", content: { said: this.#said } };
      }
    }
    const given = new Lazy();
    const shared = withAskThrough(given, new QuestionBoard().through("/p"));
    expect(shared.signal).toBe(signal);
    expect(shared.channel.party).toBe(given.channel);
    shared.channel.log?.({ server: "s", level: "info", data: "hi" });
    expect(await shared.channel.ask?.(formQuestion(), { server: "s", signal })).toMatchObject({
      content: { said: ["hi"] },
    });
  });

  it("stays as it is if its client cannot be asked", () => {
    const channel: Channel = { name: "cursor" };
    expect(channelThrough(channel, { name: "cursor" }, new QuestionBoard().through("/p"))).toBe(channel);
  });
});
