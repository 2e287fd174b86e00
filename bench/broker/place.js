// A home and projects for one broker, with the user's own configuration, and the windows that are open there.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { plainEnvironment } from "../gateways/started.js";
import { outputOf } from "../output-of.js";
import { COMMAND } from "../server/product.js";
import { Window } from "./window.js";

const SERVE = ["serve", "--surface", "direct"];
const END_LIMIT_MS = 10_000;

/** @typedef {Record<string, object>} Servers entries of mcp.json */

/** The path of the socket has to be short, so this folder is directly below the one for temporary files. */
export class Place {
  /** @readonly */ folder = mkdtempSync(join(tmpdir(), "tlb-"));
  /** @type {Window[]} */ #windows = [];

  /** @param {Servers} servers */
  constructor(servers) {
    mkdirSync(join(this.folder, ".trunkline"));
    this.configure(servers);
  }

  /** @param {Servers} servers */
  configure(servers) {
    writeFileSync(join(this.folder, ".trunkline", "mcp.json"), JSON.stringify({ mcpServers: servers }));
  }

  get env() {
    return { ...plainEnvironment(this.folder), TRUNKLINE_STORE: join(this.folder, "store") };
  }

  /** @param {string} name */
  project(name = "project") {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Opens a window: `trunkline serve`, not yet initialized. @param {{ isAlone?: boolean, project?: string }} [options] */
  start({ isAlone = false, project } = {}) {
    const args = [COMMAND, ...SERVE, ...(isAlone ? ["--no-broker"] : [])];
    return this.startProgram(process.execPath, args, project);
  }

  /** Opens a window of another program. @param {string} command @param {readonly string[]} args @param {string} [project] */
  startProgram(command, args, project) {
    const window = new Window(command, args, { cwd: this.project(project), env: this.env });
    this.#windows.push(window);
    return window;
  }

  /** Opens a window and initializes it. @param {Parameters<Place["start"]>[0]} [options] */
  async open(options) {
    const window = this.start(options);
    await window.initialize();
    return window;
  }

  /** Runs a command to its end and returns what it prints. @param {readonly string[]} args @param {string} [command] @returns {Promise<string>} */
  run(args, command = process.execPath) {
    return outputOf(command, args, { cwd: this.project(), env: this.env });
  }

  /** The numbers of the broker and of its servers' process groups, as it wrote them down; none if there is no broker. */
  recorded() {
    const folder = join(this.folder, ".trunkline", "run");
    const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^broker\.groups\.\d+$/.test(name)) : [];
    const all = files.map((name) => numbersIn(join(folder, name)));
    // A broker that was killed leaves its file for the next one.
    const [broker, ...servers] = all.find(([pid]) => pid !== undefined && isRunning(pid)) ?? [];
    return { broker, servers };
  }

  /** Closes the windows and waits until their processes have ended. */
  async closeWindows() {
    await Promise.all(this.#windows.splice(0).map((window) => window.close()));
  }

  /** Closes the windows and ends the broker. */
  async stopBroker() {
    await this.closeWindows();
    const { broker, servers } = this.recorded();
    await this.run([COMMAND, "broker", "stop"]);
    await ended([...(broker === undefined ? [] : [broker]), ...servers]);
  }

  async remove() {
    await this.stopBroker();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Reads the number at the start of each line; none if the file is gone. @param {string} file */
function numbersIn(file) {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => Number.parseInt(line, 10));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** @param {number} pid */
export function isRunning(pid) {
  try {
    process.kill(pid, 0);
    // A process that has ended but was not waited for yet.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ESRCH", "ENOENT"].includes(String(error.code))) return false;
    throw error;
  }
}

/** Waits until these processes have ended. @param {readonly number[]} pids */
export async function ended(pids, limitMs = END_LIMIT_MS) {
  const deadline = performance.now() + limitMs;
  while (pids.some(isRunning)) {
    if (performance.now() > deadline) throw new Error(`still running: ${pids.filter(isRunning).join(", ")}`);
    await delay(10);
  }
}
