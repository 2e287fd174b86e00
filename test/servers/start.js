// Starts a test server on a free port as a child process, and makes sure it exits afterwards.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Only guards against hangs: on a busy machine, a process takes long to start.
const readyTimeoutMs = 240_000;
const endTimeoutMs = 5_000;

/**
 * @typedef {object} StartedServer
 * @property {string} url where a client connects
 * @property {number} port
 * @property {number} pid
 * @property {() => string} stderr its stderr output so far
 * @property {(text: string) => Promise<void>} stderrContains resolves when stderr contains the text; rejects if stderr
 * ends without it
 * @property {Promise<number | null>} exited its exit code; null if a signal ended it
 * @property {() => Promise<void>} close stops it and resolves when the process is gone; idempotent
 */

/**
 * @typedef {object} StartOptions
 * @property {Record<string, string | undefined>} [env] the server's whole environment; defaults to that of this process
 * @property {boolean} [detached] run in a separate process group, which Ctrl-C in the terminal does not reach
 */

/**
 * Returns the file to run, for tests that start a server themselves (over stdio).
 *
 * @param {string} name
 */
export function serverPath(name) {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}

/**
 * Starts a server and resolves when it listens. Uses HTTP unless the arguments contain --sse.
 *
 * @param {string} name
 * @param {readonly string[]} [args]
 * @param {StartOptions} [options]
 * @returns {Promise<StartedServer & AsyncDisposable>}
 */
export async function startServer(name, args = [], { env = process.env, detached = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-server-"));
  const readyFile = join(folder, "ready.json");
  const common = ["--end-with-stdin", "--ready-file", readyFile];
  const transport = args.includes("--sse") || args.includes("--http") ? [] : ["--http"];
  const child = spawn(process.execPath, [serverPath(name), ...transport, ...args, ...common], {
    env,
    detached,
    // The server's stdin closes when this process ends, however it ends, and that stops the server.
    stdio: ["pipe", "ignore", "pipe"],
  });

  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk;
  });
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  const ended = once(child, "close");

  const close = async () => {
    const timer = setTimeout(() => child.kill("SIGKILL"), endTimeoutMs);
    child.kill("SIGTERM");
    await exited;
    clearTimeout(timer);
    await rm(folder, { recursive: true, force: true });
  };

  const waiting = new AbortController();
  try {
    await Promise.race([
      fileAppears(folder, readyFile, AbortSignal.any([waiting.signal, AbortSignal.timeout(readyTimeoutMs)])),
      ended.then(() => {
        throw new Error(`the test server ${name} ended before it listened:\n${stderr}`);
      }),
    ]);
    /** @type {{ url: string, port: number, pid: number }} written by network.js */
    const ready = JSON.parse(await readFile(readyFile, "utf8"));
    return {
      ...ready,
      stderr: () => stderr,
      stderrContains: (text) =>
        new Promise((resolve, reject) => {
          const look = () => {
            if (stderr.includes(text)) resolve();
          };
          child.stderr.on("data", look);
          ended.then(
            () => reject(new Error(`the test server ${name} ended without writing "${text}":\n${stderr}`)),
            reject,
          );
          look();
        }),
      exited,
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  } finally {
    waiting.abort();
  }
}

/**
 * @param {string} folder
 * @param {string} file
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
async function fileAppears(folder, file, signal) {
  const watcher = watch(folder);
  try {
    // Start watching before the first check, so a file created in between is not missed.
    while (!existsSync(file)) await once(watcher, "change", { signal });
  } finally {
    watcher.close();
  }
}
