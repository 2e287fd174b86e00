// A call as a command line, and as a request that repeats it.
import { ownersOf } from "@trunkline/config";
import type { Json } from "@trunkline/console/contract";
import { isRecord, shellQuoted } from "@trunkline/core";
import type { OperationKind } from "@trunkline/gateway";

export type CallTarget =
  | { readonly kind: "tool"; readonly server: string; readonly tool: string }
  | { readonly kind: "operation"; readonly op: string };

interface KnownNames {
  readonly servers: readonly string[];
  /** Our own operations. */
  readonly operations: ReadonlyMap<string, OperationKind>;
}

/** Finds out what a line of the journal called; undefined if it cannot be called by that name. */
export function targetOf(operation: string, { servers, operations }: KnownNames): CallTarget | undefined {
  const kind = operations.get(operation);
  if (kind !== undefined) return kind === "session" ? undefined : { kind: "operation", op: operation };
  // Names of servers can contain dots.
  const [server] = ownersOf(operation, servers);
  if (server === undefined || operation.length === server.length + 1) return undefined;
  return { kind: "tool", server, tool: operation.slice(server.length + 1) };
}

/**
 * Writes a call as a command for a POSIX shell. `args` undefined: they are not known. Returns undefined if its name has
 * characters that cannot be pasted. The page of tools has the same rules.
 */
export function commandOf(target: CallTarget, { operations }: KnownNames, args: Json | undefined): string | undefined {
  const words =
    target.kind === "tool"
      ? ["trunkline", "call", `${target.server}.${target.tool}`]
      : ["trunkline", operations.get(target.op) === "write" ? "execute" : "query", target.op];
  if (words.some(hasHidden)) return undefined;
  const begin = words.map(shellQuoted);
  if (args === undefined || !isRecord(args)) return begin.join(" ");
  const entries = Object.entries(args);
  if (entries.every(([name]) => isPlainName(name))) return [...begin, ...entries.map(pairOf)].join(" ");
  if (target.kind === "tool") return [...begin, "--input", shellQuoted(jsonText(args))].join(" ");
  const [program = "", tool = ""] = words;
  return `${program} ${tool} ${shellQuoted(jsonText({ op: target.op, params: args }))}`;
}

/**
 * Characters that draw nothing or change how others are drawn. A terminal acts on some of them when they are pasted,
 * inside quotes, too; JSON can name them instead.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

function hasHidden(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}

function pairOf([name, value]: [string, unknown]): string {
  const isText = typeof value === "string" && !hasHidden(value);
  return isText ? `${name}=${shellQuoted(value)}` : `${name}:=${shellQuoted(jsonText(value))}`;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(HIDDEN, (character) =>
    character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

/** Whether `name=value` says what is meant, without quotes around the name. */
function isPlainName(name: string): boolean {
  return /^[A-Za-z_][\w.-]*$/.test(name);
}
