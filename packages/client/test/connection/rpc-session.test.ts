// The session on a wire that records what it is given.
import { startDeadline } from "@trunkline/core";
import { META, type OutgoingMessage, type RpcId } from "@trunkline/protocol";
import { describe, expect, it, vi } from "vitest";
import type { Abilities } from "../../src/channel/channel.js";
import type { Call } from "../../src/channel/in-flight.js";
import { RpcSession, type SessionListener } from "../../src/connection/rpc-session.js";
import { LargeMessages, messagesIn } from "../../src/results/large-messages.js";
import type { Wire, WireListener, WireMessage } from "../../src/wire/message-wire.js";

class RecordingWire implements Wire {
  readonly hasOwnStreams: boolean;
  readonly hasSession = false;
  readonly sent: OutgoingMessage[] = [];
  readonly posted: OutgoingMessage[] = [];
  readonly dropped: RpcId[] = [];

  constructor({ hasOwnStreams = false } = {}) {
    this.hasOwnStreams = hasOwnStreams;
  }

  async start(_listener: WireListener): Promise<void> {}
  send(request: OutgoingMessage): void {
    this.sent.push(request);
  }
  async post(message: OutgoingMessage): Promise<void> {
    this.posted.push(message);
  }
  drop(id: RpcId): void {
    this.dropped.push(id);
  }
  setRevision(): void {}
  listen(): void {}
  async close(): Promise<void> {}
}

function sessionOn(
  wire: Wire,
  { abilities = {}, ...listener }: Partial<SessionListener> & { abilities?: Abilities } = {},
) {
  const session = new RpcSession(wire, abilities, {
    onQuestion: async () => ({}),
    onNotification: () => {},
    onError: () => {},
    onStreamLost: () => {},
    onClose: () => {},
    ...listener,
  });
  return session;
}

const message = (fields: Record<string, unknown>) => ({ jsonrpc: "2.0", ...fields }) as WireMessage;
const MODERN = { revision: "2026-07-28", isModern: true, envelope: { [META.protocolVersion]: "2026-07-28" } };
const LEGACY = { revision: "2025-11-25", isModern: false };

/** Something nested too deeply to be handled. */
function deep(): unknown {
  let value: unknown = 1;
  for (let level = 0; level < 600; level++) value = [value];
  return value;
}

describe("an answer", () => {
  it("goes to its request, in whatever order it arrives", async () => {
    const wire = new RecordingWire();
    const session = sessionOn(wire);
    const [first, second] = [
      session.request("tools/call", { name: "a" }),
      session.request("tools/call", { name: "b" }),
    ];
    session.onMessage(message({ id: wire.sent[1]?.id, result: { of: "b" } }), undefined);
    session.onMessage(message({ id: wire.sent[0]?.id, result: { of: "a" } }), undefined);
    expect(await Promise.all([first, second])).toEqual([{ of: "a" }, { of: "b" }]);
  });

  it("may repeat the id as text", async () => {
    const wire = new RecordingWire();
    const session = sessionOn(wire);
    const asked = session.request("ping", {});
    session.onMessage(message({ id: String(wire.sent[0]?.id), result: {} }), undefined);
    expect(await asked).toEqual({});
  });

  it("survives with everything in it", async () => {
    const wire = new RecordingWire();
    const session = sessionOn(wire);
    const asked = session.request("tools/call", {});
    const result = { content: [{ type: "hologram", depth: 3 }], "x-unknown": [1, { a: null }], _meta: { mine: 1 } };
    session.onMessage(message({ id: 1, result }), undefined);
    expect(await asked).toBe(result);
  });

  it.each([
    [
      "an error",
      { error: { code: -32_602, message: "no", data: { why: 1 } } },
      { code: -32_602, message: "no", data: { why: 1 } },
    ],
    ["an error without a code", { error: "no" }, { code: -32_603 }],
    ["no object", { result: 3 }, { message: "its answer is not a protocol message." }],
    [
      "too deep a result",
      { result: { deep: deep() } },
      { message: "the server's answer is nested more than 500 levels deep" },
    ],
  ])("that is %s fails the request", async (_, answer, expected) => {
    const wire = new RecordingWire();
    const session = sessionOn(wire);
    const asked = session.request("tools/call", {});
    session.onMessage(message({ id: 1, ...answer }), undefined);
    await expect(asked).rejects.toMatchObject(expected);
  });

  it("does not overtake the progress before it", async () => {
    const wire = new RecordingWire();
    const order: string[] = [];
    const session = sessionOn(wire, { onNotification: (_, { progress }) => void order.push(`progress ${progress}`) });
    const asked = session.request("tools/call", {}).then(() => void order.push("answer"));
    // More than pass at once.
    for (let progress = 1; progress <= 60; progress++) {
      session.onMessage(
        message({ method: "notifications/progress", params: { progressToken: "t", progress } }),
        undefined,
      );
    }
    session.onMessage(message({ id: 1, result: {} }), undefined);
    await asked;
    expect(order.slice(-2)).toEqual(["progress 60", "answer"]);
  });

  it("that is large and comes too late frees its memory", async () => {
    const wire = new RecordingWire();
    const session = sessionOn(wire);
    const large = new LargeMessages("test");
    try {
      const text = JSON.stringify({
        jsonrpc: "2.0",
        id: 7,
        result: { content: [{ type: "text", text: "x".repeat(300_000) }] },
      });
      const opened = vi.spyOn(large, "open");
      const [late] = await messagesIn(large, Buffer.from(text));
      session.onMessage(late as WireMessage, undefined);
      const result = await opened.mock.results[0]?.value;
      if (result.kind !== "result") throw new Error(result.kind);
      await expect(result.handle.fields()).rejects.toMatchObject({ code: "RESULT_TOO_LARGE" });
    } finally {
      await large.close();
    }
  });
});

