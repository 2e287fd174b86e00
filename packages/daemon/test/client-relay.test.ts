import { describe, expect, it } from "vitest";
import { clientHello, type Message, type Served, startBroker, startClient, temporaryPlace } from "./support.js";

/** Answers every request with its method, except calls of the tool `hang`. */
const answering = {
  onMessage: ({ id, method, params }: Message, served: Served) => {
    if (method === undefined || id === undefined || params?.name === "hang") return;
    served.send({ id, result: { method } });
  },
};

const initialize = { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } };
const initialized = { method: "notifications/initialized" };

describe("a relayed client", () => {
  it("gets the answers of the broker, line by line", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    const client = await startClient(place);
    client.send(initialize);
    expect(await client.until(({ id }) => id === 1)).toMatchObject({ result: { method: "initialize" } });
    client.send({ id: "a", method: "tools/list" });
    expect(await client.until(({ id }) => id === "a")).toMatchObject({ result: { method: "tools/list" } });
    client.input.end();
    await client.finished;
    await broker.server.stop("test");
  });

  it("gets whole lines, however long they are", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    const arriving = broker.client();
    const client = await startClient(place);
    const served = await arriving;
    // More than an output holds at once, and more than is copied to be written at once.
    for (const [at, length] of [10, 20_000, 70_000, 300_000].entries()) {
      served.send({ id: at, result: { text: "x".repeat(length) } });
    }
    for (const [at, length] of [10, 20_000, 70_000, 300_000].entries()) {
      expect((await client.until(({ id }) => id === at)).result).toEqual({ text: "x".repeat(length) });
    }
    client.input.end();
    await client.finished;
    await broker.server.stop("test");
  });

  it("answers a question of the broker under the id that it was asked with", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    const arriving = broker.client();
    const client = await startClient(place);
    const served = await arriving;
    served.send({ id: 7, method: "roots/list" });
    await client.until(({ method }) => method === "roots/list");
    client.send({ id: 7, result: { roots: [] } });
    client.send({ id: 2, method: "ping" });
    await client.until(({ id }) => id === 2);
    expect(served.received).toContainEqual({ jsonrpc: "2.0", id: 7, result: { roots: [] } });
    await broker.server.stop("test");
    client.input.end();
  });

  it("repeats the handshake, the log level, subscriptions and open requests when the broker is killed", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, answering);
    let second: Awaited<ReturnType<typeof startBroker>> | undefined;
    const arrived: Promise<Served>[] = [];
    const client = await startClient(place, async () => {
      second = await startBroker(place, answering);
      arrived.push(second.client());
    });
    client.send(initialize);
    await client.until(({ id }) => id === 1);
    client.send(initialized);
    client.send({ id: 2, method: "logging/setLevel", params: { level: "debug" } });
    client.send({ id: 3, method: "resources/subscribe", params: { uri: "a:1" } });
    client.send({ id: 4, method: "resources/subscribe", params: { uri: "a:2" } });
    client.send({ id: 5, method: "resources/unsubscribe", params: { uri: "a:1" } });
    await client.until(({ id }) => id === 5);
    client.send({ id: 6, method: "tools/call", params: { name: "hang" } });
    await first.clients[0]?.next("tools/call");
    await first.kill();
    client.send({ id: 8, method: "tools/list" });
    await client.until(({ id }) => id === 8);
    const served = await (arrived[0] as Promise<Served>);
    await served.next("tools/list");
    expect(served.hello.generation).toBe(1);
    expect(served.received.map(({ method, params }) => [method, params?.uri ?? params?.name ?? params?.level])).toEqual(
      [
        ["initialize", undefined],
        ["notifications/initialized", undefined],
        ["logging/setLevel", "debug"],
        ["resources/subscribe", "a:2"],
        ["tools/call", "hang"],
        ["tools/list", undefined],
      ],
    );
    served.send({ id: 6, result: { text: "late" } });
    expect(await client.until(({ id }) => id === 6)).toMatchObject({ result: { text: "late" } });
    // What the relay repeated on its own is not answered to the client a second time.
    expect(client.received.filter(({ id }) => id === 1)).toHaveLength(1);
    expect(client.received.every(({ id }) => !String(id).startsWith("trunkline"))).toBe(true);
    await second?.server.stop("test");
    client.input.end();
  });

  it("gets an error that is not retryable for a call that must not run twice", async () => {
    const place = temporaryPlace();
    const lost: string[] = [];
    const onLost = (message: string) => void lost.push(JSON.parse(message).params.name);
    const script = { ...answering, isRepeatable: async () => false, onLost };
    const first = await startBroker(place, script);
    const client = await startClient(place, async () => void (await startBroker(place, script)));
    client.send({ id: 1, method: "tools/call", params: { name: "hang" } });
    await first.clients[0]?.next("tools/call");
    await first.kill();
    const { error } = await client.until(({ id }) => id === 1);
    expect(error).toMatchObject({ data: { code: "SERVER_EXITED", retryable: false } });
    expect(error?.message).toMatch(/may or may not have taken effect/);
    // The next broker journals it.
    expect(lost).toEqual(["hang"]);
    client.input.end();
  });

  it("withdraws the questions of a broker that is gone, and drops late answers to them", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, answering);
    const arriving = first.client();
    let next: Promise<Served> | undefined;
    const client = await startClient(place, async () => {
      next = (await startBroker(place, answering)).client();
    });
    (await arriving).send({ id: 1, method: "elicitation/create", params: {} });
    await client.until(({ method }) => method === "elicitation/create");
    await first.kill();
    expect(await client.until(({ method }) => method === "notifications/cancelled")).toMatchObject({
      params: { requestId: 1 },
    });
    client.send({ id: 9, method: "ping" });
    await client.until(({ id }) => id === 9);
    const served = await (next as Promise<Served>);
    // The new broker counts from 1 again; the client must be able to tell its question from the old one.
    served.send({ id: 1, method: "elicitation/create", params: { second: true } });
    const asked = await client.until(({ params }) => params?.second === true);
    expect(asked.id).not.toBe(1);
    client.send({ id: 1, result: { action: "accept" } });
    client.send({ id: asked.id, result: { action: "decline" } });
    client.send({ id: 10, method: "ping" });
    await client.until(({ id }) => id === 10);
    expect(served.received.filter(({ result }) => result !== undefined)).toEqual([
      { jsonrpc: "2.0", id: 1, result: { action: "decline" } },
    ]);
    client.input.end();
  });

  it("moves to the next broker when the old one makes room, after its calls are answered", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, answering);
    let second: Awaited<ReturnType<typeof startBroker>> | undefined;
    const client = await startClient(place, async () => {
      second = await startBroker(place, answering, "2.0.0");
    });
    client.send({ id: 1, method: "ping" });
    await client.until(({ id }) => id === 1);
    await first.server.drain("upgrade");
    client.send({ id: 2, method: "tools/list" });
    expect(await client.until(({ id }) => id === 2)).toMatchObject({ result: { method: "tools/list" } });
    await first.finished;
    expect(second?.clients).toHaveLength(1);
    client.input.end();
    await client.finished;
  });

  it("leaves no call behind that was sent while the broker began to make room", async () => {
    const place = temporaryPlace();
    const script = { ...answering, isRepeatable: async () => false };
    const first = await startBroker(place, script);
    const client = await startClient(place, async () => void (await startBroker(place, script, "2.0.0")));
    client.send({ id: 1, method: "ping" });
    await client.until(({ id }) => id === 1);
    const drained = first.server.drain("upgrade");
    client.send({ id: 2, method: "tools/call" });
    expect(await client.until(({ id }) => id === 2)).toMatchObject({ result: { method: "tools/call" } });
    await drained;
    expect(first.clients[0]?.received).toContainEqual({ jsonrpc: "2.0", id: 2, method: "tools/call" });
    client.input.end();
    await client.finished;
  });

  it("starts no broker after one was stopped, before its client says something", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, answering);
    let attached = 0;
    let second: Awaited<ReturnType<typeof startBroker>> | undefined;
    const script = { ...answering, isRepeatable: async () => false };
    const client = await startClient(place, async () => {
      attached += 1;
      second = await startBroker(place, script);
    });
    client.send({ id: 1, method: "initialize", params: {} });
    await client.until(({ id }) => id === 1);
    await first.server.stop("asked");
    await client.lost();
    expect(attached).toBe(0);
    client.send({ id: 2, method: "tools/call" });
    expect(await client.until(({ id }) => id === 2)).toMatchObject({ result: { method: "tools/call" } });
    expect(second?.clients[0]?.received.map(({ method }) => method)).toEqual(["initialize", "tools/call"]);
    await second?.server.stop("asked");
    await client.lost();
    client.input.end();
    await client.finished;
    expect(attached).toBe(1);
  });

  it("attaches again, to the same broker, when it belongs to another workspace", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    const arriving = broker.client();
    const client = await startClient(place);
    client.send({ id: 1, method: "initialize", params: {} });
    await client.until(({ id }) => id === 1);
    const again = broker.client();
    (await arriving).link.handOver();
    const served = await again;
    client.send({ id: 2, method: "ping" });
    await client.until(({ id }) => id === 2);
    expect(served.received.map(({ method }) => method)).toEqual(["initialize", "ping"]);
    expect(served.hello.generation).toBe(1);
    client.input.end();
    await client.finished;
    await broker.server.stop("test");
  });

  it("ends when its input ends, after the last answer", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    const client = await startClient(place);
    client.send({ id: 1, method: "ping" });
    client.input.end();
    await client.finished;
    expect(client.received).toHaveLength(1);
    await broker.server.stop("test");
  });

  it("waits once for a client that reads slowly, however many messages have arrived", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    const arriving = broker.client();
    const client = await startClient(place);
    const served = await arriving;
    let most = 0;
    client.pipe.on("newListener", (name) => {
      if (name === "drain") most = Math.max(most, client.pipe.listenerCount("drain") + 1);
    });
    for (let at = 1; at <= 40; at++) {
      served.send({ method: "notifications/message", params: { at, text: "x".repeat(2_000) } });
    }
    await client.until(({ params }) => params?.at === 40);
    expect(most).toBe(1);
    client.input.end();
    await client.finished;
    await broker.server.stop("test");
  });

  it("passes on a message that is not JSON, so that the broker reports it", async () => {
    const place = temporaryPlace();
    const lines: string[] = [];
    const broker = await startBroker(place, { admit: () => {} });
    const arriving = broker.client();
    const client = await startClient(place);
    const served = await arriving;
    served.link.input.removeAllListeners();
    served.link.input.on("data", (chunk: Buffer) => lines.push(chunk.toString("utf8")));
    client.input.write("not json\n");
    await expect.poll(() => lines.join("")).toBe("not json\n");
    await broker.server.stop("test");
    client.input.end();
  });
});

describe("a broker", () => {
  it("refuses a client from another place, such as a sandbox", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    const { connectBroker } = await import("../src/relay/index.js");
    await expect(connectBroker(place, clientHello({ place: "elsewhere" }))).rejects.toMatchObject({ reason: "place" });
    expect(broker.clients).toHaveLength(0);
    await broker.server.stop("test");
  });

  it("makes room for a newer version, and serves an older one", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    const { connectBroker } = await import("../src/relay/index.js");
    const older = await connectBroker(place, clientHello({ version: "0.9.0" }));
    expect(older?.welcome.version).toBe("1.0.0");
    older?.socket.destroy();
    await expect(connectBroker(place, clientHello({ version: "1.0.1" }))).rejects.toMatchObject({ reason: "draining" });
    await broker.finished;
    expect(await connectBroker(place, clientHello())).toBeUndefined();
  });
});
