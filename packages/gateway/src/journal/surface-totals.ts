// What `--surface auto` listed for which client: sums for `trunkline stats`. Client names are arbitrary, so their number
// and length are limited.
import { isRecord, replaceControls } from "@trunkline/core";

/** The list that a client got. */
export interface SentList {
  /** The client's name, as it reports it. */
  readonly client: string;
  /** Such as `composite + favourites`. */
  readonly surface: string;
  /** Why, in words. */
  readonly reason: string;
  /** What a list of all upstream tools would have cost, if that is known. */
  readonly direct?: number;
  /** Our own tools alone, as JSON: the composite surface. */
  readonly composite: string;
  /** Whether the client searches the list itself, so that its model does not read it. */
  readonly isSearched?: boolean;
}

/** Sums for one client and surface. */
export interface SurfaceTotals {
  readonly client: string;
  readonly surface: string;
  /** The reason of the last decision. */
  readonly reason: string;
  readonly lists: number;
  /** What these lists cost; 0 if the client searches them itself. */
  readonly tokens: number;
  /** What lists of all upstream tools would have cost, as they were then. */
  readonly direct: number;
  /** The lists that are not in `direct`, because the cost of all tools was not known yet. */
  readonly unmeasured: number;
  /** What the same number of lists of the composite surface would have cost. */
  readonly composite: number;
  /** How often a session used a listed upstream tool for the first time: with the composite surface, a search each. */
  readonly found: number;
}

const NUMBERS = ["lists", "tokens", "direct", "unmeasured", "composite", "found"] as const;
const TEXTS = ["client", "surface", "reason"] as const;
const MAX_ROWS = 40;
const MAX_CHARS = 120;
const OTHERS = "other clients";

/** Adds rows up by client and surface, in the order in which they first occur. */
export function plusSurfaces(a: readonly SurfaceTotals[], b: readonly SurfaceTotals[]): readonly SurfaceTotals[] {
  if (b.length === 0) return a;
  const rows = new Map<string, SurfaceTotals>();
  for (const row of [...a, ...b]) {
    const key = JSON.stringify([row.client, row.surface]);
    const isFull = rows.size >= MAX_ROWS && !rows.has(key);
    const kept = isFull ? { ...row, client: OTHERS, surface: "", reason: "" } : row;
    const keptKey = isFull ? OTHERS : key;
    const before = rows.get(keptKey);
    rows.set(keptKey, before === undefined ? kept : sum(before, kept));
  }
  return [...rows.values()];
}

function sum(before: SurfaceTotals, row: SurfaceTotals): SurfaceTotals {
  const added = Object.fromEntries(NUMBERS.map((name) => [name, before[name] + row[name]]));
  return { ...before, ...added, reason: row.reason || before.reason };
}

export function surfaceRow(
  { client, surface, reason }: Omit<SentList, "composite">,
  numbers: Partial<SurfaceTotals>,
): SurfaceTotals {
  const texts = { client: shortened(client), surface: shortened(surface), reason: shortened(reason) };
  return { lists: 0, tokens: 0, direct: 0, unmeasured: 0, composite: 0, found: 0, ...numbers, ...texts };
}

/** Reads the rows of a saved line; anything else in it is left out. */
export function readSurfaces(value: unknown): readonly SurfaceTotals[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_ROWS + 1).flatMap((row) => {
    if (!isRecord(row) || !TEXTS.every((name) => typeof row[name] === "string")) return [];
    const numbers = NUMBERS.map((name) => {
      const amount = row[name];
      return [name, typeof amount === "number" && amount >= 0 ? amount : 0];
    });
    const { client, surface, reason } = row as unknown as SurfaceTotals; // checked above
    return [surfaceRow({ client, surface, reason }, Object.fromEntries(numbers))];
  });
}

function shortened(text: string): string {
  return replaceControls(text.slice(0, MAX_CHARS), "\ufffd");
}
