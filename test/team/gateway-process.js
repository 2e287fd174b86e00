// Gateways as separate processes, each with its own port that it keeps over restarts. They share a home, as in deploy/.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const COMMAND = fileURLToPath(new URL("../../packages/cli/bin/trunkline.cjs", import.meta.url));
export const TOKEN = "tkl_for-the-tests-of-a-team";
const STARTED_MS = 120_000;

/** Finds a port that nothing listens on. @returns {Promise<number>} */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/**
 * A folder with a home and a configuration for all gateways of a team.
 *
 * @param {string} store
 * @param {Record<string, unknown>} servers
 */
export function teamPlace(store, servers = {}) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-team-"));
  const [cwd, home, mcp] = [join(folder, "work"), join(folder, "home"), join(folder, "mcp.json")];
  mkdirSync(cwd);
  mkdirSync(home);
  writeFileSync(mcp, JSON.stringify({ mcpServers: servers }));
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    TRUNKLINE_STORE: store,
    TRUNKLINE_TOKEN: TOKEN,
    TRUNKLINE_TRUST: "all",
    TRUNKLINE_BROKER: "off",
    TRUNKLINE_NO_UPDATE_NOTICE: "1",
  };
  return { folder, cwd, home, mcp, env, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** @typedef {ReturnType<typeof teamPlace>} TeamPlace */
/** @typedef {{ args?: readonly string[], env?: Record<string, string>, wrapper?: readonly string[] }} GatewayOptions */

export class GatewayProcess {
  #place;
  #options;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child;
  name;
  port;
  stderr = "";

  /** @param {TeamPlace} place @param {{ name: string, port: number } & GatewayOptions} options */
  constructor(place, { name, port, ...options }) {
    this.#place = place;
    this.#options = options;
    this.name = name;
    this.port = port;
  }

  /** Starts a new gateway on a free port. @param {TeamPlace} place @param {{ name: string } & GatewayOptions} options */
  static async open(place, options) {
    const gateway = new GatewayProcess(place, { ...options, port: await freePort() });
    await gateway.start();
    return gateway;
  }

  get url() {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  get pid() {
    return this.#child?.pid ?? 0;
  }

  /** Starts the process and resolves when it is ready, or at least listens. @param {{ ready?: boolean }} options */
  async start({ ready = true } = {}) {
    const { cwd, mcp, env } = this.#place;
    const { args = [], env: more = {}, wrapper = [] } = this.#options;
    const serve = ["serve", "--http", "--gateway", this.name, "--port", String(this.port), "--mcp", mcp, ...args];
    const [program = "", ...rest] = [...wrapper, process.execPath, COMMAND, ...serve];
    const child = spawn(program, rest, { cwd, env: { ...env, ...more }, stdio: ["ignore", "ignore", "pipe"] });
    this.#child = child;
    this.stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    const sign = new AbortController();
    child.once("exit", () => sign.abort());
    const untilMs = performance.now() + STARTED_MS;
    while (performance.now() < untilMs) {
      if (sign.signal.aborted) throw new Error(`${this.name} exited with ${child.exitCode}: ${this.stderr}`);
      const status = await fetch(new URL(ready ? "/readyz" : "/healthz", this.url)).then(
        (response) => response.status,
        () => 0,
      );
      if (status === 200) return;
      await delay(50);
    }
    throw new Error(`${this.name} is not ready: ${this.stderr}`);
  }

  /** Returns the text of a page for operators. @param {string} path */
  async page(path) {
    const response = await fetch(new URL(path, this.url), { headers: { authorization: `Bearer ${TOKEN}` } });
    return { status: response.status, text: await response.text() };
  }

  /** Sends a signal and resolves with the exit code, which is null if the signal ended it. @param {NodeJS.Signals} signal */
  async end(signal = "SIGTERM") {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exit = once(child, "exit");
    child.kill(signal);
    await exit;
    return child.exitCode;
  }

  /** Sends a signal without waiting. @param {NodeJS.Signals} signal */
  signal(signal) {
    this.#child?.kill(signal);
  }
}
