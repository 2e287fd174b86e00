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
  const answer = runRg(folder, what);
  if (answer === "error") return "error";
  return byName(answer.map(({ name, line }) => [name, line]));
}

/**
 * Returns the matching parts by file, each as `line:text`, without empty ones.
 * @param {string} folder @param {Case} what @returns {Record<string, string[]> | "error"}
 */
export function askRgForParts(folder, what) {
  const answer = runRg(folder, what);
  if (answer === "error") return "error";
  return byName(
    answer.flatMap(({ name, line, parts }) => parts.map((part) => /** @type {const} */ ([name, `${line}:${part}`]))),
  );
}

/**
 * @param {string} folder @param {Case} what
 * @returns {{ name: string, line: number, parts: string[] }[] | "error"}
 */
function runRg(folder, what) {
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
  return stdout
    .split("\n")
    .filter((line) => line.startsWith('{"type":"match"'))
    .map((line) => {
      const { path, line_number, submatches } = JSON.parse(line).data;
      /** @type {{ match: { text?: string, bytes?: string } }[]} */
      const found = submatches;
      const texts = found.map(({ match }) => match.text ?? Buffer.from(match.bytes ?? "", "base64").toString());
      const parts = texts.filter((text) => text !== "");
      return { name: path.text.replace(/^\.\//, ""), line: line_number, parts };
    });
}

/** @template T @param {readonly (readonly [string, T])[]} found @returns {Record<string, T[]>} */
function byName(found) {
  /** @type {Record<string, T[]>} */
  const grouped = {};
  for (const [name, value] of found) {
    grouped[name] ??= [];
    grouped[name].push(value);
  }
  return Object.fromEntries(Object.entries(grouped).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}
