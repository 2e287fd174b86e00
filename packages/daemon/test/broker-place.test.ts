import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectBroker } from "../src/relay/index.js";
import {
  BrokerUnavailableError,
  bootId,
  brokerPlace,
  processNumbers,
  restrictingProfile,
} from "../src/wire/broker-place.js";
import { encodeFrame, FRAME, FrameReader } from "../src/wire/frames.js";
import { endLeftGroups, ProcessGroups } from "../src/wire/process-groups.js";
import { startOf, takeStartLock } from "../src/wire/start-lock.js";
import { clientHello, startBroker } from "./support.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "tb-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe("the broker's folder", () => {
  it("is only for the user, even if it was open before", () => {
    mkdirSync(join(home, "run"), { mode: 0o755 });
    const { folder } = brokerPlace({ home });
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  });

  it("is not used if it is a link", () => {
    mkdirSync(join(home, "elsewhere"));
    symlinkSync(join(home, "elsewhere"), join(home, "run"));
    expect(() => brokerPlace({ home })).toThrow(BrokerUnavailableError);
  });

  it("is in Trunkline's home if that is not the default one, whatever the runtime folder", () => {
    const runtimeFolder = mkdtempSync(join(tmpdir(), "tr-"));
    expect(brokerPlace({ home, runtimeFolder }).folder).toBe(join(home, "run"));
  });

  it("is refused if the socket's path would be cut off", () => {
    expect(() => brokerPlace({ home: join(home, "x".repeat(100)) })).toThrow(/too long/);
  });
});

describe("a socket that was put there", () => {
  it("is not followed if it is a link", async () => {
    const place = brokerPlace({ home });
    const other = createServer((socket) => socket.end()).listen(join(home, "other.sock"));
    await once(other, "listening");
    symlinkSync(join(home, "other.sock"), place.socket);
    expect(await connectBroker(place, clientHello())).toBeUndefined();
    other.close();
  });

  it("is replaced if no one listens any more", async () => {
    const place = brokerPlace({ home });
    const program = `require("node:net").createServer().listen(${JSON.stringify(place.socket)}, () => process.kill(process.pid, "SIGKILL"))`;
    await once(spawn(process.execPath, ["-e", program]), "exit");
    expect(lstatSync(place.socket).isSocket()).toBe(true);
    const broker = await startBroker(place);
    const link = await connectBroker(place, clientHello());
    expect(link?.welcome.pid).toBe(process.pid);
    link?.socket.destroy();
    await broker.server.stop("test");
    expect(existsSync(place.socket)).toBe(false);
  });

  it("is only for the user", async () => {
    const place = brokerPlace({ home });
    const broker = await startBroker(place);
    expect(lstatSync(place.socket).mode & 0o777).toBe(0o600);
    await broker.server.stop("test");
  });
});

describe("a client that does not follow the protocol", () => {
  async function send(bytes: Buffer): Promise<void> {
    const place = brokerPlace({ home });
    const broker = await startBroker(place);
    const { connect } = await import("node:net");
    const socket = connect(place.socket);
    socket.on("error", () => {});
    socket.write(bytes);
    await once(socket, "close");
    // Others are still served.
    const link = await connectBroker(place, clientHello());
    expect(link?.welcome.version).toBe("1.0.0");
    link?.socket.destroy();
    await broker.server.stop("test");
  }

  it("is disconnected for a frame that is too large", () => {
    const head = Buffer.alloc(5);
    head.writeUInt32LE(0xffffffff, 0);
    head.writeUInt8(FRAME.hello, 4);
    return send(head);
  });

  it.each([
    ["no JSON", encodeFrame(FRAME.hello, "{")],
    ["an unknown kind", encodeFrame(FRAME.hello, JSON.stringify({ ...clientHello(), kind: "root" }))],
    ["an environment that is not one", encodeFrame(FRAME.hello, JSON.stringify({ ...clientHello(), env: { A: 1 } }))],
    ["a message before its hello", encodeFrame(FRAME.message, "{}")],
  ])("is disconnected for %s", (_, bytes) => send(bytes));
});

describe("frames", () => {
  it("arrive whole if many small parts and large ones take turns", () => {
    const text = Array.from({ length: 300_000 }, (_, at) => String(at % 10)).join("");
    const bytes = Buffer.concat([encodeFrame(4, text), encodeFrame(4, "next")]);
    const received: string[] = [];
    const reader = new FrameReader((_, payload) => received.push(payload.toString("utf8")));
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = Math.floor(turn / 700) % 2 === 0 ? 1 + (turn % 3) : 4000;
      reader.push(bytes.subarray(at, at + size));
      at += size;
    }
    expect(received).toEqual([text, "next"]);
  });

  it("arrive whole, however the bytes are split", () => {
    const frames = [encodeFrame(4, "a"), encodeFrame(9, ""), encodeFrame(4, "grüße".repeat(1000))];
    const bytes = Buffer.concat(frames);
    for (const size of [1, 2, 3, 7, 1000, bytes.length]) {
      const received: [number, string][] = [];
      const reader = new FrameReader((kind, payload) => received.push([kind, payload.toString("utf8")]));
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      expect(received).toEqual([
        [4, "a"],
        [9, ""],
        [4, "grüße".repeat(1000)],
      ]);
    }
  });
});

