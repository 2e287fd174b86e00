// Starts a gateway process with its own home and environment, waits until it lists its tools, and stops it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect, NoAnswer } from "./client.js";
import { processTree } from "./processes.js";

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 6_000;

/** Creates a folder for one gateway's home and files. */
export function temporaryFolder() {
  return mkdtempSync(join(tmpdir(), "trunkline-bench-"));
}

/**
 * Returns only the variables a program needs to run; nothing else from this process's environment. @param {string}
 * folder
 */
export function plainEnvironment(folder) {
  const { PATH = "", SystemRoot } = process.env;
  return { PATH, HOME: folder, USERPROFILE: folder, ...(SystemRoot === undefined ? {} : { SystemRoot }) };
}

/** Returns a currently free port: most of these programs cannot pick one themselves. @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/**
 * @typedef {object} Plan
 * @property {string} command
 * @property {string[]} args
 * @property {string} url
 * @property {"streamable" | "sse"} transport
 * @property {string} folder removed when it is stopped
 * @property {Record<string, string>} [env] added to the plain environment
 *
 * @typedef {object} Started
 * @property {number} pid
 * @property {() => Promise<import("./client.js").Client>} connect
 * @property {() => string | undefined} ended how its process ended; undefined while it runs
 * @property {() => Promise<void>} stop
 */

/**
 * Starts a gateway; resolves when it lists at least this many tools. @param {Plan} plan @param {number} tools @returns
 * {Promise<Started>}
 */
export async function startProcess({ command, args, url, transport, folder, env = {} }, tools) {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...plainEnvironment(folder), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    said = `${said}${chunk}`.slice(-2_000);
  });
  /** @type {string | undefined} */
  let end;
  const exited = new Promise((resolve) => {
    const ends = (/** @type {string} */ how) => {
      end = how;
      resolve(end);
    };
    child.once("error", (error) => ends(error.message));
    child.once("exit", (code, signal) => ends(`it exited with ${code ?? signal}`));
  });
  const started = {
    pid: child.pid ?? 0,
    connect: () => connect(url, transport),
    ended: () => end,
    stop: async () => {
      const tree = child.pid === undefined || end !== undefined ? [] : processTree(child.pid);
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
      // Some leave processes behind: mcporter a daemon, others their servers.
      for (const pid of tree.filter((each) => each !== child.pid)) endProcess(pid);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (!(await listsTools(started, tools))) {
    if (end !== undefined || performance.now() > deadline) {
      await started.stop();
      throw new Error(`It did not start: ${end ?? "it does not list its tools"}. ${lastLine(said)}`);
    }
    await delay(100);
  }
  return started;
}

/** @param {number} pid */
function endProcess(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** @param {Pick<Started, "connect">} started @param {number} count */
async function listsTools(started, count) {
  try {
    const client = await started.connect();
    const { tools } = await client.ask("tools/list", {}, 20_000).finally(() => client.close());
    return tools.length >= count;
  } catch (error) {
    if (error instanceof NoAnswer) return false;
    throw error;
  }
}

/** @param {string} text */
function lastLine(text) {
  return text.trim().split("\n").at(-1) ?? "";
}
