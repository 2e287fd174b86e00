// A call as a command for a terminal. The details of a call have the same rules, on the server's side.
import type { FormValue } from "../../kit/schema-form.js";

/**
 * Characters that draw nothing or change how others are drawn. A terminal acts on some of them when they are pasted,
 * inside quotes, too; JSON can name them instead.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/**
 * `trunkline call git.log count:=3`, or with `--input` if the names of arguments are not that simple. Undefined if the
 * tool's name has characters that cannot be pasted.
 */
export function callCommand(name: string, args: FormValue): string | undefined {
  if (hasHidden(name)) return undefined;
  const entries = Object.entries(args);
  const isSimple = entries.every(([key]) => /^[A-Za-z_][\w.-]*$/.test(key));
  const words = isSimple ? entries.map(pairOf) : ["--input", quoted(json(args))];
  return ["trunkline", "call", quoted(name), ...words].join(" ");
}

function hasHidden(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}

function pairOf([key, value]: [string, unknown]): string {
  const isText = typeof value === "string" && !hasHidden(value);
  return isText ? `${key}=${quoted(value)}` : `${key}:=${quoted(json(value))}`;
}

function json(value: unknown): string {
  return JSON.stringify(value).replace(HIDDEN, (character) =>
    character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

/** For POSIX shells. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
