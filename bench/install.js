// Installing the packed command: size and time, beside other programs, and how long a new user waits for a first answer
// and a first search on a machine without a compiler. Downloads from npm's registry.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { megabytesOf, npmSettings } from "../scripts/npm-installs.js";
import { pack, readPackages } from "../scripts/pack.js";
import { environmentFor, nodeOfMajor } from "../scripts/test-on-node.js";
import versions from "./peers/versions.json" with { type: "json" };
import { median, report, timeMs } from "./report.js";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "3" } } });
const rounds = Number(values.rounds);
const hello = fileURLToPath(new URL("../test/servers/hello.js", import.meta.url));
const run = promisify(execFile);
const base = mkdtempSync(join(tmpdir(), "tb-"));

/** The limits of the issue that this benchmark belongs to. */
const MAX_MB = 90;
const MAX_SECONDS = 10;
const MAX_FIRST_SECONDS = 60;

/** npm, and what its scripts need of the system: everything but a compiler. */
const SYSTEM_PROGRAMS = ["npm", "sh", "env", "uname", "git", "tar", "gzip"];

/** A folder with these programs of the system only. */
function systemFolder() {
  const folder = join(base, "system");
  mkdirSync(folder);
  const places = (process.env.PATH ?? "").split(delimiter);
  for (const name of SYSTEM_PROGRAMS) {
    const found = places.map((place) => join(place, name)).find((path) => existsSync(path));
    if (found !== undefined) symlinkSync(realpathSync(found), join(folder, name));
  }
  return folder;
}

/**
 * Installs a package globally into a new prefix.
 *
 * @param {string} what a tarball, or a name and version
 * @param {NodeJS.ProcessEnv} env
 */
async function install(what, env) {
  const prefix = mkdtempSync(join(base, "prefix-"));
  const args = ["install", "-g", "--prefix", prefix, "--no-audit", "--no-fund", what];
  const ms = await timeMs(() => run("npm", args, { cwd: base, env, maxBuffer: 64 * 1024 * 1024 }));
  return { prefix, seconds: ms / 1_000, megabytes: megabytesOf(prefix) };
}

/**
 * Installs it a few times, after a first time that fills npm's cache.
 *
 * @param {string} what
 * @param {NodeJS.ProcessEnv} env
 */
async function measure(what, env) {
  rmSync((await install(what, env)).prefix, { recursive: true });
  /** @type {number[]} */
  const seconds = [];
  let megabytes = 0;
  for (let round = 0; round < rounds; round++) {
    const installed = await install(what, env);
    seconds.push(installed.seconds);
    megabytes = installed.megabytes;
    rmSync(installed.prefix, { recursive: true });
  }
  return { seconds: median(seconds), megabytes };
}

/**
 * A new user with an empty home installs the command, asks a server and searches a document.
 *
 * @param {string} tarball
 * @param {NodeJS.ProcessEnv} npmEnv
 */
async function firstSteps(tarball, npmEnv) {
  const home = mkdtempSync(join(base, "home-"));
  /** @type {Record<string, number>} */
  const seconds = {};
  let last = performance.now();
  const lap = (/** @type {string} */ what) => {
    const now = performance.now();
    seconds[what] = (now - last) / 1_000;
    last = now;
  };
  const { prefix } = await install(tarball, { ...npmEnv, HOME: home });
  lap("install");
  const env = { PATH: [join(prefix, "bin"), npmEnv.PATH].join(delimiter), HOME: home };
  const trunkline = async (/** @type {string[]} */ ...args) =>
    (await run(join(prefix, "bin", "trunkline"), args, { cwd: home, env })).stdout;
  await trunkline("servers", "add", "hello", "--", process.execPath, hello);
  if (!(await trunkline("call", "hello.hello", "name=Ada")).includes("Hello, Ada!")) throw new Error("No answer.");
  lap("answer");
  writeFileSync(join(home, "notes.md"), "# Retries\n\nRetry three times, with backoff.\n");
  await trunkline("store", "add", "notes.md");
  if (!(await trunkline("store", "search", "backoff")).includes("notes.md")) throw new Error("Nothing found.");
  lap("search");
  await trunkline("broker", "stop").catch(() => {});
  return seconds;
}

try {
  const command = readPackages().find(({ name }) => name === "trunkline");
  if (command === undefined) throw new Error("There is no command to pack.");
  const { tarball, sizeBytes } = pack(command, base);
  const node24 = nodeOfMajor("24");
  const path = [join(node24, "bin"), systemFolder()].join(delimiter);
  const own = { ...environmentFor(process.env, node24), ...npmSettings, PATH: path };
  const programs = [
    { name: "trunkline", what: tarball },
    { name: "mcporter", what: `mcporter@${versions.mcporter.node24}` },
    { name: "mcp-hub", what: `mcp-hub@${versions["mcp-hub"].node24}` },
  ];
  /** @type {Map<string, { seconds: number, megabytes: number }>} */
  const measured = new Map();
  for (const { name, what } of programs) measured.set(name, await measure(what, own));
  const ours = measured.get("trunkline") ?? { seconds: Number.NaN, megabytes: Number.NaN };
  const first = await firstSteps(tarball, own);
  const total = Object.values(first).reduce((sum, each) => sum + each, 0);
  report(
    "install",
    [
      { what: "the tarball", figure: sizeBytes / 1e6, unit: "MB" },
      {
        what: "installed, before the model",
        figure: ours.megabytes,
        unit: "MB",
        beside: `${MAX_MB} MB`,
        ratio: ours.megabytes / MAX_MB,
        aim: 1,
      },
      {
        what: "`npm install -g`, files in npm's cache",
        figure: ours.seconds,
        unit: "s",
        beside: `${MAX_SECONDS} s`,
        ratio: ours.seconds / MAX_SECONDS,
        aim: 1,
      },
      ...programs.slice(1).flatMap(({ name }) => {
        const { seconds, megabytes } = measured.get(name) ?? ours;
        return [
          {
            what: `size beside ${name}`,
            figure: ours.megabytes,
            unit: "MB",
            beside: `${name}, ${megabytes.toFixed(0)} MB`,
            ratio: ours.megabytes / megabytes,
            isBehind: ours.megabytes > megabytes,
          },
          {
            what: `time beside ${name}`,
            figure: ours.seconds,
            unit: "s",
            beside: `${name}, ${seconds.toFixed(1)} s`,
            ratio: ours.seconds / seconds,
            isBehind: ours.seconds > seconds,
          },
        ];
      }),
      {
        what: "new user without a compiler: installed, first answer of a server, first search",
        figure: total,
        unit: "s",
        beside: `${MAX_FIRST_SECONDS} s`,
        ratio: total / MAX_FIRST_SECONDS,
        aim: 1,
      },
      ...Object.entries(first).map(([what, seconds]) => ({ what: `   of this, ${what}`, figure: seconds, unit: "s" })),
    ],
    {
      title: "Installing",
      workload: `npm install -g into an empty prefix with Node 24, ${rounds} rounds after one that fills npm's cache. No compiler is on the PATH. The size is that on disk.`,
      versions: {
        mcporter: versions.mcporter.node24,
        "mcp-hub": versions["mcp-hub"].node24,
        node: dirname(node24).split("/").at(-2) ?? "",
      },
    },
  );
} finally {
  rmSync(base, { recursive: true, force: true });
}
