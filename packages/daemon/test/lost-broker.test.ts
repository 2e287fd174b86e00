import { describe, expect, it } from "vitest";
import { BrokerUnavailableError } from "../src/wire/broker-place.js";
import { type Message, type Served, startBroker, startClient, temporaryPlace } from "./support.js";

/** Answers every request with its method, except calls of the tool `hang`. */
const answering = {
  onMessage: ({ id, method, params }: Message, served: Served) => {
    if (method === undefined || id === undefined || params?.name === "hang") return;
    served.send({ id, result: { method } });
  },
};
const once = { ...answering, isRepeatable: async () => false };

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

type Broker = Awaited<ReturnType<typeof startBroker>>;

describe("a relay whose broker ends", () => {
  it("sends a call that no broker has got yet as a new one", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, once);
    const [lost, mayStart] = [gate(), gate()];
    const client = await startClient(place, async () => {
      lost.open();
      await mayStart.opened;
      await startBroker(place, once);
    });
    client.send({ id: 1, method: "ping" });
    await client.until(({ id }) => id === 1);
    await first.kill();
    await lost.opened;
    client.send({ id: 2, method: "tools/call", params: { name: "add" } });
    client.send({ id: 3, method: "tools/call", params: { name: "withdrawn" } });
    client.send({ method: "notifications/cancelled", params: { requestId: 3 } });
    client.send({ id: 4, method: "ping" });
    mayStart.open();
    await client.until(({ id }) => id === 4);
    expect(await client.until(({ id }) => id === 2)).toMatchObject({ result: { method: "tools/call" } });
    expect(client.received.some(({ id }) => id === 3)).toBe(false);
    client.input.end();
  });

  it("repeats no batch, and none that was answered", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, {});
    const client = await startClient(place, async () => void (await startBroker(place, answering)));
    const batch = (...ids: number[]) =>
      client.input.write(`${JSON.stringify(ids.map((id) => ({ jsonrpc: "2.0", id, method: "ping" })))}\n`);
    batch(1, 2);
    batch(3, 4);
    await expect.poll(() => first.clients[0]?.received.length).toBe(2);
    first.clients[0]?.link.output.write(
      '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]\n',
    );
    await client.until((message) => Array.isArray(message));
    await first.server.stop("killed");
    for (const lost of [3, 4]) expect((await client.until(({ id }) => id === lost)).error).toBeDefined();
    client.send({ id: 5, method: "ping" });
    await client.until(({ id }) => id === 5);
    expect(client.received.some(({ id }) => id === 1 || id === 2)).toBe(false);
    client.input.end();
    await client.finished;
  });

  it("repeats the handshake before anything else", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, answering);
    let second: Broker | undefined;
    let arriving: Promise<Served> | undefined;
    const started = gate();
    const isHandshake = ({ method }: Message) => method === "initialize";
    const client = await startClient(place, async () => {
      second = await startBroker(place, {
        onMessage: (message, served) => {
          if (!isHandshake(message)) answering.onMessage(message, served);
        },
      });
      arriving = second.client();
      started.open();
    });
    client.send({ id: 1, method: "initialize", params: {} });
    await client.until(({ id }) => id === 1);
    client.send({ method: "notifications/initialized" });
    await first.kill();
    await started.opened;
    const served = await (arriving as Promise<Served>);
    const { id } = await served.next("initialize");
    client.send({ id: 2, method: "tools/list" });
    served.send({ id, result: {} });
    await client.until((message) => message.id === 2);
    expect(served.received.map(({ method }) => method)).toEqual([
      "initialize",
      "notifications/initialized",
      "tools/list",
    ]);
    await second?.server.stop("test");
    client.input.end();
  });

  it("answers with an error while there cannot be another broker, and tries again with the next request", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, answering);
    let isPossible = false;
    const client = await startClient(place, async () => {
      if (!isPossible) throw new BrokerUnavailableError("the disk is full");
      await startBroker(place, answering);
    });
    client.send({ id: 1, method: "tools/call", params: { name: "hang" } });
    await first.clients[0]?.next("tools/call");
    await first.kill();
    const { error } = await client.until(({ id }) => id === 1);
    expect(error?.message).toMatch(/the disk is full\. This request may or may not have taken effect/);
    expect(error?.data).toEqual({ code: "SERVER_EXITED", retryable: false });
    client.send({ id: 2, method: "ping" });
    const { error: unsent } = await client.until(({ id }) => id === 2);
    expect(unsent?.message).toMatch(/has not run/);
    expect(unsent?.data).toEqual({ code: "SERVER_EXITED", retryable: true });
    isPossible = true;
    client.send({ id: 3, method: "ping" });
    expect(await client.until(({ id }) => id === 3)).toMatchObject({ result: { method: "ping" } });
    client.input.end();
    await client.finished;
  });

  it("gives up a request that no broker survives, and keeps the session", async () => {
    const place = temporaryPlace();
    const brokers: Broker[] = [];
    const start = async () => {
      const broker = await startBroker(place, {
        onMessage: (message, served) => {
          if (message.params?.name === "fatal") void broker.kill();
          else answering.onMessage(message, served);
        },
      });
      brokers.push(broker);
    };
    await start();
    const client = await startClient(place, start);
    client.send({ id: 1, method: "tools/call", params: { name: "fatal" } });
    expect((await client.until(({ id }) => id === 1)).error?.message).toMatch(/ended each time/);
    client.send({ id: 2, method: "ping" });
    await client.until(({ id }) => id === 2);
    expect(brokers.length).toBeGreaterThan(2);
    client.input.end();
    await client.finished;
    await brokers.at(-1)?.server.stop("test");
  });
});

