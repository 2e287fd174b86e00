// Compares `trunkline call` and `trunkline tools` with mcporter: one command from start to end, alternating, with the
// outputs checked. Options: --rounds 7.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServer } from "../../test/servers/start.js";
import { besideTheBest } from "../gateways/beside.js";
import { upstream } from "../gateways/gateways.js";
import { SECRETS, seen } from "../gateways/secrets.js";
import { plainEnvironment } from "../gateways/started.js";
import { outputOf } from "../output-of.js";
import { isAbsent, npmPeer } from "../peers/peers.js";
import { median, report, timeMs } from "../report.js";
import { COMMAND } from "../server/product.js";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "7" } } });
const rounds = Number(values.rounds);
const MANY = 8;

/** @typedef {import("../peers/peers.js").Peer} Peer */

/** @type {Peer} */
const OURS = { name: "trunkline", version: "", command: process.execPath, args: [COMMAND], runtime: "any" };

const folder = mkdtempSync(join(tmpdir(), "trunkline-bench-"));
const env = { ...plainEnvironment(folder), TRUNKLINE_HOME: join(folder, "home"), ...SECRETS };

/**
 * Writes a config file that all of them read; `imports` keeps mcporter from reading editors' files. @param {string}
 * name @param {Record<string, object>} servers
 */
function configuration(name, servers) {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ mcpServers: servers, imports: [] }));
  return file;
}

/** Returns what a command prints. @param {string} command @param {readonly string[]} args @returns {Promise<string>} */
function run(command, args) {
  return outputOf(command, args, { cwd: folder, env });
}

/**
 * The same work for all programs, and a check of the output.
 * @typedef {{ what: string, ours: string[], theirs: string[], isRight: (printed: string) => boolean }} Task
 */

/** @param {string} url @returns {Task[]} */
function tasks(url) {
  const one = configuration("one", { upstream: upstream() });
  const remote = configuration("remote", { hello: { type: "http", url } });
  const names = Array.from({ length: MANY }, (_, index) => `server${index}`);
  const many = configuration("many", Object.fromEntries(names.map((name) => [name, upstream()])));
  const text = "The quick brown fox jumps over the lazy dog.";
  const listsAll = (/** @type {string} */ printed) =>
    ["echo", "big", "pid", "environment"].every((tool) => printed.includes(tool));
  return [
    {
      what: "a call to a stdio server",
      ours: ["call", "--mcp", one, "upstream.echo", `text=${text}`],
      theirs: ["--config", one, "call", "upstream.echo", `text=${text}`],
      isRight: (printed) => printed === text,
    },
    {
      what: "a call to an HTTP server",
      ours: ["call", "--mcp", remote, "hello.repeat", `text=${text}`, "count:=1"],
      theirs: ["--config", remote, "call", "hello.repeat", `text=${text}`, "count=1"],
      isRight: (printed) => printed === text,
    },
    {
      what: "the tools of one server",
      ours: ["tools", "--mcp", one],
      theirs: ["--config", one, "list", "upstream"],
      isRight: listsAll,
    },
    {
      what: `the tools of ${MANY} servers`,
      ours: ["tools", "--mcp", many],
      theirs: ["--config", many, "list", "--json"],
      isRight: (printed) => listsAll(printed) && names.every((name) => printed.includes(name)),
    },
  ];
}

/** @param {Peer} program @param {string[]} args @param {Task["isRight"]} isRight */
async function timed(program, args, isRight) {
  let printed = "";
  const ms = await timeMs(async () => {
    printed = await run(program.command, [...program.args, ...args]);
  });
  if (!isRight(printed)) throw new Error(`${args.join(" ")} printed the wrong output: ${printed}`);
  return ms;
}

/** @param {Task} task @param {readonly Peer[]} peers @returns {Promise<import("../report.js").Row[]>} */
async function measure({ what, ours, theirs, isRight }, peers) {
  const programs = [OURS, ...peers].map((program) => ({ program, times: /** @type {number[]} */ ([]) }));
  // The first round warms up the file cache.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { program, times } of programs) {
      const ms = await timed(program, program === OURS ? ours : theirs, isRight);
      if (round > 0) times.push(ms);
    }
  }
  const figures = programs.map(({ program, times }) => ({
    name: program.name,
    role: program === OURS ? /** @type {const} */ ("ours") : /** @type {const} */ ("peer"),
    figure: median(times),
  }));
  return besideTheBest(figures, { what, unit: "ms", best: "least" });
}

/** @param {readonly Peer[]} peers @returns {Promise<import("../report.js").Row[]>} */
async function leaked(peers) {
  const one = configuration("one", { upstream: upstream() });
  const rows = [];
  for (const program of [OURS, ...peers]) {
    const args = program === OURS ? ["call", "--mcp", one] : ["--config", one, "call"];
    const printed = await run(program.command, [...program.args, ...args, "upstream.environment"]);
    const unit = `of ${Object.keys(SECRETS).length}`;
    rows.push({ what: `secrets the server can read: ${program.name}`, figure: seen(printed, SECRETS), unit });
  }
  return rows;
}

const found = [npmPeer("mcporter"), npmPeer("mcporter", "node24")].filter((peer) => peer !== undefined);
const peers = found.flatMap((peer) => (isAbsent(peer) ? [] : [peer]));
const server = await startServer("hello");
try {
  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const task of tasks(server.url)) rows.push(...(await measure(task, peers)));
  rows.push(...(await leaked(peers)));
  report("caller", rows, {
    title: "Callers: one command from start to end",
    workload: `A command that connects, does one thing and exits, ${rounds} times alternating, after one warm-up. All programs read the same configuration, and every output is checked: the text of a call must be the same, and a list must contain every tool. A ratio below 1 means Trunkline is faster.`,
    versions: Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    absent: found.filter(isAbsent),
    notes: [
      "mcporter lists one server with `mcporter list <server>` and several with `mcporter list --json`, because without --json it prints only their number. Its daemon is not used: it only keeps servers running that are marked for it.",
    ],
  });
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
