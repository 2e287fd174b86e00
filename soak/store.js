// Two writers in one store, one of them killed and restarted every few seconds, and a concurrent reader.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isTrunklineError } from "@trunkline/core";
import { openStore } from "../packages/store/dist/index.js";
import { pause } from "./clients.js";
import { contentOf, isText, wordOf } from "./documents.js";
import { liveFor } from "./life.js";
import { Random } from "./random.js";

const WRITER = fileURLToPath(new URL("./writer.js", import.meta.url));
const WRITERS = 2;
/** How late the output of a writer can arrive. */
const SAID_MS = 20_000;

/** The checks that the store can fail during writes. */
export const STORE_CHECKS = {
  writers: "writers stop only on kill -9",
  reader: "a reader finds everything acknowledged, and nothing half-written",
};

/** @typedef {{ path: string, env: NodeJS.ProcessEnv, seed: number, tally: import("./tally.js").Tally, signal: AbortSignal, ledger: import("./ledger.js").Ledger, killEveryMs: [number, number] }} StoreScene */

/** Resolves when the signal is aborted and every writer is dead. @param {StoreScene} scene */
export async function runStore(scene) {
  const { seed, signal, killEveryMs, tally } = scene;
  const random = new Random(seed, "store");
  const writers = Array.from({ length: WRITERS }, (_, index) => new Writer(scene, index));
  const reading = runReader(scene);
  for (let round = 0; !signal.aborted; round++) {
    const victim = /** @type {Writer} the index is in range */ (writers[round % WRITERS]);
    if (!(await liveFor({ worked: victim.worked, ms: random.between(...killEveryMs), signal }))) {
      tally.problem(STORE_CHECKS.writers, "a writer wrote nothing");
    }
    await victim.kill();
    tally.count("kill -9 of a writer");
    if (!signal.aborted) victim.start();
  }
  await Promise.all(writers.map((writer) => writer.kill()));
  await reading;
}

class Writer {
  #scene;
  #index;
  #life = 0;
  /** @type {() => Promise<void>} */
  #kill = async () => {};
  /** Settles at the first write since the last start. @type {Promise<void>} */
  worked = Promise.resolve();

  /** @param {StoreScene} scene @param {number} index */
  constructor(scene, index) {
    this.#scene = scene;
    this.#index = index;
    this.start();
  }

  start() {
    const { path, env, seed, tally, ledger } = this.#scene;
    const prefix = `writer${this.#index}-life${this.#life++}`;
    const child = spawn(process.execPath, [WRITER, path, prefix, String(seed)], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      said += chunk;
    });
    const lines = createInterface({ input: child.stdout });
    this.worked = new Promise((resolve) => {
      lines.on("line", (line) => {
        if (line === "done gc") tally.count("garbage collections during writes");
        ledger.read(line);
        if (line.startsWith("done")) resolve();
      });
    });
    // Wait until all output has been read and the process is gone.
    const ended = Promise.all([once(lines, "close"), once(child, "exit")]);
    let isKilled = false;
    child.once("exit", (code) => {
      if (!isKilled) tally.problem(STORE_CHECKS.writers, `${prefix} exited with ${code}: ${said.slice(-500)}`);
    });
    this.#kill = async () => {
      isKilled = true;
      child.kill("SIGKILL");
      await ended;
    };
  }

  async kill() {
    await this.#kill();
  }
}

/** Reads and searches the documents in the ledger. @param {StoreScene} scene */
async function runReader({ path, seed, tally, signal, ledger }) {
  const random = new Random(seed, "reader");
  const store = await openStore({ path });
  try {
    while (!signal.aborted) {
      await pause(random.between(50, 250), signal);
      const names = ledger.present;
      if (names.length === 0) continue;
      const name = random.next() < 0.5 ? (names.at(-1) ?? "") : random.pick(names);
      await readOne({ store, tally, ledger, name });
    }
  } finally {
    await store.close();
  }
}

/**
 * Returns the bytes of a document, or undefined if it is missing or in the trash. @param
 * {import("@trunkline/store").Store} store
 * @param {string} name
 */
export async function documentBytes(store, name) {
  try {
    const { hash, state } = await store.get({ path: name });
    if (state !== undefined) return undefined;
    return Buffer.from(await store.bytes(/** @type {import("@trunkline/core").ContentId} as returned by get */ (hash)));
  } catch (error) {
    if (isTrunklineError(error, "NOT_FOUND")) return undefined;
    throw error;
  }
}

/**
 * Reads a document that a writer has acknowledged, and searches for its word. The writers go on meanwhile: a version
 * that is newer than the acknowledged one is fine, and so is a document that has been deleted.
 * @param {{ store: import("@trunkline/store").Store, tally: StoreScene["tally"], ledger: StoreScene["ledger"], name: string }} options
 */
export async function readOne({ store, tally, ledger, name }) {
  const problem = (/** @type {string} */ text) => tally.problem(STORE_CHECKS.reader, `${name} ${text}`);
  const acknowledged = Math.max(...ledger.statesOf(name).map((version) => version ?? 0));
  try {
    const bytes = await documentBytes(store, name);
    const found = await store.search({ query: wordOf(name), type: "keyword", pathsOnly: true, limit: 5 });
    tally.count("documents read and searched during writes");
    // Only its own writer deletes a document, and says so before it does.
    if (bytes === undefined) {
      if (!(await isDeleted({ store, ledger, name }))) problem("is missing");
      return;
    }
    const isVersion = (/** @type {number} */ version) => bytes.equals(contentOf(name, version));
    const newest = Math.max(acknowledged, ...ledger.statesOf(name).map((version) => version ?? 0));
    const versions = Array.from({ length: newest + 1 }, (_, index) => index + 1);
    if (!versions.some(isVersion)) problem(`has ${bytes.length} bytes that match no version up to ${newest}`);
    if (!isText(name) || ("paths" in found && found.paths.includes(name))) return;
    if (!(await isDeleted({ store, ledger, name }))) problem("exists but a search for its word does not find it");
  } catch (error) {
    problem(`cannot be read: ${error}`);
  }
}

/**
 * Whether a document is gone because its writer has deleted it. The store says so at once; the writer's output can
 * arrive a moment later.
 * @param {{ store: import("@trunkline/store").Store, ledger: StoreScene["ledger"], name: string }} options
 */
async function isDeleted({ store, ledger, name }) {
  if ((await documentBytes(store, name)) !== undefined) return false;
  const deadline = performance.now() + SAID_MS;
  while (!ledger.statesOf(name).includes(undefined)) {
    if (performance.now() > deadline) return false;
    await delay(20);
  }
  return true;
}
