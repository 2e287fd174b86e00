// Token sums on disk: one file per day, such as `tokens-2026-11-15.jsonl`, to which processes append what they spent
// since their last write. The file of a past day is replaced by its sum; every process would write the same sum, so no
// lock is needed.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, isRecord, makeFolder, parseJson, systemCodeOf, writeFileAtomically } from "@trunkline/core";
import { openForAppending } from "./journal-files.js";
import { plusSurfaces, readSurfaces, type SurfaceTotals } from "./surface-totals.js";

/** Tokens by use, and how often the tool list was sent. */
export interface TokenTotals {
  readonly surface: number;
  readonly schemas: number;
  readonly results: number;
  /** How many tool lists were sent. */
  readonly lists: number;
  /** How many answers were counted. */
  readonly answers: number;
  /** How many of them were about tools: the answers of `describe`. */
  readonly searches: number;
}

/** The same, and what was listed for whom. */
export interface Spent extends TokenTotals {
  readonly surfaces: readonly SurfaceTotals[];
}

const FIELDS = [
  "surface",
  "schemas",
  "results",
  "lists",
  "answers",
  "searches",
] as const satisfies readonly (keyof TokenTotals)[];

export const NO_TOKENS: Spent = {
  surface: 0,
  schemas: 0,
  results: 0,
  lists: 0,
  answers: 0,
  searches: 0,
  surfaces: [],
};

export function plus(a: Spent, b: Spent): Spent {
  const sums = Object.fromEntries(FIELDS.map((field) => [field, a[field] + b[field]]));
  // FIELDS contains every number of the type.
  return { ...sums, surfaces: plusSurfaces(a.surfaces, b.surfaces) } as unknown as Spent;
}

/** Returns the date of a timestamp, in the user's time zone. */
export function dayOf(timeMs: number): string {
  const time = new Date(timeMs);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** Adds to the sums of a day. */
export async function appendTotals(folder: string, day: string, spent: Spent): Promise<void> {
  makeFolder(folder, 0o700);
  const file = await openForAppending(join(folder, `tokens-${day}.jsonl`));
  try {
    await file.write(`${JSON.stringify(spent)}\n`);
  } finally {
    await file.close();
  }
}

/** Reads the sums by day, oldest first. Empty if nothing has been saved yet. */
export async function readTotals(folder: string): Promise<readonly { day: string; spent: Spent }[]> {
  const days: { day: string; spent: Spent }[] = [];
  for (const { day, path } of await dayFiles(folder)) {
    const { spent } = sumOf(await readOrEmpty(path));
    days.push({ day, spent });
  }
  return days;
}

/** Replaces the files of past days with one line each. Leaves today and the day before alone. */
export async function compactTotals(folder: string, nowMs: number): Promise<void> {
  const since = dayOf(nowMs - 24 * 60 * 60 * 1000);
  for (const { day, path } of await dayFiles(folder)) {
    if (day >= since) continue;
    const { lines, spent } = sumOf(await readOrEmpty(path));
    if (lines <= 1) continue;
    await writeFileAtomically(path, `${JSON.stringify(spent)}\n`, { mode: 0o600 });
  }
}

async function dayFiles(folder: string): Promise<{ day: string; path: string }[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
  return names.sort().flatMap((name) => {
    const [, day] = /^tokens-(\d{4}-\d{2}-\d{2})\.jsonl$/.exec(name) ?? [];
    return day === undefined ? [] : [{ day, path: join(folder, name) }];
  });
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return "";
    throw error;
  }
}

function sumOf(text: string): { lines: number; spent: Spent } {
  let spent = NO_TOKENS;
  let lines = 0;
  for (const line of text.split("\n")) {
    const value = line === "" ? undefined : parseJson(line);
    if (line !== "") lines++;
    if (!isRecord(value)) continue;
    const number = (field: string) => {
      const amount = value[field];
      return typeof amount === "number" && amount >= 0 ? amount : 0;
    };
    const sums = Object.fromEntries(FIELDS.map((field) => [field, number(field)]));
    spent = plus(spent, { ...sums, surfaces: readSurfaces(value.surfaces) } as unknown as Spent);
  }
  return { lines, spent };
}
