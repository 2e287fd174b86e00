// Fills a recipe with answers. Text of the registry is written so that our own references in it stay text; what the
// user typed may refer to variables and secrets, as in every entry.
import { resolve } from "node:path";
import { literalText, type RegistryOrigin, type ServerEntry } from "@trunkline/config";
import { hasControls, TrunklineError } from "@trunkline/core";
import { urlProblem } from "./package-rules.js";
import type { Ask, Gap, Part, Recipe } from "./registry-recipe.js";

export interface Answer {
  readonly text: string;
  /** Whether the text is the user's. Otherwise it is the publisher's: a default or a choice. */
  readonly isOwn: boolean;
}

type Answers = ReadonlyMap<string, readonly Answer[]>;

/** Checks what the user typed. Returns the answer, or what is wrong with it. */
export function readAnswer(
  ask: Ask,
  typed: string,
  { cwd, userHome }: { readonly cwd: string; readonly userHome: string },
): Answer | { readonly problem: string } {
  if (hasControls(typed)) return { problem: "it has a line break or another control character" };
  if (ask.choices.length > 0) {
    if (!ask.choices.includes(typed)) return { problem: `it must be one of ${ask.choices.join(", ")}` };
    return { text: typed, isOwn: false };
  }
  // The value of a variable is not known yet.
  if (typed.includes("${")) return { text: typed, isOwn: true };
  switch (ask.format) {
    case "number":
      if (typed.trim() === "" || !Number.isFinite(Number(typed))) return { problem: "it must be a number" };
      return { text: typed.trim(), isOwn: true };
    case "boolean":
      if (typed !== "true" && typed !== "false") return { problem: "it must be true or false" };
      return { text: typed, isOwn: true };
    case "filepath":
      // The server does not start in this folder.
      return {
        text: resolve(
          cwd,
          typed.replace(/^~(?=$|[\\/])/, () => userHome),
        ),
        isOwn: true,
      };
    case "string":
      return { text: typed, isOwn: true };
  }
}

interface FillOptions {
  readonly dialect: Parameters<typeof literalText>[1];
  readonly origin: RegistryOrigin;
}

/** Builds the entry. Throws `CONFIG_INVALID` if it cannot be written safely. */
export function fillRecipe({ program, remote }: Recipe, answers: Answers, options: FillOptions): ServerEntry {
  const { origin, dialect } = options;
  const values = (gap: Gap) => wordsOf(gap, answers, dialect);
  if (program !== undefined) {
    const args = program.args.flatMap(values);
    const env = pairsOf(program.env, (gap) => values(gap)[0]);
    return { command: program.command, args, ...present("env", env), registry: origin };
  }
  const url = filled(remote?.url ?? [], { answers, at: 0, dialect }) ?? "";
  // The host must be readable before it is contacted, so it cannot come from a reference.
  const hasHost = /^https?:\/\/[^/?#$\\]+(?:[/?#]|$)/i.test(url);
  const problem = urlProblem(withoutReferences(url)) ?? (hasHost ? undefined : "its host is not known yet");
  if (problem !== undefined) throw refused(problem);
  const headers = pairsOf(remote?.headers ?? [], (gap) => values(gap)[0]);
  return { type: remote?.type ?? "http", url, ...present("headers", headers), registry: origin };
}

function withoutReferences(url: string): string {
  return url.replace(/\$\{[^}]*\}/g, "x");
}

function pairsOf(
  list: readonly { readonly name: string; readonly gap: Gap }[],
  read: (gap: Gap) => string | undefined,
): Record<string, string> {
  return Object.fromEntries(
    list.flatMap(({ name, gap }) => {
      const value = read(gap);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function present<Key extends "env" | "headers">(key: Key, values: Record<string, string>) {
  return Object.keys(values).length === 0 ? {} : ({ [key]: values } as Record<Key, Record<string, string>>); // one key
}

function wordsOf({ flag, parts, isRepeated }: Gap, answers: Answers, dialect: FillOptions["dialect"]): string[] {
  const counts = parts.map((part) => (typeof part === "string" ? 1 : (answers.get(part.ask)?.length ?? 0)));
  const times = isRepeated ? Math.max(...counts) : 1;
  return Array.from({ length: times }, (_, at) => filled(parts, { answers, at, dialect })).flatMap((word) => {
    if (word === undefined) return [];
    return flag === undefined ? [word] : [flag, word];
  });
}

/** Returns the text of one word; undefined if a question in it has no answer. */
function filled(
  parts: readonly Part[],
  { answers, at, dialect }: { answers: Answers; at: number; dialect: FillOptions["dialect"] },
): string | undefined {
  const pieces: Answer[] = [];
  for (const part of parts) {
    const given = typeof part === "string" ? undefined : answers.get(part.ask);
    const piece = typeof part === "string" ? { text: part, isOwn: false } : (given?.[at] ?? given?.[0]);
    if (piece === undefined) return undefined;
    if (typeof part !== "string" && part.isSilent) continue;
    const last = pieces.at(-1);
    // Pieces of the publisher are joined first: two harmless ones could make a reference together.
    if (last !== undefined && !last.isOwn && !piece.isOwn) pieces[pieces.length - 1] = joined(last, piece);
    else if (piece.text !== "") pieces.push(piece);
  }
  return pieces
    .map(({ text, isOwn }, index) => {
      const written = isOwn ? text : literalText(text, dialect);
      // With what follows, it could become a reference, or change one.
      const isOpen = index < pieces.length - 1 && /[$\\]$|\$\{[^}]*$/.test(text);
      if (written === undefined || isOpen) throw refused("one of its values would be read as a variable");
      return written;
    })
    .join("");
}

function joined(a: Answer, b: Answer): Answer {
  return { text: a.text + b.text, isOwn: false };
}

function refused(problem: string): TrunklineError {
  return new TrunklineError("CONFIG_INVALID", `The server cannot be added: ${problem}.`, {
    hint: "Nothing was written. Read its own documentation, and add it by its command or URL.",
  });
}
