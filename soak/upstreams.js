// The upstream servers: sound ones over every transport, and faulty ones that crash, hang, flood or expire.
import { entry } from "../bench/server/product.js";
import { startServer } from "../test/servers/start.js";
import { Random } from "./random.js";

/**
 * An upstream server. A sound one has `echo`, a tool that returns the text it is given. A faulty one has `call`, which
 * picks the next call to make.
 * @typedef {{ tool: string, args: Record<string, unknown> }} Call
 * @typedef {"stdio" | "http" | "sse"} Transport
 * @typedef {{ name: string, server: string, args: string[], over: Transport, echo?: Echo, call?: (random: Random) =>
 * Call, options?: Record<string, number>, restarts?: boolean }} Upstream
 * @typedef {(text: string) => Call} Echo
 */

/** @type {Echo} */
const repeat = (text) => ({ tool: "repeat", args: { text, count: 1 } });
/** @type {Echo} */
const echo = (text) => ({ tool: "echo", args: { text } });

/** @type {Record<string, Omit<Upstream, "name">>} */
const KINDS = {
  hello: { server: "hello", args: [], over: "stdio", echo: repeat },
  legacy: { server: "hello", args: ["--legacy-only"], over: "stdio", echo: repeat },
  web: { server: "hello", args: [], over: "http", echo: repeat },
  legacyWeb: { server: "hello", args: ["--legacy-only"], over: "http", echo: repeat },
  sse: { server: "hello", args: [], over: "sse", echo: repeat },
  modern: { server: "modern", args: [], over: "stdio", echo },
  modernWeb: { server: "modern", args: [], over: "http", echo },
  old: { server: "old", args: [], over: "stdio", echo },
  oldSse: { server: "old", args: [], over: "sse", echo },
  garbled: { server: "garbled", args: [], over: "stdio", echo },
  garbledWeb: { server: "garbled", args: [], over: "http", echo },
  crashOnCall: { server: "crashing", args: [], over: "stdio", call: crash },
  crashNowAndThen: { server: "crashing", args: ["--crash-after", "20"], over: "stdio", call: () => tool("ok") },
  crashOnStart: { server: "crashing", args: ["--crash-on-start"], over: "stdio", call: () => tool("ok") },
  crashWeb: { server: "crashing", args: [], over: "http", call: crash, restarts: true },
  silent: { server: "silent", args: [], over: "stdio", call: () => tool("any"), options: { timeout: 2 } },
  silentWeb: { server: "silent", args: [], over: "http", call: () => tool("any"), options: { timeout: 2 } },
  hang: { server: "slow", args: [], over: "stdio", call: hang, options: { callTimeout: 2 } },
  hangWeb: { server: "slow", args: [], over: "http", call: hang, options: { callTimeout: 2 } },
  flood: { server: "flooding", args: [], over: "stdio", call: flood, options: { callTimeout: 20 } },
  floodWeb: { server: "flooding", args: [], over: "http", call: flood, options: { callTimeout: 20 } },
  expire: { server: "expiring", args: ["--after", "5"], over: "http", call: () => tool("count") },
};

/** Upstreams of each kind: 30 in all, 18 of them sound. @type {Record<string, number>} */
const FULL = { hello: 4, legacy: 3, web: 2, legacyWeb: 2, crashOnCall: 2 };

/** One of each of most kinds, for short runs. */
const SMALL = ["hello", "legacy", "web", "garbled", "crashOnCall", "crashOnStart", "silent", "hang", "flood", "expire"];

/** @param {boolean} small @returns {Upstream[]} */
export function upstreams(small) {
  const kinds = Object.entries(KINDS).filter(([name]) => !small || SMALL.includes(name));
  return kinds.flatMap(([name, kind]) =>
    Array.from({ length: small ? 1 : (FULL[name] ?? 1) }, (_, index) => ({ ...kind, name: `${name}${index + 1}` })),
  );
}

/** @param {string} name @param {Record<string, unknown>} [args] @returns {Call} */
function tool(name, args = {}) {
  return { tool: name, args };
}

/** @param {Random} random */
function crash(random) {
  return random.next() < 0.2 ? tool("crash", { code: random.between(0, 3) }) : tool("ok");
}

/** Waits longer than the call's timeout, without reporting progress, which would extend it. @param {Random} random */
function hang(random) {
  return random.next() < 0.5 ? tool("wait", { ms: 600_000, progress_every_ms: 600_000 }) : tool("wait", { ms: 10 });
}

/** @param {Random} random */
function flood(random) {
  return random.pick([
    tool("big", { bytes: random.between(100_000, 3_000_000) }),
    tool("logs", { count: random.between(100, 2_000) }),
    tool("stderr", { bytes: random.between(100_000, 2_000_000) }),
  ]);
}

/** Starts the upstreams that listen on ports; the processes that use the config start the others. */
export class StartedUpstreams {
  #env;
  #tally;
  #closed = false;
  /** @type {Map<string, import("../test/servers/start.js").StartedServer>} */
  #running = new Map();
  /** @type {Promise<void>[]} */
  #restarting = [];

  /** @param {{ env: NodeJS.ProcessEnv, tally: import("./tally.js").Tally }} options */
  constructor({ env, tally }) {
    this.#env = env;
    this.#tally = tally;
  }

  /** Starts the network upstreams and returns a config that lists all upstreams. @param {readonly Upstream[]} all */
  async start(all) {
    const entries = await Promise.all(all.map(async (one) => [one.name, await this.#entryOf(one)]));
    return { mcpServers: Object.fromEntries(entries) };
  }

  async close() {
    this.#closed = true;
    await Promise.all([...this.#running.values()].map((server) => server.close()));
    await Promise.all(this.#restarting);
  }

  /** @param {Upstream} one */
  async #entryOf(one) {
    const { server, args, over, options = {} } = one;
    if (over === "stdio") return { ...entry(server, ...args), ...options };
    const { url } = await this.#launch(one, 0);
    return { type: over, url, ...options };
  }

  /** @param {Upstream} one @param {number} port */
  async #launch(one, port) {
    const { name, server, args, over } = one;
    const started = await startServer(server, [`--${over}`, "--port", String(port), ...args], {
      env: this.#env,
      detached: true,
    });
    this.#running.set(name, started);
    if (this.#closed) await started.close();
    if (one.restarts === true) {
      this.#restarting.push(started.exited.then(() => this.#again(one, started)));
    }
    return started;
  }

  /**
   * Restarts a crashed server at the same URL. @param {Upstream} one @param {{ port: number, close: () => Promise<void>
   * }} crashed
   */
  async #again(one, crashed) {
    await crashed.close();
    if (this.#closed) return;
    this.#tally.count("HTTP servers restarted after a crash");
    await this.#launch(one, crashed.port);
  }
}
