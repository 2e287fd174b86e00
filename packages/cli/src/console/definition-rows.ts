// Definitions that servers have changed: what is held, with everything in it that would be approved, and what happened.
import { createHash } from "node:crypto";
import {
  approvePins,
  type DiffLine,
  diffDefinitions,
  type HeldPin,
  type PinChange,
  reportPins,
} from "@trunkline/client/internal";
import type { DefinitionRow } from "@trunkline/console/contract";
import { firstChars, TrunklineError } from "@trunkline/core";
import type { App } from "../app/app.js";

/** What has already happened is cut; what is to be approved is shown whole. */
const LONGEST_LINE = 2_000;
const MOST_LINES = 100;

/** The differences that were asked for last. */
export class KeptDiffs {
  readonly #limits: Limits;
  readonly #find: typeof diffDefinitions;
  /** The one that was asked for last is the last. */
  readonly #kept = new Map<string, readonly DiffLine[]>();
  #lines = 0;

  constructor(limits: Limits, find: typeof diffDefinitions = diffDefinitions) {
    this.#limits = limits;
    this.#find = find;
  }

  between(before: Definition, after: Definition): readonly DiffLine[] {
    const key = createHash("sha256")
      .update(JSON.stringify([before ?? null, after ?? null]))
      .digest("base64");
    const known = this.#kept.get(key);
    const diff = known ?? this.#find(before, after);
    if (known === undefined) this.#lines += diff.length;
    else this.#kept.delete(key);
    this.#kept.set(key, diff);
    for (const [oldest, old] of this.#kept) {
      if (this.#kept.size <= this.#limits.diffs && this.#lines <= this.#limits.lines) break;
      this.#kept.delete(oldest);
      this.#lines -= old.length;
    }
    return diff;
  }
}

/** More than the changes that are kept of a few servers. */
const diffs = new KeptDiffs({ diffs: 200, lines: 100_000 });

/** Reads what is held and what has changed, newest first. Connects nothing. */
export async function definitionRows(app: App): Promise<DefinitionRow[]> {
  const { servers } = await app.config();
  const reports = await reportPins(app.context.home, servers);
  const held = reports.flatMap((report) => report.held).map(heldRow);
  const isHeld = new Set(held.map(({ id }) => id));
  const changes = reports.flatMap(({ server, changes: own }) =>
    own
      .filter((change) => change.change !== "held" || !isHeld.has(idOf({ server, ...change })))
      .map((change) => changeRow(server, change)),
  );
  return [...held.sort(newestFirst), ...changes.sort(newestFirst)];
}

/** Reads only what is held, newest first. */
export async function heldRows(app: App): Promise<DefinitionRow[]> {
  const { servers } = await app.config();
  const reports = await reportPins(app.context.home, servers);
  return reports
    .flatMap((report) => report.held)
    .map(heldRow)
    .sort(newestFirst);
}

/** How many definitions are held, by server. */
export async function heldCounts(app: App): Promise<ReadonlyMap<string, number>> {
  const { servers } = await app.config();
  const reports = await reportPins(app.context.home, servers);
  return new Map(reports.map(({ server, held }) => [server, held.length]));
}

/** Accepts exactly the held definition with this hash, and offers it again. */
export async function approveDefinition(app: App, { id, hash }: { id: string; hash: string }): Promise<void> {
  const { servers } = await app.config();
  const { home } = app.context;
  const find = async () =>
    (await reportPins(home, servers)).flatMap((report) => report.held).find((each) => idOf(each) === id);
  const held = await find();
  if (held === undefined) {
    throw new TrunklineError("NOT_FOUND", "This definition is no longer held: it was approved elsewhere or withdrawn.");
  }
  if (held.hash !== hash) throw changedError(held);
  await approvePins(home, servers, [held]);
  // Between reading and writing, the server may have listed yet another definition.
  const left = await find();
  if (left !== undefined) throw changedError(left);
  await app.openedHub?.recheckHeld();
}

function changedError({ server, kind, name }: HeldPin): TrunklineError {
  const what = kind === "instructions" ? `The instructions of "${server}" have` : `${server}.${name} has`;
  return new TrunklineError("USAGE", `${what} changed since it was shown. Nothing was approved.`, {
    hint: "Look at the new definition first.",
  });
}

function newestFirst(a: DefinitionRow, b: DefinitionRow): number {
  return a.at < b.at ? 1 : a.at > b.at ? -1 : 0;
}

function heldRow(held: HeldPin): DefinitionRow {
  const { server, kind, name, since, reasons, before, definition, hash } = held;
  return {
    id: idOf(held),
    server,
    kind,
    name,
    change: "held",
    at: since,
    reasons: reasons.map(({ text }) => text),
    diff: definition === undefined ? [] : diffs.between(before, definition),
    hash,
  };
}

function changeRow(server: string, change: PinChange): DefinitionRow {
  const { kind, name, at, reasons = [], before, after } = change;
  const diff = change.change === "new" ? [] : diffs.between(before, after).slice(0, MOST_LINES);
  return {
    id: idOf({ server, ...change }),
    server,
    kind,
    name,
    change: change.change,
    at,
    reasons: reasons.map(({ text }) => text),
    diff: diff.map((line) => ({ ...line, text: firstChars(line.text, LONGEST_LINE) })),
  };
}

/** The same for every definition of one tool, prompt or server's instructions. */
function idOf({ server, kind, name }: { server: string; kind: string; name: string }): string {
  return createHash("sha256")
    .update(JSON.stringify([server, kind, name]))
    .digest("hex")
    .slice(0, 24);
}

// Differences that were found before. The files with the definitions are read again for every request, but rarely differ.

type Definition = Parameters<typeof diffDefinitions>[0];

interface Limits {
  readonly diffs: number;
  /** Of all of them: a server decides how many lines a definition has. */
  readonly lines: number;
}
