// Shared by the server benchmarks: runs the built command in front of servers, with its own home.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { serverPath } from "../../test/servers/start.js";

/** This checkout. */
export const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));

/** Returns the command of a checkout. @param {string} checkout */
export function commandOf(checkout = CHECKOUT) {
  return join(checkout, "packages/cli/bin/trunkline.cjs");
}

export const COMMAND = commandOf();

/** Returns the configuration entry of a test server. @param {string} name @param {string[]} args */
export function entry(name, ...args) {
  return { command: process.execPath, args: [serverPath(name), ...args] };
}

/**
 * Creates a folder with a configuration and an empty home; `remove` deletes it. @param {Record<string, unknown>}
 * servers
 */
export function place(servers) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-bench-"));
  const mcp = join(folder, "mcp.json");
  writeFileSync(mcp, JSON.stringify({ mcpServers: servers }));
  return {
    folder,
    mcp,
    env: { ...process.env, TRUNKLINE_HOME: join(folder, "home"), TRUNKLINE_STORE: join(folder, "store") },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Starts `trunkline serve --http` and resolves when it is listening.
 * @param {ReturnType<typeof place>} where
 * @param {string[]} args
 * @param {string} command
 */
export async function serveHttp({ folder, mcp, env }, args = [], command = COMMAND) {
  const options = ["--no-token", "--port", "0", "--mcp", mcp];
  const child = spawn(process.execPath, [command, "serve", "--http", ...options, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const url = await new Promise((/** @type {(url: string) => void} */ resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      said += `${line}\n`;
      const found = /listening at (\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`serve exited with ${code}: ${said}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** @param {readonly number[]} values @param {number} part */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
