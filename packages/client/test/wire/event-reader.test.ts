import { describe, expect, it, onTestFinished } from "vitest";
import { LargeMessages } from "../../src/results/large-messages.js";
import { EventReader, type EventReaderOptions } from "../../src/wire/event-reader.js";
import { Told } from "../hub/told.js";

interface Read {
  readonly messages: unknown[];
  readonly others: string[];
  readonly ids: string[];
  readonly retries: number[];
  readonly noise: string[];
  readonly refused: (string | undefined)[];
  ended: number;
}

function reading(more: Partial<EventReaderOptions> = {}) {
  const large = new LargeMessages("test");
  onTestFinished(() => large.close());
  const read: Read = { messages: [], others: [], ids: [], retries: [], noise: [], refused: [], ended: 0 };
  const reader = new EventReader({
    maxMessageBytes: 64 * 1024 * 1024,
    large,
    onMessage: (message) => read.messages.push(message),
    onOther: (type, data) => read.others.push(`${type} ${data}`),
    onEventId: (id) => read.ids.push(id),
    onRetry: (ms) => read.retries.push(ms),
    onNoise: ({ message }) => read.noise.push(message),
    onRefused: (error) => read.refused.push(error?.message),
    onEnd: () => read.ended++,
    ...more,
  });
  return { reader, read };
}

const number = (n: number) => ({ jsonrpc: "2.0", method: "n", params: { n } });

describe("an event stream", () => {
  const EVENTS = [
    ["id: 1", "event: message", `data: [${JSON.stringify(number(1))},`, `data: ${JSON.stringify(number(2))}]`],
    [": a comment"],
    ["retry: 5", "id:2", `data:${JSON.stringify(number(3))}`, "unknown: field", "unknown"],
    ["data: [not JSON"],
    ["data: []"],
    ["id: 3", "data:"],
    ["event: endpoint", "data: /grüße 👋"],
    [`data: ${JSON.stringify({ jsonrpc: "2.0", method: "text", params: { text: "Grüße, 世界 👋" } })}`],
    ['data: {"id":1}'],
  ];

  it.each(["\n", "\r\n", "\r"])("with lines that end in %j is read the same wherever it is cut", (end) => {
    const text = `\uFEFF${EVENTS.map((lines) => [...lines, "", ""].join(end)).join("")}data: half`;
    const bytes = Buffer.from(text);
    for (const size of [bytes.length, 1, 2, 3, 7, 64]) {
      const { reader, read } = reading();
      for (let start = 0; start < bytes.length; start += size) void reader.onData(bytes.subarray(start, start + size));
      reader.onEnd();
      expect(read.messages).toEqual([
        number(1),
        number(2),
        number(3),
        { jsonrpc: "2.0", method: "text", params: { text: "Grüße, 世界 👋" } },
      ]);
      expect(read.ids).toEqual(["1", "2", "3"]);
      expect(read.retries).toEqual([5]);
      expect(read.others).toEqual(["endpoint /grüße 👋"]);
      expect(read.noise).toHaveLength(2);
      expect(read.noise[1]).toBe("The server sent an event that is not a message.");
      expect(read.ended).toBe(1);
    }
  });

  it("ignores ids and delays that no server needs", () => {
    const { reader, read } = reading();
    void reader.onData(Buffer.from(`id: ${"x".repeat(5_000)}\nretry: 5s\nretry: 12345678901\nid: a\0b\ndata:\n\n`));
    expect([read.ids, read.retries]).toEqual([[], []]);
  });
});

describe("an event over the limit", () => {
  const tooLarge = (id: number, size = 3_000) =>
    Buffer.from(`data: {"jsonrpc":"2.0","id":${id},"result":{"text":"${"x".repeat(size)}"}}\n\n`);
  const small = Buffer.from(`data: ${JSON.stringify(number(1))}\n\n`);

  it.each([1, 100, 1_500, 100_000])(
    "on a shared stream fails the request that it answers, in pieces of %s bytes",
    (size) => {
      const { reader, read } = reading({ maxMessageBytes: 1_000 });
      const bytes = Buffer.concat([small, tooLarge(7), small]);
      for (let start = 0; start < bytes.length; start += size) void reader.onData(bytes.subarray(start, start + size));
      expect(read.messages).toEqual([
        number(1),
        { jsonrpc: "2.0", id: 7, error: { code: -32_951, message: "the server's answer is larger than 1 KB" } },
        number(1),
      ]);
    },
  );

  it("on the stream of a request fails that request and ends the stream", () => {
    const { reader, read } = reading({ maxMessageBytes: 1_000, requestId: 3 });
    void reader.onData(Buffer.concat([small, tooLarge(3), small]));
    expect(read.messages).toMatchObject([number(1), { id: 3, error: { code: -32_951 } }]);
    expect(read.refused).toEqual([undefined]);
  });

  it("that never ends is refused without being held", () => {
    const { reader, read } = reading({ maxMessageBytes: 1_000 });
    for (let sent = 0; sent < 10; sent++) void reader.onData(Buffer.alloc(1_000, "x"));
    expect(read.refused).toEqual(["The server sent an event that does not end."]);
    expect(read.messages).toEqual([]);
  });
});

describe("a large event", () => {
  const large = Buffer.from(
    `id: 9\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "x".repeat(2_000_000) }] } })}\n\n`,
  );

  it("is read aside, and the stream ends after it has been delivered", async () => {
    const ended = new Told<string>();
    const { reader, read } = reading({ onEnd: () => ended.tell("ended") });
    void reader.onData(Buffer.concat([large, Buffer.from(`data: ${JSON.stringify(number(1))}\n\n`)]));
    reader.onEnd();
    expect(read.messages).toEqual([number(1)]);
    expect(read.ids).toEqual(["9"]);
    await ended.next();
    expect(read.messages).toMatchObject([number(1), { id: 1, result: {} }]);
  });

  it("that is not valid JSON fails the request that it answers", async () => {
    const { reader, read } = reading();
    void reader.onData(Buffer.from(`data: {"jsonrpc":"2.0","id":5,"result":{"text":"${"x".repeat(2_000_000)}"\n\n`));
    await reader.settled();
    expect(read.messages).toMatchObject([{ id: 5, error: { code: -32_951 } }]);
  });

  it("makes the stream wait if there are many", async () => {
    const { reader } = reading();
    expect(reader.onData(Buffer.concat([large, large, large]))).toBeUndefined();
    const waiting = reader.onData(large);
    expect(waiting).toBeInstanceOf(Promise);
    await waiting;
    await reader.settled();
  });
});
