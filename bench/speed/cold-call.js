// One `trunkline call` of a stdio server from start to end, beside an empty Node process, alternating.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { configuration } from "../gateways/entries.js";
import { upstream } from "../gateways/gateways.js";
import { plainEnvironment, temporaryFolder } from "../gateways/started.js";
import { median, timeMs } from "../report.js";
import { COMMAND } from "../server/product.js";

const text = "The quick brown fox jumps over the lazy dog.";

/** Returns both medians in milliseconds. @param {{ rounds: number, command?: string }} options */
export async function coldCall({ rounds, command = COMMAND }) {
  const folder = temporaryFolder();
  const env = { ...plainEnvironment(folder), TRUNKLINE_HOME: join(folder, "home") };
  const file = configuration(folder, { upstream: upstream() });
  /** @param {string[]} args @returns {Promise<string>} */
  const run = (args) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
      let printed = "";
      child.stdout.setEncoding("utf8").on("data", (chunk) => {
        printed += chunk;
      });
      child.once("error", reject);
      child.once("close", (code) =>
        code === 0 ? resolve(printed.trim()) : reject(new Error(`${args.join(" ")} exited with ${code}`)),
      );
    });
  /** @type {number[]} */
  const empty = [];
  /** @type {number[]} */
  const calls = [];
  // The first round warms up the file cache and accepts the server's tools.
  for (let round = 0; round <= rounds; round += 1) {
    const emptyMs = await timeMs(() => run(["-e", "0"]));
    let printed = "";
    const callMs = await timeMs(async () => {
      printed = await run([command, "call", "--mcp", file, "upstream.echo", `text=${text}`]);
    });
    if (printed !== text) throw new Error(`trunkline call printed the wrong output: ${printed}`);
    if (round === 0) continue;
    empty.push(emptyMs);
    calls.push(callMs);
  }
  rmSync(folder, { recursive: true, force: true });
  return { emptyMs: median(empty), callMs: median(calls) };
}
