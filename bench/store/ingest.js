// Measures how fast a folder is indexed (new, unchanged, and with one file changed), compared with git on the same
// tree, and how much deduplication saves. `node bench/store/ingest.js [--tree <folder>] [--files 20000] [--rounds 3]`:
// without a folder, the tree is built from the sources of the installed packages.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openStore } from "../../packages/store/dist/index.js";
import { isAbsent, systemPeer } from "../peers/peers.js";
import { median, report, timeMs } from "../report.js";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "20000" },
    rounds: { type: "string", default: "3" },
    tree: { type: "string" },
  },
});
const title = "Indexing a folder";
const gitPeer = systemPeer("git");
if (isAbsent(gitPeer)) {
  report("store-ingest", [], { title, workload: "", absent: [gitPeer] });
  process.exit();
}
const wanted = Number(values.files);
const rounds = Number(values.rounds);
const home = mkdtempSync(join(tmpdir(), "trunkline-bench-store-"));
const tree = join(home, "tree");
const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** Copies real source files repeatedly under new names, with a line that makes each one distinct. */
function makeTree() {
  const sources = collect(PACKAGES, []).slice(0, wanted);
  for (let number = 0; number < wanted; number++) {
    const source = /** @type {string} */ (sources[number % sources.length]);
    const path = join(tree, `part-${number % 200}`, `${number}-${source.split("/").pop()}`);
    if (number < 200) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `// ${number}\n${readFileSync(source, "utf8")}`);
  }
}

/** @param {string} folder @param {string[]} found @returns {string[]} */
function collect(folder, found) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (found.length >= wanted) break;
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    if (entry.isDirectory()) collect(path, found);
    else if (entry.isFile() && /\.(m?[jt]s|md|json)$/.test(entry.name) && statSync(path).size < 200_000)
      found.push(path);
  }
  return found;
}

/** Lists the files of a folder, with their size in bytes. @param {string} folder */
function measure(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
  return { files, bytes: files.reduce((sum, path) => sum + statSync(path).size, 0) };
}

/** Adds a line to one file. @param {string} folder @param {string} name @param {number} round */
function change(folder, name, round) {
  appendFileSync(join(folder, name), `\nround ${round}\n`);
}

/** @param {string} cwd @param {...string} args */
function git(cwd, ...args) {
  execFileSync("git", ["-c", "core.fsmonitor=false", ...args], { cwd, stdio: "ignore", maxBuffer: 1 << 28 });
}

if (values.tree === undefined) makeTree();
else cpSync(values.tree, tree, { recursive: true, filter: (path) => basename(path) !== ".git" });
const { files, bytes: treeBytes } = measure(tree);
const changed = relative(tree, files[Math.floor(files.length / 2)] ?? "");
/** @type {Record<"gitAdd" | "gitStatus" | "gitOne" | "add" | "complete" | "again" | "one", number[]>} */
const times = { gitAdd: [], gitStatus: [], gitOne: [], add: [], complete: [], again: [], one: [] };
for (let round = 0; round < rounds; round++) {
  const repository = join(home, `git-${round}`);
  cpSync(tree, repository, { recursive: true, preserveTimestamps: true });
  git(repository, "init", "-q");
  times.gitAdd.push(await timeMs(async () => git(repository, "add", "-A")));
  git(repository, "status");
  times.gitStatus.push(await timeMs(async () => git(repository, "status", "--porcelain")));
  change(repository, changed, round);
  times.gitOne.push(await timeMs(async () => git(repository, "add", "-A")));
  rmSync(repository, { recursive: true });

  const store = await openStore({ path: join(home, `store-${round}`) });
  const started = performance.now();
  times.add.push(await timeMs(() => store.add({ path: tree })));
  await store.indexed();
  times.complete.push(performance.now() - started);
  await store.add({ path: tree });
  times.again.push(await timeMs(() => store.add({ path: tree })));
  change(tree, changed, round);
  times.one.push(await timeMs(() => store.add({ path: tree })));
  const found = await store.search({ query: "function", limit: 1 });
  if (found.total === 0) throw new Error("nothing was found");
  await store.close();
  rmSync(join(home, `store-${round}`), { recursive: true });
}

const store = await openStore({ path: join(home, "versions") });
const large = join(home, "large.bin");
const bytes = randomBytes(10 * 1024 * 1024);
for (let version = 0; version < 20; version++) {
  for (let edit = 0; edit < 5; edit++) bytes.set(randomBytes(64), (version * 5 + edit) * 97_003);
  writeFileSync(large, Buffer.concat([bytes.subarray(0, 5000), randomBytes(version), bytes.subarray(5000)]));
  await store.add({ path: large });
}
const { dedupRatio: saved } = await store.status();
await store.close();
rmSync(home, { recursive: true, force: true });

report(
  "store-ingest",
  [
    { what: `${files.length} files`, figure: treeBytes / 2 ** 20, unit: "MiB" },
    { what: "git add -A", figure: median(times.gitAdd), unit: "ms" },
    {
      what: `add ${files.length} new files`,
      figure: median(times.add),
      unit: "ms",
      beside: "git add -A",
      ratio: median(times.add) / median(times.gitAdd),
      aim: 1.2,
    },
    {
      what: "… until trigrams, graph and everything else are complete",
      figure: median(times.complete),
      unit: "ms",
      beside: "git add -A",
      ratio: median(times.complete) / median(times.gitAdd),
      aim: 6,
    },
    { what: "git status", figure: median(times.gitStatus), unit: "ms" },
    {
      what: `add ${files.length} unchanged files`,
      figure: median(times.again),
      unit: "ms",
      beside: "git status",
      ratio: median(times.again) / median(times.gitStatus),
      aim: 1.5,
    },
    { what: "git add -A, one file changed", figure: median(times.gitOne), unit: "ms" },
    {
      what: "add, one file changed",
      figure: median(times.one),
      unit: "ms",
      beside: "git add -A, one file changed",
      ratio: median(times.one) / median(times.gitOne),
    },
    { what: "20 versions of 10 MB: not stored again", figure: saved * 100, unit: "%" },
  ],
  {
    title,
    workload: `${files.length} source files, ${rounds} rounds alternating with git, medians. Git hashes and compresses; the store does that too, and also splits text into passages and makes it searchable. The second row includes the background work.`,
    versions: { git: gitPeer.version },
  },
);
