// Runs `trunkline serve` over stdio, as an editor does, and kills it with -9 every few seconds. Its servers have to
// exit by themselves, since no process is left to stop them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { COMMAND } from "../bench/server/product.js";
import { liveFor } from "./life.js";
import { textOf } from "./mcp-client.js";
import { Random } from "./random.js";

/** The check that killed gateways can fail. */
export const STDIO_CHECK = "calls over stdio are answered with their own text until the process is killed";

/** @typedef {{ folder: string, config: string, env: NodeJS.ProcessEnv, seed: number, tally: import("./tally.js").Tally, signal: AbortSignal, lifeMs: [number, number] }} KilledOptions */

/** Starts gateways one after another. @param {KilledOptions} options */
export async function runKilledGateways(options) {
  const random = new Random(options.seed, "killed gateway");
  while (!options.signal.aborted) {
    await liveAndDie(options, random.between(...options.lifeMs));
    options.tally.count("kill -9 of a gateway over stdio");
  }
}

/** @param {KilledOptions} options @param {number} lifeMs */
async function liveAndDie({ folder, config, env, tally, signal }, lifeMs) {
  const child = spawn(process.execPath, [COMMAND, "serve", "--mcp", config, "--surface", "direct"], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  const ended = once(child, "exit");
  let isKilled = false;
  child.once("exit", (code) => {
    if (!isKilled) tally.problem(STDIO_CHECK, `it exited by itself with ${code}`);
  });
  // Ignore writes to a process that was just killed.
  child.stdin.on("error", () => {});
  /** @param {object} message */
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  /** @type {() => void} */
  let onAnswer = () => {};
  const answered = new Promise((/** @type {(value: void) => void} */ resolve) => {
    onAnswer = resolve;
  });
  let number = 0;
  const callNext = () => {
    number += 1;
    const params = { name: "mcp__hello__repeat", arguments: { text: `stdio ${number}`, count: 1 } };
    send({ id: number, method: "tools/call", params });
    // Leave a call hanging when the kill comes.
    if (number % 10 === 5) {
      send({
        id: `hang ${number}`,
        method: "tools/call",
        params: { name: "mcp__slow__wait", arguments: { ms: 60_000 } },
      });
    }
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    if (id === 0) {
      send({ method: "notifications/initialized" });
      callNext();
    } else if (id === number) {
      onAnswer();
      tally.count("calls over stdio");
      if (textOf(result) !== `stdio ${id}`) tally.problem(STDIO_CHECK, `${id}: ${JSON.stringify(result ?? error)}`);
      callNext();
    }
  });
  const clientInfo = { name: "soak", version: "1" };
  send({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  if (!(await liveFor({ worked: answered, ms: lifeMs, signal }))) tally.problem(STDIO_CHECK, "no response arrived");
  isKilled = true;
  child.kill("SIGKILL");
  await ended;
}
