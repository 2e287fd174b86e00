// Compares `trunkline call` and `trunkline tools` with mcporter: one command from start to end, alternating, with the
// outputs checked. Options: --rounds 7.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServer } from "../../test/servers/start.js";
import { upstream } from "../gateways/gateways.js";
import { SECRETS, seen } from "../gateways/secrets.js";
import { plainEnvironment } from "../gateways/started.js";
import { isAbsent, npmPeer } from "../peers/peers.js";
import { median, report, timeMs } from "../report.js";
import { COMMAND } from "../server/product.js";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "7" } } });
const rounds = Number(values.rounds);
const MANY = 8;

const folder = mkdtempSync(join(tmpdir(), "trunkline-bench-"));
const env = { ...plainEnvironment(folder), TRUNKLINE_HOME: join(folder, "home"), ...SECRETS };

/**
 * Writes a config file that both programs read; `imports` keeps mcporter from reading editors' files. @param {string}
 * name @param {Record<string, object>} servers
 */
function configuration(name, servers) {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ mcpServers: servers, imports: [] }));
  return file;
}

/** Returns what a command prints. @param {readonly string[]} args @returns {Promise<string>} */
function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      printed += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      said += chunk;
    });
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(printed.trim()) : reject(new Error(`${args.join(" ")} exited with ${code}: ${said}`)),
    );
  });
}

/**
 * The same work for both programs, and a check of the output.
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

/** @param {string[]} args @param {Task["isRight"]} isRight */
async function timed(args, isRight) {
  let printed = "";
  const ms = await timeMs(async () => {
    printed = await run(args);
  });
  if (!isRight(printed)) throw new Error(`${args.join(" ")} printed the wrong output: ${printed}`);
  return ms;
}

/** @param {Task} task @param {readonly string[] | undefined} theirCommand @returns {Promise<import("../report.js").Row[]>} */
async function measure({ what, ours, theirs, isRight }, theirCommand) {
  /** @type {number[]} */
  const ourTimes = [];
  /** @type {number[]} */
  const theirTimes = [];
  // The first round warms up the file cache.
  for (let round = 0; round <= rounds; round += 1) {
    const ourMs = await timed([COMMAND, ...ours], isRight);
    if (round > 0) ourTimes.push(ourMs);
    if (theirCommand === undefined) continue;
    const theirMs = await timed([...theirCommand, ...theirs], isRight);
    if (round > 0) theirTimes.push(theirMs);
  }
  const figure = median(ourTimes);
  const row = { what: `${what}: trunkline`, figure, unit: "ms" };
  if (theirCommand === undefined) return [row];
  const their = median(theirTimes);
  return [
    { ...row, beside: "mcporter", ratio: figure / their, isBehind: figure > their },
    { what: `${what}: mcporter`, figure: their, unit: "ms" },
  ];
}

/** @param {readonly string[] | undefined} theirCommand @returns {Promise<import("../report.js").Row[]>} */
async function leaked(theirCommand) {
  const one = configuration("one", { upstream: upstream() });
  const unit = `of ${Object.keys(SECRETS).length}`;
  const what = "secrets the server can read";
  const ours = await run([COMMAND, "call", "--mcp", one, "upstream.environment"]);
  const rows = [{ what: `${what}: trunkline`, figure: seen(ours, SECRETS), unit }];
  if (theirCommand !== undefined) {
    const theirs = await run([...theirCommand, "--config", one, "call", "upstream.environment"]);
    rows.push({ what: `${what}: mcporter`, figure: seen(theirs, SECRETS), unit });
  }
  return rows;
}

const mcporter = npmPeer("mcporter");
const theirCommand = isAbsent(mcporter) ? undefined : mcporter.args;
const server = await startServer("hello");
try {
  /** @type {import("../report.js").Row[]} */
  const rows = [];
  for (const task of tasks(server.url)) rows.push(...(await measure(task, theirCommand)));
  rows.push(...(await leaked(theirCommand)));
  report("caller", rows, {
    title: "Callers: one command from start to end",
    workload: `A command that connects, does one thing and exits, ${rounds} times alternating, after one warm-up. Both programs read the same configuration, and every output is checked: the text of a call must be the same, and a list must contain every tool. A ratio below 1 means Trunkline is faster.`,
    ...(isAbsent(mcporter) ? { absent: [mcporter] } : { versions: { mcporter: mcporter.version } }),
    notes: [
      "mcporter lists one server with `mcporter list <server>` and several with `mcporter list --json`, because without --json it prints only their number. Its daemon is not used: it only keeps servers running that are marked for it.",
    ],
  });
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
