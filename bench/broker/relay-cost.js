// What a relay costs: its memory beside a bare Node process with a socket, and its CPU time per call, beside a process
// that only passes bytes on.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { upstream } from "../gateways/gateways.js";
import { cpuUs, proportionalMB, residentMB } from "../gateways/processes.js";
import { Place } from "./place.js";

const BARE = "require('node:net').connect(process.argv[1], () => console.log('ready'))";
const PASS_ON = `const socket = require('node:net').connect(process.argv[1]);
process.stdin.on('data', (chunk) => socket.write(chunk));
socket.on('data', (chunk) => process.stdout.write(chunk));
process.stdin.on('end', () => process.exit());`;
const TEXT = "x".repeat(100);
const ECHO = "mcp__upstream__echo";
const WARM_UP = 2_000;
const ROUNDS = 5;

/** CPU times are the least of the rounds. @param {{ messages: number }} options each call is two messages */
export async function relayCost({ messages }) {
  const place = new Place({ upstream: upstream() });
  const socketPath = join(place.folder, "bench.sock");
  const bare = () => spawn(process.execPath, ["-e", BARE, socketPath], { stdio: ["pipe", "pipe", "inherit"] });
  const window = await place.open();
  const other = await place.open();
  // Answers what is passed on, as late as the broker does.
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const line of chunk.toString("utf8").split("\n").filter(Boolean)) {
        const { id, params } = JSON.parse(line);
        void other.request("tools/call", params).then(({ result }) => {
          socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
        });
      }
    });
  }).listen(socketPath);
  const idle = bare();
  try {
    await once(idle.stdout, "data");
    const passing = place.startProgram(process.execPath, ["-e", PASS_ON, socketPath]);
    const calls = async (/** @type {typeof window} */ client, /** @type {number} */ count, inFlight = 1) => {
      let left = count;
      const work = async () => {
        while (left-- > 0) if ((await client.call(ECHO, { text: TEXT })) !== TEXT) throw new Error("not an echo");
      };
      await Promise.all(Array.from({ length: inFlight }, work));
    };
    const perRound = Math.round((messages / 2 - WARM_UP) / ROUNDS / 2);
    const cost = async (/** @type {typeof window} */ client, /** @type {number} */ inFlight) => {
      const before = cpuUs(client.pid);
      await calls(client, perRound, inFlight);
      return (cpuUs(client.pid) - before) / perRound;
    };
    await calls(window, WARM_UP);
    await calls(passing, WARM_UP, 16);
    const least = {
      oneUs: Number.POSITIVE_INFINITY,
      passingUs: Number.POSITIVE_INFINITY,
      manyUs: Number.POSITIVE_INFINITY,
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      least.oneUs = Math.min(least.oneUs, await cost(window, 1));
      least.passingUs = Math.min(least.passingUs, await cost(passing, 1));
      least.manyUs = Math.min(least.manyUs, await cost(window, 16));
    }
    const memory = (/** @type {number} */ pid) => ({
      residentMB: residentMB(pid),
      proportionalMB: proportionalMB(pid),
    });
    return { ...least, bare: memory(idle.pid ?? 0), relay: memory(window.pid) };
  } finally {
    idle.kill();
    await place.closeWindows();
    server.close();
    await place.remove();
  }
}
