// Describes what a file would run, as stored for trust and as shown to the user. Based on the unexpanded text, so it
// does not change with the environment and contains no values.
import { createHash } from "node:crypto";
import { printable } from "@trunkline/core";
import type { CheckedEntry } from "./server-entries.js";

/**
 * Hashes (SHA-256) names, commands, args, URLs, working directories, env file paths, and the names (never values) of
 * env, headers and auth. Key order, formatting and `disabled` do not matter. Unreadable entries would not run, so they
 * do not count until they are fixed.
 */
export function fingerprintOf(entries: readonly CheckedEntry[]): string {
  const canonical = entries
    .map((entry) => [
      entry.name,
      entry.type,
      entry.command?.text ?? null,
      entry.args.map(({ text }) => text),
      entry.url?.text ?? null,
      entry.cwd?.text ?? null,
      entry.envFile?.text ?? null,
      entry.env.map(({ name }) => name).sort(),
      entry.headers.map(({ name }) => name.toLowerCase()).sort(),
      // Only if present, so entries without it keep their fingerprint.
      ...(entry.readOnly === undefined ? [] : [{ readOnly: [...entry.readOnly].sort() }]),
      ...(entry.pin === undefined ? [] : [{ pin: entry.pin }]),
      ...(entry.auth === undefined ? [] : [[entry.auth.grant, ...Object.keys(entry.auth.texts).sort()]]),
    ])
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(canonical)).digest("hex");
}

/**
 * Describes each entry in one line: the command or URL, and anything else with an effect. Safe to print on a terminal.
 */
export function wouldRunOf(entries: readonly CheckedEntry[]): { name: string; what: string }[] {
  return entries.map((entry) => {
    const what =
      entry.type === "stdio"
        ? [entry.command, ...entry.args].map((leaf) => quoted(leaf?.text ?? "")).join(" ")
        : quoted(entry.url?.text ?? "");
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => quoted(name)).join(", ");
    const extras = [
      ...(entry.type === "stdio" && entry.env.length > 0 ? [`env: ${names(entry.env)}`] : []),
      ...(entry.type !== "stdio" && entry.headers.length > 0 ? [`headers: ${names(entry.headers)}`] : []),
      ...(entry.auth === undefined ? [] : [`auth: ${[entry.auth.grant, ...Object.keys(entry.auth.texts)].join(", ")}`]),
      ...(entry.readOnly === undefined ? [] : [`readOnly: ${entry.readOnly.map(quoted).join(", ")}`]),
      ...(entry.pin === undefined ? [] : [`pin: ${entry.pin}`]),
      ...(entry.envFile === undefined ? [] : [`envFile: ${quoted(entry.envFile.text)}`]),
      ...(entry.cwd === undefined ? [] : [`cwd: ${quoted(entry.cwd.text)}`]),
      ...(entry.disabled ? ["disabled"] : []),
    ];
    return { name: printable(entry.name), what: extras.length === 0 ? what : `${what} (${extras.join("; ")})` };
  });
}

function quoted(text: string): string {
  return /^[\w@%+=:,./\\${}~?&#*-]+$/.test(text) ? text : printable(JSON.stringify(text));
}