describe("a request whose time is up", () => {
  const passed = (agreement: typeof MODERN | typeof LEGACY, method: string, hasOwnStreams: boolean) => {
    const wire = new RecordingWire({ hasOwnStreams });
    const session = sessionOn(wire);
    session.agree(agreement);
    const deadline = startDeadline({ what: "It" });
    const asked = session.request(method, {}, { deadline });
    deadline.fail(new Error("over"));
    return { wire, session, asked };
  };

  it("is cancelled at a server that shares one stream", async () => {
    const { wire, asked } = passed(LEGACY, "tools/call", false);
    await expect(asked).rejects.toThrow("over");
    expect(wire.posted).toMatchObject([{ method: "notifications/cancelled", params: { requestId: 1 } }]);
  });

  it("is cancelled at a legacy HTTP server, and its stream closed", async () => {
    const { wire, asked } = passed(LEGACY, "tools/call", true);
    await expect(asked).rejects.toThrow("over");
    expect(wire.posted).toHaveLength(1);
    expect(wire.dropped).toEqual([1]);
  });

  it("is cancelled at a modern HTTP server by closing its stream", async () => {
    const { wire, asked } = passed(MODERN, "tools/call", true);
    await expect(asked).rejects.toThrow("over");
    expect(wire).toMatchObject({ posted: [], dropped: [1] });
  });

  it.each(["initialize", "server/discover"])("is not cancelled if it is %s", async (method) => {
    const { wire, asked } = passed(LEGACY, method, false);
    await expect(asked).rejects.toThrow("over");
    expect(wire).toMatchObject({ posted: [], dropped: [1] });
  });

  it("ignores an answer that comes later", async () => {
    const { session, asked } = passed(LEGACY, "tools/call", false);
    await expect(asked).rejects.toThrow("over");
    expect(() => session.onMessage(message({ id: 1, result: {} }), undefined)).not.toThrow();
  });
});

describe("a question", () => {
  const FORM = { message: "Who?", requestedSchema: { type: "object", properties: {} } };
  const ask = async (
    abilities: Abilities,
    method: string,
    params: unknown,
    agreement = LEGACY as typeof LEGACY | typeof MODERN,
  ) => {
    const wire = new RecordingWire();
    const session = sessionOn(wire, { abilities, onQuestion: async (question) => ({ answered: question.method }) });
    session.agree(agreement);
    session.onMessage(message({ id: 5, method, params }), undefined);
    await vi.waitFor(() => expect(wire.posted).toHaveLength(1));
    return wire.posted[0];
  };

  it("is answered if the client can", async () => {
    expect(await ask({ elicitation: { form: {} } }, "elicitation/create", FORM)).toEqual({
      jsonrpc: "2.0",
      id: 5,
      result: { answered: "elicitation/create" },
    });
    expect(await ask({}, "ping", undefined)).toMatchObject({ result: {} });
  });

  it.each<[string, Abilities, string, unknown, number]>([
    ["of an unknown kind", {}, "strange/method", {}, -32_601],
    ["the client cannot answer", {}, "sampling/createMessage", { messages: [] }, -32_601],
    [
      "in a mode the client lacks",
      { elicitation: { form: {} } },
      "elicitation/create",
      { mode: "url", message: "Go", url: "https://a.example/" },
      -32_602,
    ],
    [
      "in an unknown mode",
      { elicitation: { form: {}, url: {} } },
      "elicitation/create",
      { ...FORM, mode: "dream" },
      -32_602,
    ],
    ["without a text", { elicitation: { form: {} } }, "elicitation/create", { requestedSchema: {} }, -32_602],
    ["without a form", { elicitation: { form: {} } }, "elicitation/create", { message: "Who?" }, -32_602],
    ["without messages", { sampling: {} }, "sampling/createMessage", { messages: "hi" }, -32_602],
  ])("%s is refused", async (_, abilities, method, params, code) => {
    expect(await ask(abilities, method, params)).toMatchObject({ id: 5, error: { code } });
  });

  it("of a modern server is refused, because it has to ask within a result", async () => {
    expect(await ask({ roots: {} }, "roots/list", {}, MODERN)).toMatchObject({ error: { code: -32_601 } });
  });

  it("comes with the call on whose stream it arrived", async () => {
    const calls: unknown[] = [];
    const session = sessionOn(new RecordingWire(), {
      abilities: { roots: {} },
      onQuestion: async (_, { call }) => {
        calls.push(call);
        return { roots: [] };
      },
    });
    const call = { tool: "mine" } as Call;
    session.onMessage(message({ id: 5, method: "roots/list" }), call);
    session.onMessage(message({ id: 6, method: "roots/list" }), undefined);
    expect(calls).toEqual([call, undefined]);
  });

  it("that is cancelled is not answered", async () => {
    const wire = new RecordingWire();
    let signal: AbortSignal | undefined;
    const session = sessionOn(wire, {
      abilities: { roots: {} },
      onQuestion: async (_, asked) => {
        signal = asked.signal;
        await new Promise((resolve) => asked.signal.addEventListener("abort", resolve));
        return { roots: [] };
      },
    });
    session.onMessage(message({ id: "q", method: "roots/list" }), undefined);
    session.onMessage(message({ method: "notifications/cancelled", params: { requestId: "q" } }), undefined);
    expect(signal?.aborted).toBe(true);
    session.onMessage(message({ id: "p", method: "ping" }), undefined);
    await vi.waitFor(() => expect(wire.posted).toHaveLength(1));
    expect(wire.posted).toMatchObject([{ id: "p" }]);
  });
});

