// The programs we compare with. npm packages are installed at the versions in versions.json, each into its own folder
// under installed/, so a failed install does not affect the others. None of them is a dependency of the product.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import versions from "./versions.json" with { type: "json" };

const INSTALLED = fileURLToPath(new URL("./installed/", import.meta.url));
const INSTALL_TIMEOUT_MS = 300_000;

/**
 * How to start a program, or why it cannot be started.
 * @typedef {{ name: string, version: string, command: string, args: string[] }} Peer
 * @typedef {{ name: string, reason: string }} Absent
 */

/** @param {Peer | Absent} peer @returns {peer is Absent} */
export function isAbsent(peer) {
  return "reason" in peer;
}

/** Finds an npm package, and installs it if missing. @param {keyof typeof versions} name @returns {Peer | Absent} */
export function npmPeer(name) {
  const wanted = versions[name];
  const folder = join(INSTALLED, name);
  const there = installedIn(folder, name, wanted);
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
  return installedIn(folder, name, wanted) ?? { name, reason: `npm could not install ${wanted}: ${why(npm)}` };
}

/** Finds a system program such as git. @param {string} name @returns {Peer | Absent} */
export function systemPeer(name) {
  const asked = spawnSync(name, ["--version"], { encoding: "utf8" });
  const version = /\d+(\.\d+)+/.exec(asked.stdout ?? "")?.[0];
  if (version === undefined) return { name, reason: `it is not installed: ${why(asked)}` };
  return { name, version, command: name, args: [] };
}

/** @param {string} folder @param {string} name @param {string} wanted @returns {Peer | undefined} */
function installedIn(folder, name, wanted) {
  const where = join(folder, "node_modules", name);
  const file = join(where, "package.json");
  if (!existsSync(file)) return undefined;
  /** @type {{ version: string, bin: string | Record<string, string> }} */
  const { version, bin } = JSON.parse(readFileSync(file, "utf8"));
  const script = typeof bin === "string" ? bin : bin[name];
  if (version !== wanted || script === undefined) return undefined;
  return { name, version, command: process.execPath, args: [join(where, script)] };
}

/** Describes in one line how a program ended. @param {import("node:child_process").SpawnSyncReturns<string>} ended */
function why({ error, stderr, status, signal }) {
  if (error !== undefined) return error.message;
  const line = (stderr ?? "").split("\n").find((text) => text.trim() !== "");
  return line ?? `it exited with ${status ?? signal}`;
}