describe("a broker that makes room for the next one", () => {
  it("serves its clients until that one listens", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, answering);
    const client = await startClient(place);
    client.send({ id: 1, method: "ping" });
    await client.until(({ id }) => id === 1);
    const drained = first.server.drain("upgrade", "expected");
    client.send({ id: 2, method: "ping" });
    await client.until(({ id }) => id === 2);
    expect(first.clients[0]?.received).toHaveLength(2);
    const second = await startBroker(place, answering, "2.0.0");
    await drained;
    client.send({ id: 3, method: "ping" });
    await client.until(({ id }) => id === 3);
    expect(second.clients[0]?.received).toHaveLength(1);
    client.input.end();
    await client.finished;
    await second.server.stop("test");
  });

  it("answers what it has got, while the next one answers the rest", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, { ...once, keepsClients: true });
    let second: Broker | undefined;
    const client = await startClient(place, async () => {
      second = await startBroker(place, once, "2.0.0");
    });
    client.send({ id: 1, method: "initialize", params: {} });
    await client.until(({ id }) => id === 1);
    for (const id of [2, 3]) client.send({ id, method: "tools/call", params: { name: "hang" } });
    const old = first.clients[0] as Served;
    await old.next("tools/call");
    await old.next("tools/call");
    const drained = first.server.drain("upgrade");
    // Not one of the old broker's calls is in the way.
    await expect.poll(() => second?.clients.length).toBe(1);
    client.send({ id: 4, method: "tools/call", params: { name: "add" } });
    expect(await client.until(({ id }) => id === 4)).toMatchObject({ result: { method: "tools/call" } });
    // The old one still asks, is answered, and learns what is cancelled.
    old.send({ id: 1, method: "elicitation/create", params: {} });
    const { id: asked } = await client.until(({ method }) => method === "elicitation/create");
    client.send({ id: asked, result: { action: "accept" } });
    client.send({ method: "notifications/cancelled", params: { requestId: 3 } });
    expect((await old.next("notifications/cancelled")).params).toEqual({ requestId: 3 });
    expect(old.received).toContainEqual({ jsonrpc: "2.0", id: 1, result: { action: "accept" } });
    old.send({ id: 2, result: { text: "late" } });
    expect(await client.until(({ id }) => id === 2)).toMatchObject({ result: { text: "late" } });
    old.leave();
    await drained;
    expect(second?.clients[0]?.received.map(({ method }) => method)).toEqual(["initialize", "tools/call"]);
    client.send({ id: 5, method: "ping" });
    await client.until(({ id }) => id === 5);
    client.input.end();
    await client.finished;
    await second?.server.stop("test");
  });

  it("ends calls that take too long", async () => {
    const place = temporaryPlace();
    const first = await startBroker(place, { ...once, keepsClients: true }, "1.0.0", { drainMs: 20 });
    const client = await startClient(place, async () => void (await startBroker(place, once, "2.0.0")));
    client.send({ id: 1, method: "tools/call", params: { name: "hang" } });
    await first.clients[0]?.next("tools/call");
    await first.server.drain("upgrade");
    expect((await client.until(({ id }) => id === 1)).error?.data).toMatchObject({ retryable: false });
    client.input.end();
  });
});

describe("a broker", () => {
  it("leaves the socket to another one that listens", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, answering);
    await expect(startBroker(place, answering)).rejects.toThrow("another broker listens");
    const client = await startClient(place);
    client.send({ id: 1, method: "ping" });
    await client.until(({ id }) => id === 1);
    client.input.end();
    await client.finished;
    await broker.server.stop("test");
  });
});
