import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAlive, startOf } from "../src/wire/start-lock.js";
import { temporaryPlace } from "./support.js";

/** Without the check, about every third process still counts as alive when its socket closes. */
const ROUNDS = 25;

describe.skipIf(process.platform !== "linux")("a process that is killed", () => {
  let server: Server;
  let path: string;

  beforeEach(async () => {
    path = temporaryPlace().socket;
    server = createServer().listen(path);
    await once(server, "listening");
  });

  afterEach(() => {
    server.close();
  });

  async function connected(): Promise<[ChildProcess, Socket]> {
    const program = `require("node:net").connect(${JSON.stringify(path)}); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ["-e", program], { stdio: "ignore" });
    const [socket] = (await once(server, "connection")) as [Socket];
    return [child, socket.on("error", () => {}).resume()];
  }

  it("counts as ended as soon as its socket is closed", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [child, socket] = await connected();
      const pid = child.pid ?? 0;
      const owner = `${pid} ${startOf(pid)}`;
      expect(isAlive(owner)).toBe(true);
      const seen = new Promise<boolean>((resolve) => {
        socket.once("close", () => resolve(isAlive(owner)));
      });
      child.kill("SIGKILL");
      expect(await seen).toBe(false);
    }
  });
});