describe("a broker that starts", () => {
  it("removes the files of processes that were killed, and no others", async () => {
    const place = brokerPlace({ home });
    const left = [
      "b999999999.sock",
      "broker.lock.999999999",
      "broker.lock.old.999999999",
      "broker.groups.999999999.new",
    ];
    const others = [`broker.lock.${process.pid}`, "broker.groups.999999999", "b1.sock", "server-999999999"];
    for (const name of [...left, ...others]) writeFileSync(join(place.folder, name), "");
    const broker = await startBroker(place);
    expect(readdirSync(place.folder).sort()).toEqual([...others, "broker.sock"].sort());
    await broker.server.stop("test");
  });
});

describe("the start lock", () => {
  it("is held by one, and free again after its release", () => {
    const { lock } = brokerPlace({ home });
    const release = takeStartLock(lock);
    expect(release).toBeTypeOf("function");
    expect(takeStartLock(lock)).toBeUndefined();
    release?.();
    expect(takeStartLock(lock)).toBeTypeOf("function");
  });

  it("is taken over from a process that has ended, even if its number is in use again", () => {
    const { lock } = brokerPlace({ home });
    writeFileSync(lock, `${process.pid} 1`);
    expect(takeStartLock(lock)).toBeTypeOf("function");
  });

  it("does not write through a link that was put in its place", () => {
    const { lock } = brokerPlace({ home });
    const target = join(home, "target");
    writeFileSync(target, "precious");
    symlinkSync(target, lock);
    takeStartLock(lock)?.();
    expect(readFileSync(target, "utf8")).toBe("precious");
  });
});

describe("the process groups of a broker", () => {
  const fail = (error: unknown) => {
    throw error;
  };

  it("are ended once the broker is gone, and not before", async () => {
    const { groups } = brokerPlace({ home });
    const server = spawn("sleep", ["1000"], { detached: true });
    const ended = once(server, "exit");
    const recorded = new ProcessGroups(groups, fail);
    recorded.add(server.pid as number);
    expect(endLeftGroups(groups)).toBe(0);
    const file = `${groups}.${process.pid}`;
    writeFileSync(file, readFileSync(file, "utf8").replace(`${process.pid} `, "999999999 "));
    expect(endLeftGroups(groups)).toBe(1);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(existsSync(file)).toBe(false);
  });

  it("stay recorded while the next broker runs, ends or is killed", async () => {
    const { groups } = brokerPlace({ home });
    const server = spawn("sleep", ["1000"], { detached: true });
    const pid = server.pid as number;
    const next = new ProcessGroups(groups, fail);
    // A broker that was killed, beside one that runs.
    writeFileSync(`${groups}.999999999`, `999999999 1 ${bootId()} ${processNumbers()}\n${pid} ${startOf(pid)}\n`);
    next.close();
    const ended = once(server, "exit");
    expect(endLeftGroups(groups)).toBe(1);
    await ended;
  });

  it("are forgotten when the machine was started again", () => {
    const { groups } = brokerPlace({ home });
    const innocent = spawn("sleep", ["1000"], { detached: true });
    const pid = innocent.pid as number;
    writeFileSync(`${groups}.999999999`, `999999999 1 another-boot\n${pid} ${startOf(pid)}\n`);
    expect(endLeftGroups(groups)).toBe(0);
    expect(existsSync(`${groups}.999999999`)).toBe(false);
    expect(startOf(pid)).not.toBe("");
    innocent.kill("SIGKILL");
  });

  it("are reported, and nothing else happens, if they cannot be written", () => {
    const { groups } = brokerPlace({ home });
    mkdirSync(`${groups}.${process.pid}.new`);
    const errors: unknown[] = [];
    const recorded = new ProcessGroups(groups, (error) => errors.push(error));
    recorded.add(process.pid);
    expect(errors).toHaveLength(2);
  });

  it("are not mistaken for other processes with the same number, or for all processes", async () => {
    const { groups } = brokerPlace({ home });
    const innocent = spawn("sleep", ["1000"], { detached: true });
    const pid = innocent.pid as number;
    const planted = [
      `999999999 1 ${bootId()} ${processNumbers()}`,
      `${pid} ${Number(startOf(pid)) + 1}`,
      "1 1",
      "0 0",
      "-1 5",
      "x",
    ];
    writeFileSync(`${groups}.999999999`, `${planted.join("\n")}\n`);
    expect(endLeftGroups(groups)).toBe(0);
    expect(startOf(pid)).not.toBe("");
    innocent.kill("SIGKILL");
  });

  it("are not read or written through a link", () => {
    const { groups } = brokerPlace({ home });
    const list = join(home, "list");
    writeFileSync(list, "999999999 1\n");
    chmodSync(list, 0o600);
    symlinkSync(list, `${groups}.999999999`);
    symlinkSync(list, `${groups}.${process.pid}.new`);
    expect(endLeftGroups(groups)).toBe(0);
    new ProcessGroups(groups, fail).close();
    expect(readFileSync(list, "utf8")).toBe("999999999 1\n");
  });
});

it.each([
  ["unconfined\n", ""],
  ["vscode (unconfined)\n", ""],
  ["snap.code.code (complain)", ""],
  ["snap.firefox.firefox (enforce)\n", "snap.firefox.firefox (enforce)"],
  ["unconfined_u:unconfined_r:unconfined_t:s0\0", "unconfined_u:unconfined_r:unconfined_t:s0"],
  ["evil-unconfined", "evil-unconfined"],
  ["", ""],
])("the security profile %j counts as %j", (text, counted) => {
  expect(restrictingProfile(text)).toBe(counted);
});
