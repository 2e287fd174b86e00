import type { ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { EventStreamError, isOtherTransport } from "../../src/wire/http-errors.js";
import { HttpSseWire } from "../../src/wire/http-sse-wire.js";
import type { Wire } from "../../src/wire/message-wire.js";
import type { HttpWireOptions } from "../../src/wire/streamable-http-wire.js";
import { Told } from "../hub/told.js";
import { call, EVENTS, eventOf, Heard, listen, note, optionsFor, type Received, result } from "./wire-support.js";

function wireTo(url: URL, more: Partial<HttpWireOptions> = {}) {
  const wire: Wire = new HttpSseWire(optionsFor(url, more));
  onTestFinished(() => wire.close());
  return { wire, heard: new Heard() };
}

/** A started wire to a server that answers POSTs like this; `stream` is its event stream. */
async function connected(
  answer: (request: Received, stream: ServerResponse) => void,
  more: Partial<HttpWireOptions> = {},
) {
  const streams: ServerResponse[] = [];
  const server = await listen((request) => {
    const { method, response } = request;
    const [stream] = streams;
    if (method === "POST" && stream !== undefined) return answer(request, stream);
    streams.push(response);
    response.writeHead(200, EVENTS).write("event: endpoint\ndata: /messages?session=1\n\n");
  });
  const { wire, heard } = wireTo(server.url, more);
  await wire.start(heard);
  const [stream] = streams;
  if (stream === undefined) throw new Error("The wire has opened no stream.");
  return { ...server, wire, heard, stream };
}

function answering({ message, response }: Received, stream: ServerResponse): void {
  response.writeHead(202).end("Accepted");
  if (message.id !== undefined) stream.write(eventOf(result(message.id)));
}

describe("HTTP+SSE", () => {
  it("sends messages to the endpoint that the stream names, and receives everything on the stream", async () => {
    const { wire, heard, received, stream } = await connected(answering, { headers: { "X-Api-Key": "k3y" } });
    wire.setRevision("2024-11-05");
    await wire.post(note("hello"));
    wire.send(call(1), { owner: {} });
    expect(await heard.messages.next()).toEqual({ message: result(1), owner: undefined });
    stream.write(eventOf([note("one"), note("two")]));
    expect([(await heard.messages.next()).message, (await heard.messages.next()).message]).toEqual([
      note("one"),
      note("two"),
    ]);
    expect(received.map(({ method, path, headers }) => [method, path, headers["x-api-key"]])).toEqual([
      ["GET", "/mcp", "k3y"],
      ["POST", "/messages?session=1", "k3y"],
      ["POST", "/messages?session=1", "k3y"],
    ]);
    expect(received[2]?.headers["mcp-protocol-version"]).toBe("2024-11-05");
    expect([wire.hasSession, wire.hasOwnStreams]).toEqual([true, false]);
  });

  it("fails a request that the server refuses, such as one of a forgotten session", async () => {
    const { wire, heard } = await connected(({ response }) => response.writeHead(404).end("unknown session"));
    wire.send(call(1));
    expect(await heard.failures.next()).toMatchObject({ id: 1, error: { status: 404, text: "unknown session" } });
    await expect(wire.post(note("hello"))).rejects.toMatchObject({ status: 404 });
  });

  it("ends with its stream", async () => {
    const { wire, heard, stream } = await connected(() => stream.end());
    wire.send(call(1));
    await expect(wire.post(note("hello"))).rejects.toMatchObject({ code: "CLOSED" });
    await wire.close();
    expect([heard.closed, heard.errors.length]).toEqual([1, 1]);
    wire.send(call(2));
    expect(await heard.failures.next()).toMatchObject({ id: 2, error: { code: "CLOSED" } });
  });

  it("closes the connection of a request that is dropped, and reports nothing more about it", async () => {
    const arrived = new Told<string>();
    const closed = new Told<string>();
    const { wire, heard } = await connected((request, stream) => {
      if (request.message.id === 2) return answering(request, stream);
      request.response.on("close", () => closed.tell("closed"));
      arrived.tell("arrived");
    });
    wire.send(call(1));
    await arrived.next();
    wire.drop(1);
    await closed.next();
    wire.send(call(2));
    expect((await heard.messages.next()).message).toEqual(result(2));
    expect(heard.failures.count).toBe(0);
  });

  it("fails only the request whose answer is too large", async () => {
    const { wire, heard } = await connected(
      (request, stream) => {
        if (request.message.id !== 1) return answering(request, stream);
        request.response.writeHead(202).end();
        stream.write(eventOf(result(1, { text: "x".repeat(3_000) })));
      },
      { maxMessageBytes: 1_000 },
    );
    wire.send(call(1));
    expect((await heard.messages.next()).message).toMatchObject({ id: 1, error: { code: -32_951 } });
    wire.send(call(2));
    expect((await heard.messages.next()).message).toEqual(result(2));
  });
});

describe("HTTP+SSE does not start", () => {
  const failing: [string, (request: Received) => void, string | RegExp, boolean][] = [
    ["if the server has no such page", ({ response }) => response.writeHead(404).end(), "HTTP 404", true],
    ["without permission", ({ response }) => response.writeHead(403).end(), "HTTP 403", false],
    ["without a stream", ({ response }) => response.end("hello"), "Unexpected content type: undefined", true],
    [
      "if the stream ends at once",
      ({ response }) => response.writeHead(200, EVENTS).end(),
      "the event stream ended before it began.",
      true,
    ],
  ];

  it.each(failing)("%s", async (_, answer, message, isOther) => {
    const { url } = await listen(answer);
    const { wire, heard } = wireTo(url);
    const error = await wire.start(heard).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EventStreamError);
    expect(error).toMatchObject({ message });
    expect(isOtherTransport(error)).toBe(isOther);
  });

  it("if its endpoint is at another origin, which gets nothing", async () => {
    const other = await listen(({ response }) => response.writeHead(202).end());
    const { url } = await listen(({ response }) =>
      response.writeHead(200, EVENTS).write(`event: endpoint\ndata: ${other.url.href}\n\n`),
    );
    const { wire, heard } = wireTo(url, { headers: { Authorization: "Bearer t0ken" } });
    await expect(wire.start(heard)).rejects.toThrow(
      `the server names an endpoint at another origin: ${other.url.origin}.`,
    );
    wire.send(call(1));
    expect(await heard.failures.next()).toMatchObject({ error: { code: "CLOSED" } });
    expect(other.received).toEqual([]);
  });

  it("if it is closed first", async () => {
    const arrived = new Told<string>();
    const { url } = await listen(() => arrived.tell("arrived"));
    const { wire, heard } = wireTo(url);
    const starting = wire.start(heard);
    starting.catch(() => {});
    await arrived.next();
    await wire.close();
    await expect(starting).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("if there is no server", async () => {
    const { wire, heard } = wireTo(new URL("http://127.0.0.1:1234/sse"));
    await expect(wire.start(heard)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
