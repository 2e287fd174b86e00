import { Writable } from "node:stream";
import { JsonBytes } from "@trunkline/protocol";
import { describe, expect, test } from "vitest";
import { LineWriter } from "../../src/endpoints/stdio-lines.js";

/** A writer to a stream that records its writes. */
function start() {
  const writes: string[] = [];
  const gone: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      writes.push(String(chunk));
      done();
    },
  });
  const limits = { droppableBytes: 100, maxBytes: 1_000 };
  const writer = new LineWriter(stream, { limits, onGone: (error) => gone.push(error.message) });
  return { stream, writer, writes, gone };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const progress = { jsonrpc: "2.0", method: "notifications/progress", params: {} };

describe("a line writer", () => {
  test("writes the messages of one turn together and in order", async () => {
    const { writer, writes } = start();
    writer.send({ id: 1 });
    await Promise.resolve();
    writer.send({ id: 2 });
    expect(writes).toEqual([]);
    await turn();
    writer.send({ id: 3 });
    await turn();
    expect(writes).toEqual(['{"id":1}\n{"id":2}\n', '{"id":3}\n']);
  });

  test("keeps the order around a message that is sent as bytes", async () => {
    const { writer, writes } = start();
    writer.send({ id: 1 });
    writer.send({ id: 2, result: { content: new JsonBytes(Buffer.from("[]")) } });
    writer.send({ id: 3 });
    await turn();
    expect(writes.join("")).toBe('{"id":1}\n{"id":2,"result":{"content":[]}}\n{"id":3}\n');
  });

  test("has written everything once it is flushed, without waiting for the end of the turn", async () => {
    const { writer, writes } = start();
    writer.send({ id: 1 });
    await writer.flushed();
    expect(writes.join("")).toBe('{"id":1}\n');
  });

  test("counts the messages of the turn as unread: drops progress first, then gives up on the reader", () => {
    const { writer, gone } = start();
    writer.send({ text: "x".repeat(200) });
    writer.send(progress);
    writer.send({ text: "x".repeat(900) });
    expect(gone).toEqual([]);
    writer.send({ id: 1 });
    expect(gone).toEqual(["The client does not read its messages."]);
  });

  test("drops progress while the reader is behind, but no answer", async () => {
    const { writer, writes } = start();
    writer.send({ text: "x".repeat(200) });
    writer.send(progress);
    writer.send({ id: 1 });
    await turn();
    expect(writes).toEqual([`{"text":"${"x".repeat(200)}"}\n{"id":1}\n`]);
  });

  test("writes nothing more after the reader is gone", async () => {
    const { writer, stream, writes, gone } = start();
    writer.send({ id: 1 });
    stream.destroy(new Error("gone"));
    await turn();
    writer.send({ id: 2 });
    await turn();
    expect(gone).toEqual(["gone"]);
    expect(writes).toEqual([]);
  });
});
