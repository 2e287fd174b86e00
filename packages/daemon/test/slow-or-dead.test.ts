// How a relay tells a broker that is slow from one that hangs and from one that has ended: one that works says at once
// that it has read the hello, and may then take its time; one that has ended closes its socket. Afterwards there is no
// time limit: an open socket is a living broker.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connectBroker } from "../src/relay/index.js";
import { BrokerSilentError } from "../src/wire/broker-place.js";
import { startOf } from "../src/wire/start-lock.js";
import { clientHello, startBroker, startClient, temporaryPlace } from "./support.js";

const MINUTE_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a relay that connects", () => {
  it("waits for a broker that is slow to open its workspace", async () => {
    const place = temporaryPlace();
    let admit = () => {};
    const admitted = new Promise<void>((resolve) => {
      admit = resolve;
    });
    const broker = await startBroker(place, { admit: () => admitted });
    vi.clearAllTimers();
    const connecting = connectBroker(place, clientHello());
    await turn();
    // Both sides have stopped their clocks: the broker has the hello, and the relay knows.
    while (vi.getTimerCount() > 0) await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    admit();
    const link = await connecting;
    expect(link?.welcome.version).toBe("1.0.0");
    link?.socket.destroy();
    await broker.server.stop("test");
  });

  it("gives up on a broker that accepts connections but does not read", async () => {
    const place = temporaryPlace();
    const server = createServer().listen(place.socket);
    const connected = once(server, "connection") as Promise<[Socket]>;
    const connecting = connectBroker(place, clientHello());
    const failed = expect(connecting).rejects.toBeInstanceOf(BrokerSilentError);
    const [socket] = await connected;
    while (vi.getTimerCount() === 0) await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    await failed;
    socket.destroy();
    server.close();
  });

  it("looks for another broker at once if this one ends", async () => {
    const place = temporaryPlace();
    const server = createServer((socket) => socket.destroy()).listen(place.socket);
    await once(server, "listening");
    expect(await connectBroker(place, clientHello())).toBeUndefined();
    server.close();
  });

  it("looks for another broker if this one is killed before it accepts the connection", async () => {
    const place = temporaryPlace();
    // It listens, and then never takes a connection.
    const script = `require("net").createServer().listen(process.argv[1], () => {
      require("fs").writeSync(1, "listening");
      for (;;);
    })`;
    const broker = spawn(process.execPath, ["-e", script, place.socket], { stdio: ["ignore", "pipe", "inherit"] });
    await once(broker.stdout, "data");
    const connecting = connectBroker(place, clientHello());
    broker.kill("SIGKILL");
    while (startOf(broker.pid ?? 0) !== "");
    expect(await connecting).toBeUndefined();
  });
});

describe("a relay that is connected", () => {
  it("waits for its broker as long as its client waits, and ends soon after its client has left", async () => {
    const place = temporaryPlace();
    const broker = await startBroker(place, { keepsClients: true });
    const client = await startClient(place);
    client.send({ id: 1, method: "tools/call", params: {} });
    const served = broker.clients[0];
    await served?.next("tools/call");
    vi.advanceTimersByTime(60 * MINUTE_MS);
    served?.send({ id: 1, result: {} });
    await client.until(({ id }) => id === 1);
    client.send({ id: 2, method: "tools/call", params: {} });
    await served?.next("tools/call");
    const timers = vi.getTimerCount();
    client.input.end();
    while (vi.getTimerCount() === timers) await turn();
    vi.advanceTimersByTime(MINUTE_MS);
    await client.finished;
    expect(client.received).toHaveLength(1);
    await broker.server.stop("test");
  });
});
