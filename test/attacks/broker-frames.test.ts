// Clients that send the broker what no relay would send: it costs only themselves.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BrokerPlace, brokerPlace } from "../../packages/daemon/src/index.js";
import { takeName } from "../../packages/daemon/src/wire/client-proof.js";
import {
  encodeFrame,
  FRAME,
  frameHead,
  MAX_FRAME_BYTES,
  MAX_HELLO_BYTES,
} from "../../packages/daemon/src/wire/frames.js";
import { tryConnect } from "../../packages/daemon/src/wire/try-connect.js";
import { clientHello, type Message, startBroker, startClient } from "../../packages/daemon/test/support.js";

let home: string;
let place: BrokerPlace;
let broker: Awaited<ReturnType<typeof startBroker>>;
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown) => void unhandled.push(error);

beforeEach(async () => {
  process.on("unhandledRejection", onUnhandled);
  home = mkdtempSync(join(tmpdir(), "tb-"));
  place = brokerPlace({ home });
  broker = await startBroker(place, {
    onMessage: ({ id }, served) => void (id !== undefined && served.send({ id, result: {} })),
    isRepeatable: async () => false,
  });
});

afterEach(async () => {
  await broker.server.stop("end of the test");
  rmSync(home, { recursive: true });
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
});

/** Connects without a hello. */
async function raw(): Promise<Socket & { ended: Promise<void> }> {
  const socket = await tryConnect(place.socket);
  if (typeof socket === "string") throw new Error(socket);
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  return Object.assign(socket, { ended });
}

/** Connects and is served, and then says what it likes. */
async function welcomed(hello: object = {}): Promise<Socket & { ended: Promise<void>; frames: [number, string][] }> {
  const socket = await raw();
  const frames: [number, string][] = [];
  socket.write(encodeFrame(FRAME.hello, JSON.stringify({ ...clientHello(), ...hello })));
  let bytes = Buffer.alloc(0);
  let restore = () => {};
  await new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32LE(0)) {
        const end = 5 + bytes.readUInt32LE(0);
        const [kind, text] = [bytes.readUInt8(4), bytes.toString("utf8", 5, end)];
        bytes = bytes.subarray(end);
        frames.push([kind, text]);
        if (kind === FRAME.proof) {
          void takeName(text).then((giveBack) => {
            restore = giveBack;
            socket.write(encodeFrame(FRAME.proof));
          });
        } else restore();
        if (kind === FRAME.welcome) resolve();
      }
    });
  });
  return Object.assign(socket, { frames });
}

/** Another client, which is served as ever. */
async function expectService(): Promise<void> {
  const client = await startClient(place);
  client.send({ id: 1, method: "ping" });
  expect(await client.until(({ id }: Message) => id === 1)).toMatchObject({ result: {} });
  client.stop();
  await client.finished;
}

describe("before its hello, a connection", () => {
  const hello = (changes: object) => encodeFrame(FRAME.hello, JSON.stringify({ ...clientHello(), ...changes }));

  it.each<[string, Buffer]>([
    ["with more than any process can have", hello({ env: { BIG: "x".repeat(MAX_HELLO_BYTES) } })],
    ["of zeros", Buffer.alloc(5000)],
    ["in another protocol", Buffer.from("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")],
    ["with an unknown frame", encodeFrame(255 as never, "x")],
    ["with a proof at once", encodeFrame(FRAME.proof)],
    ["with a relative folder", hello({ cwd: "../../etc" })],
    ["with a relative home", hello({ userHome: "home" })],
    ["with a folder with a NUL", hello({ cwd: "/a\0b" })],
    ["with arguments that are no texts", hello({ args: [["serve"]] })],
    ["with an environment that is a list", hello({ env: ["A=1"] })],
    ["as a person without a terminal", hello({ kind: "person" })],
    ["with a request that does not exist", hello({ kind: "control", request: "exec" })],
    ["that is null", encodeFrame(FRAME.hello, "null")],
    ["nested deeply", encodeFrame(FRAME.hello, "[".repeat(100_000))],
  ])("%s is closed", async (_, bytes) => {
    const socket = await raw();
    socket.write(bytes);
    await socket.ended;
    expect(broker.clients).toEqual([]);
    await expectService();
  });

  it("that says something else instead of its proof is refused", async () => {
    const socket = await raw();
    const frames: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => void frames.push(chunk));
    socket.write(hello({}));
    socket.write(encodeFrame(FRAME.message, '{"jsonrpc":"2.0","id":1,"method":"ping"}'));
    await socket.ended;
    expect(Buffer.concat(frames).toString()).toContain('"reason":"place"');
    expect(broker.clients).toEqual([]);
  });

  it("with an environment of 10 MB is served", async () => {
    const client = await welcomed({ env: { BIG: "x".repeat(10 * 1024 * 1024) } });
    expect(broker.clients[0]?.hello.env.BIG).toHaveLength(10 * 1024 * 1024);
    client.destroy();
  });

  it("that closes only its own end is closed", async () => {
    const socket = await raw();
    socket.allowHalfOpen = true;
    socket.end();
    await new Promise((resolve) => socket.once("end", resolve).resume());
    socket.destroy();
    await expectService();
  });

  it("one of a thousand that say nothing keeps no one waiting", async () => {
    const silent: Awaited<ReturnType<typeof raw>>[] = [];
    while (silent.length < 1000) silent.push(await raw());
    await expectService();
    for (const socket of silent) socket.destroy();
    await Promise.all(silent.map(({ ended }) => ended));
    await expectService();
  });
});

describe("after its welcome, a client", () => {
  it.each<[string, Buffer]>([
    ["that announces a huge frame", frameHead(FRAME.message, MAX_FRAME_BYTES + 1)],
    ["that announces the largest number", Buffer.from([255, 255, 255, 255, FRAME.message])],
  ])("%s is disconnected", async (_, bytes) => {
    const client = await welcomed();
    client.write(bytes);
    await client.ended;
    await expectService();
  });

  it.each([
    ["no JSON", "{"],
    ["a number", "7"],
    ["null", "null"],
    ["an empty list", "[]"],
    ["a list of nothing", "[null, 7]"],
    ["no id", '{"jsonrpc":"2.0","method":"x"}'],
  ])("that repeats %s gets no answer for it, and is served on", async (_, text) => {
    const client = await welcomed();
    client.write(encodeFrame(FRAME.repeated, text));
    client.write(encodeFrame(FRAME.message, '{"jsonrpc":"2.0","id":1,"method":"ping"}'));
    // The scripted host ends at what is no message; a real one answers with an error.
    await Promise.race([
      client.ended,
      expect.poll(() => client.frames.some(([, line]) => line.includes('"id":1'))).toBe(true),
    ]);
    client.destroy();
    await expectService();
  });

  it("that repeats a batch is told about each of its requests", async () => {
    const client = await welcomed();
    client.write(
      encodeFrame(FRAME.repeated, '[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","id":2,"method":"x"}]'),
    );
    const errors = () => client.frames.filter(([, line]) => line.includes("may or may not have taken effect"));
    await expect.poll(() => errors().length).toBe(2);
    client.destroy();
  });

  it("that sends frames of every kind is served on or disconnected, and no one else notices", async () => {
    for (let kind = 0; kind < 256; kind++) {
      const client = await welcomed();
      for (const text of ["", "{}", "\0", '{"columns":-1}', "SIGKILL"]) client.write(encodeFrame(kind as never, text));
      client.end();
      client.resume();
      await client.ended;
    }
    await expectService();
    expect(existsSync(place.socket)).toBe(true);
  });
});
