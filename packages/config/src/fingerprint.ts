// Describes what a file would run, as stored for trust and as shown to the user. Based on the unexpanded text, so it
// does not change with the environment.
import { createHash } from "node:crypto";
import { isRecord, isSecretName, maskedSecret, printable, urlForApproval, valueForApproval } from "@trunkline/core";
import { secretsOf } from "./definition.js";
import { UNAPPROVED_SETTINGS } from "./entry-fields.js";
import { inputIdsIn } from "./expand.js";
import type { Leaf } from "./field-reader.js";
import type { InputDescription } from "./inputs.js";
import { secretLabel } from "./secrets/secret-reference.js";
import type { CheckedEntry } from "./server-entries.js";

/** What decides about the entries of a file, besides the entries themselves. */
interface Surroundings {
  /** The project's folder, without links. The same file elsewhere runs other programs. */
  readonly workspaceFolder: string;
  /** The file's inputs, by id. */
  readonly inputs: ReadonlyMap<string, InputDescription>;
}

/** Fields that decide neither what runs nor where data goes. */
const HARMLESS: ReadonlySet<string> = new Set(["at", "file", "scope", ...UNAPPROVED_SETTINGS]);

/**
 * Hashes (SHA-256) the project's folder and everything in the entries that decides what runs or where data goes,
 * including the unexpanded values of env, headers and auth, and the inputs they refer to. Key order, formatting, timeouts
 * and `disabled` do not matter; the approval records what was disabled. Unreadable entries would not run, so they do not count until they are fixed.
 */