describe("a notification", () => {
  it("that is nested too deeply is dropped, and the next one arrives", () => {
    const heard: string[] = [];
    const session = sessionOn(new RecordingWire(), { onNotification: (method) => void heard.push(method) });
    session.onMessage(message({ method: "notifications/message", params: { data: deep() } }), undefined);
    session.onMessage(
      message({ method: "notifications/progress", params: { progressToken: 1, progress: 1, data: deep() } }),
      undefined,
    );
    session.onMessage(message({ method: "notifications/other", params: "not an object" }), undefined);
    session.onMessage(message({ method: 7 }), undefined);
    expect(heard).toEqual(["notifications/other"]);
  });
});

describe("the end of the wire", () => {
  it("fails what waits, stops what is asked, and ends the streams", async () => {
    const wire = new RecordingWire();
    let signal: AbortSignal | undefined;
    const session = sessionOn(wire, {
      abilities: { roots: {} },
      onQuestion: (_, asked) => {
        signal = asked.signal;
        return new Promise(() => {});
      },
    });
    const asked = session.request("tools/call", {});
    session.onMessage(message({ id: 9, method: "roots/list" }), undefined);
    const stream = session.subscribe({ toolsListChanged: true }, { timeoutMs: 60_000 });
    session.onClose();
    await expect(asked).rejects.toThrow("the connection closed");
    await expect(stream).rejects.toThrow("the connection closed");
    expect(signal?.aborted).toBe(true);
    await expect(session.request("ping", {})).rejects.toThrow("the connection closed");
  });
});

describe("a stream of changes", () => {
  const open = async () => {
    const wire = new RecordingWire();
    const session = sessionOn(wire);
    session.agree(MODERN);
    const opening = session.subscribe({ toolsListChanged: true, promptsListChanged: true }, { timeoutMs: 60_000 });
    await vi.waitFor(() => expect(wire.sent).toHaveLength(1));
    const id = wire.sent[0]?.id as string;
    const acknowledge = () =>
      session.onMessage(
        message({
          method: "notifications/subscriptions/acknowledged",
          params: { notifications: { toolsListChanged: true }, _meta: { [META.subscriptionId]: id } },
        }),
        undefined,
      );
    return { wire, session, opening, id, acknowledge };
  };

  it("is open once the server has acknowledged it, with what the server will report", async () => {
    const { wire, opening, acknowledge } = await open();
    acknowledge();
    expect((await opening).honored).toEqual({ toolsListChanged: true });
    expect(wire.sent[0]).toMatchObject({
      method: "subscriptions/listen",
      params: { notifications: { toolsListChanged: true, promptsListChanged: true }, _meta: MODERN.envelope },
    });
  });

  it.each(["an answer", "a cancellation", "a lost stream"])("ends with %s", async (how) => {
    const { session, opening, id, acknowledge } = await open();
    acknowledge();
    const stream = await opening;
    if (how === "an answer") session.onMessage(message({ id, result: {} }), undefined);
    else if (how === "a lost stream") session.onFailure(id, new Error("lost"));
    else session.onMessage(message({ method: "notifications/cancelled", params: { requestId: id } }), undefined);
    expect(await stream.ended).toBe("remote");
  });

  it("tells the server when it is closed", async () => {
    const { wire, opening, id, acknowledge } = await open();
    acknowledge();
    const stream = await opening;
    stream.close();
    expect(await stream.ended).toBe("local");
    expect(wire.posted).toMatchObject([{ method: "notifications/cancelled", params: { requestId: id } }]);
    expect(wire.dropped).toEqual([id]);
  });

  it("fails if the server refuses it, or says nothing", async () => {
    const refused = await open();
    refused.session.onMessage(message({ id: refused.id, error: { code: -32_601, message: "no" } }), undefined);
    await expect(refused.opening).rejects.toMatchObject({ code: -32_601 });
    const session = sessionOn(new RecordingWire());
    await expect(session.subscribe({}, { timeoutMs: 1 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });
});
