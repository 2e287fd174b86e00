// Runs the real ripgrep.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** @typedef {{ pattern: string, ignoreCase?: boolean, word?: boolean, invert?: boolean, fixed?: boolean, maxCount?: number }} Case */

/** Returns the installed version, if any. */
export function rgVersion() {
  const { stdout } = spawnSync("rg", ["--version"], { encoding: "utf8" });
  return stdout?.split("\n")[0] || undefined;
}

/** Writes a tree to a new folder. @param {readonly { name: string, bytes: Uint8Array }[]} tree */
export function writeTree(tree) {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-grep-"));
  for (const { name, bytes } of tree) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}

/**
 * Returns the matching lines by file, or "error" if ripgrep rejects the pattern.
 * @param {string} folder @param {Case} what @returns {Record<string, number[]> | "error"}
 */
export function askRg(folder, what) {
  const args = ["--json", "--no-ignore", "--hidden", "--no-config", "-j1"];
  if (what.ignoreCase) args.push("-i");
  if (what.word) args.push("-w");
  if (what.invert) args.push("-v");
  if (what.fixed) args.push("-F");
  if (what.maxCount) args.push("-m", String(what.maxCount));
  const { stdout, status } = spawnSync("rg", [...args, "-e", what.pattern, "."], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status === 2) return "error";
  /** @type {Record<string, number[]>} */
  const found = {};
  for (const line of stdout.split("\n")) {
    if (!line.startsWith('{"type":"match"')) continue;
    const { data } = JSON.parse(line);
    const name = data.path.text.replace(/^\.\//, "");
    found[name] ??= [];
    found[name].push(data.line_number);
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}