export function fingerprintOf(entries: readonly CheckedEntry[], { workspaceFolder, inputs }: Surroundings): string {
  const canonical = entries
    .map((entry) => JSON.stringify([canonicalEntry(entry), inputsOf(entry, inputs)]))
    .sort((a, b) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(`[${JSON.stringify(workspaceFolder)},[${canonical.join(",")}]]`)
    .digest("hex");
}

/** Covers every field that is not known to be harmless, so a new field is covered from the start. */
function canonicalEntry(entry: CheckedEntry): unknown {
  const { env, headers, ...rest } = entry;
  const pairs = (list: CheckedEntry["env"]) => list.map(({ name, text }) => [name, text]).sort(byText);
  const fields = Object.entries(rest).filter(([field]) => !HARMLESS.has(field));
  return {
    ...(canonical(Object.fromEntries(fields)) as Record<string, unknown>),
    env: pairs(env),
    headers: pairs(headers.map((header) => ({ ...header, name: header.name.toLowerCase() }))),
  };
}

/** Sorts keys and reduces strings with a position to the string. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isRecord(value)) return value;
  if (typeof value.text === "string" && "at" in value) return value.text;
  return Object.fromEntries(
    Object.entries(value)
      .sort(byText)
      .map(([key, item]) => [key, canonical(item)]),
  );
}

function byText(a: readonly unknown[], b: readonly unknown[]): number {
  return String(a[0]) < String(b[0]) ? -1 : 1;
}

/** Returns the texts that decide what runs, and where. */
export function commandLeaves({ command, args, url, cwd, envFile }: CheckedEntry): Leaf[] {
  return [command, ...args, url, cwd, envFile].filter((leaf) => leaf !== undefined);
}

/** Returns the inputs an entry refers to. A default is used if there is no one to ask. */
function inputsOf(entry: CheckedEntry, inputs: Surroundings["inputs"]): [string, unknown][] {
  if (entry.dialect !== "servers") return [];
  const leaves = [...commandLeaves(entry), ...entry.env, ...entry.headers, ...Object.values(entry.auth?.texts ?? {})];
  const ids = new Set(leaves.flatMap(({ text }) => inputIdsIn(text)));
  return [...ids].sort().map((id) => [id, canonical(inputs.get(id) ?? null)]);
}

/**
 * Describes each entry in one line: the command or URL, and everything else with an effect. Of commands and arguments
 * nothing is hidden, because that could hide what runs. Safe to print on a terminal.
 */
export function wouldRunOf(
  entries: readonly CheckedEntry[],
  { inputs }: Pick<Surroundings, "inputs">,
): { name: string; what: string }[] {
  return entries.map((entry) => {
    const { auth, envFile, cwd, readOnly, tools } = entry;
    const words = [entry.command?.text ?? "", ...entry.args.map(({ text }) => text)];
    const what = entry.type === "stdio" ? words.map(quoted).join(" ") : quoted(urlForApproval(entry.url?.text ?? ""));
    const list = (items: readonly string[]) => items.map(quoted).join(", ");
    const authTexts = Object.entries(auth?.texts ?? {}).map(([name, { text }]) => assigned({ name, text }));
    const inCommand = new Set(commandLeaves(entry).flatMap(({ text }) => inputIdsIn(text)));
    const defaults = inputsOf(entry, inputs).flatMap(([id]) => {
      const standard = inputs.get(id)?.default;
      if (standard === undefined) return [];
      return [inCommand.has(id) ? quoted(`${id}=${standard}`) : assigned({ name: id, text: standard })];
    });
    const secrets = secretsOf(entry).map(secretLabel);
    const extras = [
      ...(secrets.length === 0 ? [] : [`secrets: ${list(secrets)}`]),
      ...(entry.type === "stdio" && entry.env.length > 0 ? [`env: ${entry.env.map(assigned).join(", ")}`] : []),
      ...(entry.type !== "stdio" && entry.headers.length > 0
        ? [`headers: ${entry.headers.map(header).join(", ")}`]
        : []),
      ...(auth === undefined ? [] : [`auth: ${[auth.grant, ...authTexts].join(", ")}`]),
      ...(defaults.length === 0 ? [] : [`inputs: ${defaults.join(", ")}`]),
      ...(readOnly === undefined ? [] : [`readOnly: ${list(readOnly)}`]),
      ...(entry.pin === undefined ? [] : [`pin: ${entry.pin}`]),
      ...(entry.share === undefined ? [] : [`share: ${entry.share}`]),
      ...(tools?.allow === undefined ? [] : [`only tools: ${list(tools.allow)}`]),
      ...(tools?.deny === undefined ? [] : [`without tools: ${list(tools.deny)}`]),
      ...(envFile === undefined ? [] : [`envFile: ${quoted(envFile.text)}`]),
      ...(cwd === undefined ? [] : [`cwd: ${quoted(cwd.text)}`]),
      ...(entry.disabled ? ["disabled"] : []),
    ];
    return { name: printable(entry.name), what: extras.length === 0 ? what : `${what} (${extras.join("; ")})` };
  });
}

interface Assignment {
  readonly name: string;
  readonly text: string;
}

/** `NAME=value`, as {@link shownVariable} shows the value. */
export function assigned({ name, text }: Assignment): string {
  return quoted(`${name}=${shownVariable({ name, text })}`);
}

/** Shows a variable's value for approval. Of one called `API_KEY`, literal parts are masked unless they are a path or a URL. */
export function shownVariable({ name, text }: Assignment): string {
  const mask = (literal: string) => valueForApproval(name, literal);
  const shown = mask(text);
  return isSecretName(name) && shown === maskedSecret(text) ? withoutLiterals(text, mask) : shown;
}

/** A header, with its variables but without literal parts: most of them are secrets, and none of them is code. */
function header({ name, text }: Assignment): string {
  return quoted(`${name}=${withoutLiterals(text)}`);
}

/** Masks everything but variables and the scheme of a credential: `Bearer ${TOKEN}` stays, `Bearer abc` does not. */
function withoutLiterals(text: string, mask: (literal: string) => string = maskedSecret): string {
  return text
    .split(/(\$\{[^{}]*\})/)
    .map((part) => {
      if (part.startsWith("${"))
        return part.endsWith("}") ? part.replace(/:-(.*)\}$/s, (_, fallback: string) => `:-${mask(fallback)}}`) : part;
      const [scheme = ""] = /^\s*(?:(?:Bearer|Basic|Token|Bot|ApiKey)\s+)?/i.exec(part) ?? [];
      return part === scheme || /^.{0,5}$/.test(part) ? part : `${scheme}${mask(part.slice(scheme.length))}`;
    })
    .join("");
}

function quoted(text: string): string {
  return /^[\w@%+=:,./\\${}~?&#*<>-]+$/.test(text) ? text : printable(JSON.stringify(text));
}
