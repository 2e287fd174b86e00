// CPU time that a call of an HTTP server costs in the client's process, through the hub and through undici alone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { upstream } from "../gateways/gateways.js";

export const HTTP_WARM_UP_CALLS = 3_000;

/**
 * Returns microseconds per call, the least of the rounds: undici alone, then each checkout. @param {readonly string[]}
 * checkouts @param {{ rounds: number, calls: number }} options
 */
export async function httpCallCosts(checkouts, { rounds, calls }) {
  const { command, args } = /** @type {{ command: string, args: string[] }} */ (upstream("--http"));
  const server = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(createInterface({ input: server.stdout }), "line");
  const url = `http://127.0.0.1:${port}/upstream`;
  const callers = [[], ...checkouts.map((checkout) => [checkout])].map((more) => startCaller([url, ...more]));
  try {
    const costs = callers.map(() => Number.POSITIVE_INFINITY);
    for (const caller of callers) await caller.costOf(HTTP_WARM_UP_CALLS);
    // Alternate, so that other load on the machine affects all of them.
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, caller] of callers.entries()) {
        costs[at] = Math.min(costs[at] ?? Number.NaN, await caller.costOf(calls));
      }
    }
    return costs;
  } finally {
    for (const caller of callers) caller.stop();
    server.kill();
  }
}

/** @param {string[]} args */
function startCaller(args) {
  const file = fileURLToPath(new URL("./http-caller.js", import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  return {
    costOf: async (/** @type {number} */ calls) => {
      child.stdin.write(`${calls}\n`);
      const [line] = await Promise.race([once(lines, "line"), once(child, "exit")]);
      if (typeof line !== "string") throw new Error("the caller ended");
      return Number(line);
    },
    stop: () => void child.stdin.end(),
  };
}
