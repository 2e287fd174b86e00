// Runs `trunkline serve --http` and monitors its memory and the resources it holds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { COMMAND } from "../bench/server/product.js";
import { canLook, descriptorsOf, listenersOf, memoryOf } from "./processes.js";

const PROBE = new URL("./probe.js", import.meta.url).href;
const SAMPLE_MS = 1_000;
const STOP_MS = 30_000;
/** What Node prints to stderr when listeners pile up or a promise rejection is unhandled. */
const COMPLAINT = /MaxListenersExceededWarning|UnhandledPromiseRejection|Uncaught|FATAL ERROR|request failed/;

/** How often the heap is measured for one figure, and the time in between. */
const HEAP_MEASURES = 6;
const HEAP_PAUSE_MS = 1_000;
export const HEAP_MS = HEAP_MEASURES * HEAP_PAUSE_MS;

/**
 * The resources a process holds: descriptors by kind, active handles, heap samples, and the heap after a garbage
 * collection, both in megabytes.
 * @typedef {{ descriptors: Map<string, number>, ports: number, busy: Record<string, number>, heap: number[], live: number }} Holdings
 */

export class Gateway {
  /** @type {import("node:child_process").ChildProcess} */
  #child;
  #ended;
  #probeFile;
  #sampling;
  /** The URL for clients. */
  url;
  /** Megabytes, one sample per second. @type {number[]} */
  memory = [];
  /** Warnings on stderr that must not occur. @type {string[]} */
  complaints = [];

  /** @param {import("node:child_process").ChildProcess} child @param {{ url: string, probeFile: string }} options */
  constructor(child, { url, probeFile }) {
    this.#child = child;
    this.#ended = once(child, "exit");
    this.#probeFile = probeFile;
    this.url = url;
    this.#sampling = setInterval(() => {
      const now = canLook ? memoryOf(this.pid) : undefined;
      if (now !== undefined) this.memory.push(now);
    }, SAMPLE_MS);
  }

  /**
   * Starts the gateway and resolves when it is listening.
   * @param {{ folder: string, config: string, env: NodeJS.ProcessEnv }} where
   */
  static async start({ folder, config, env }) {
    const probeFile = join(folder, "probe.json");
    const args = ["serve", "--http", "--no-token", "--port", "0", "--mcp", config, "--surface", "both"];
    const child = spawn(process.execPath, ["--import", PROBE, COMMAND, ...args], {
      cwd: folder,
      env: { ...env, SOAK_PROBE: probeFile },
      stdio: ["ignore", "ignore", "pipe"],
      // Ctrl-C stops the soak, which then stops this process cleanly.
      detached: true,
    });
    /** @type {string[]} */
    const said = [];
    /** @type {Gateway | undefined} */
    let gateway;
    const url = await new Promise((/** @type {(url: string) => void} */ resolve, reject) => {
      createInterface({ input: child.stderr }).on("line", (line) => {
        if (COMPLAINT.test(line)) gateway?.complaints.push(line);
        if (gateway !== undefined) return;
        said.push(line);
        const found = /listening at (\S+)/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.once("exit", (code) => reject(new Error(`serve exited with ${code}:\n${said.join("\n")}`)));
    });
    gateway = new Gateway(child, { url, probeFile });
    return gateway;
  }

  get pid() {
    return this.#child.pid ?? 0;
  }

  get isRunning() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Returns the resources held now, or undefined without /proc or after the gateway has exited. @returns
   * {Promise<Holdings | undefined>}
   */
  async holdings() {
    if (!canLook || !this.isRunning) return undefined;
    rmSync(this.#probeFile, { force: true });
    process.kill(this.pid, "SIGUSR2");
    for (let tries = 0; tries < 200; tries++) {
      await delay(50);
      try {
        const { busy, heap, live } = JSON.parse(readFileSync(this.#probeFile, "utf8"));
        return { descriptors: descriptorsOf(this.pid), ports: listenersOf(this.pid), busy, heap, live };
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
      }
    }
    throw new Error("serve does not respond to SIGUSR2");
  }

  /**
   * Returns the heap after forced garbage collections, in megabytes: the least of several, because calls in progress add
   * to it. Undefined if it cannot be measured. @returns {Promise<number | undefined>}
   */
  async liveHeap() {
    let least = Number.POSITIVE_INFINITY;
    for (let count = 0; count < HEAP_MEASURES; count++) {
      if (count > 0) await delay(HEAP_PAUSE_MS);
      least = Math.min(least, (await this.holdings())?.live ?? Number.POSITIVE_INFINITY);
    }
    return Number.isFinite(least) ? least : undefined;
  }

  stopSampling() {
    clearInterval(this.#sampling);
  }

  /**
   * Stops the gateway as a user would. Resolves with its exit code, or null if a signal had to end it. @returns
   * {Promise<number | null>}
   */
  async stop() {
    this.stopSampling();
    if (this.isRunning) {
      this.#child.kill("SIGTERM");
      const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS);
      await this.#ended;
      clearTimeout(timer);
    }
    return this.#child.exitCode;
  }
}
