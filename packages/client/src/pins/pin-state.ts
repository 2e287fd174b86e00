// The pins of one server, and the comparison of a new list with them. Pure apart from pauses: reading and writing the
// file is elsewhere.
import { setImmediate as pause } from "node:timers/promises";
import { classifyChange, type HoldReason, type PinMode } from "./classify-change.js";
import type { Neighbours } from "./neighbours.js";
import { canonicalText, type Definition, definitionHash, type PinKind } from "./pinned-definition.js";

/** A definition that waits for approval. */
export interface HeldDefinition {
  readonly hash: string;
  readonly definition?: Definition;
  readonly reasons: readonly HoldReason[];
  readonly since: string;
}

/** What is known about one tool or prompt, or about the instructions. */
export interface Pin {
  /** The accepted definition; absent for an item that was held from the start. */
  readonly hash?: string;
  /** The accepted definition itself, unless it is too large to keep. */
  readonly definition?: Definition;
  /** The hashes of definitions that were accepted before, newest last. */
  readonly accepted: readonly string[];
  /** How many different definitions were listed so far. */
  readonly variants: number;
  readonly held?: HeldDefinition;
  /** The server no longer lists it. It stays pinned, so that it cannot return as something else. */
  readonly gone?: boolean;
}

/** One event, as shown by `trunkline tools --changes`. */
export interface PinChange {
  readonly at: string;
  readonly kind: PinKind;
  readonly name: string;
  readonly change: "new" | "wording" | "held" | "approved";
  readonly reasons?: readonly HoldReason[];
  readonly before?: Definition;
  readonly after?: Definition;
}

export interface PinState {
  /** Whether this kind of list was seen before, and the hash of the last one that was accepted as a whole. */
  readonly lists: Readonly<Partial<Record<PinKind, string>>>;
  readonly pins: Readonly<Record<PinKind, ReadonlyMap<string, Pin>>>;
  /** The wording differs from run to run, so it is no longer noted. */
  readonly varies: boolean;
  /** Newest last. */
  readonly changes: readonly PinChange[];
}

export const NO_PINS: PinState = {
  lists: {},
  pins: { tools: new Map(), prompts: new Map(), instructions: new Map() },
  varies: false,
  changes: [],
};

/** An item of the list that is not offered. */
export interface HeldItem {
  readonly kind: PinKind;
  readonly name: string;
  readonly hash: string;
  readonly definition: Definition;
  readonly reasons: readonly HoldReason[];
}

interface ListVerdict {
  readonly state: PinState;
  /** Whether the state differs from the one given. */
  readonly isChanged: boolean;
  readonly offered: readonly Definition[];
  readonly held: readonly HeldItem[];
  /** What the user has not been told yet. */
  readonly news: readonly PinChange[];
}

interface ListContext {
  readonly mode: PinMode;
  readonly neighbours?: Neighbours;
}

/** Definitions larger than this are pinned by hash only. */
const LARGEST_KEPT_CHARS = 64_000;
/** After this many, definitions are pinned by hash only. */
const MOST_KEPT = 2_000;
/** A server that has listed this many different names gets no further ones without approval: pins would grow forever. */
const MOST_PINS = 100_000;
const MOST_ACCEPTED = 16;
const MOST_CHANGES = 40;
const MANY_VARIANTS = 3;
/** How many definitions to compare before other work gets a turn. */
const SLICE = 25;

/** Compares a list with the pins. Items without a name are dropped, and so is all but the first of the same name. */
export async function compareList(
  before: PinState,
  { kind, items, hash: listHash }: { kind: PinKind; items: readonly Definition[]; hash: string },
  context: ListContext,
): Promise<ListVerdict> {
  const isFirstList = before.lists[kind] === undefined;
  const at = new Date().toISOString();
  const pins = new Map(before.pins[kind]);
  const offered: Definition[] = [];
  const held: HeldItem[] = [];
  const news: PinChange[] = [];
  const listed = new Set<string>();
  let isChanged = isFirstList;
  for (const [index, definition] of items.entries()) {
    if (index % SLICE === SLICE - 1) await pause();
    const name = nameOf(kind, definition);
    if (name === undefined || listed.has(name)) continue;
    listed.add(name);
    const pin = pins.get(name);
    const canonical = canonicalText(definition);
    const hash = definitionHash(canonical);
    const kept = canonical.length <= LARGEST_KEPT_CHARS && pins.size < MOST_KEPT ? definition : undefined;
    if (pin !== undefined && (pin.hash === hash || pin.accepted.includes(hash))) {
      offered.push(definition);
      if (pin.hash !== hash || pin.gone === true || pin.held !== undefined) {
        isChanged = true;
        pins.set(name, acceptedPin(pin, { hash, definition: kept }));
      }
      continue;
    }
    if (pin?.held?.hash === hash && context.mode !== "notice" && context.mode !== "off") {
      held.push({ kind, name, hash, definition, reasons: pin.held.reasons });
      if (pin.gone === true) {
        isChanged = true;
        pins.set(name, { ...pin, gone: undefined });
      }
      continue;
    }
    isChanged = true;
    const verdict =
      pin === undefined && pins.size >= MOST_PINS
        ? { change: "held" as const, reasons: [tooMany()] }
        : classifyChange(comparable(pin), definition, { ...context, isFirstList });
    if (verdict.change === "held") {
      const { reasons } = verdict;
      held.push({ kind, name, hash, definition, reasons });
      news.push({ at, kind, name, change: "held", reasons, before: pin?.definition, after: kept });
      const known = pin ?? { accepted: [], variants: 0 };
      if (pin !== undefined || pins.size < MOST_PINS)
        pins.set(name, {
          ...known,
          gone: undefined,
          variants: known.variants + 1,
          held: { hash, definition: kept, reasons, since: at },
        });
      continue;
    }
    offered.push(definition);
    if (pin === undefined && !isFirstList) news.push({ at, kind, name, change: "new", after: kept });
    if (pin?.hash !== undefined) news.push({ at, kind, name, change: "wording", before: pin.definition, after: kept });
    pins.set(name, acceptedPin(pin ?? { accepted: [], variants: 0 }, { hash, definition: kept, isNew: true }));
  }
  for (const [name, pin] of pins) {
    if (listed.has(name) || pin.gone === true) continue;
    isChanged = true;
    pins.set(name, { ...pin, gone: true });
  }
  const varies = before.varies || [...pins.values()].some(({ variants }) => variants >= MANY_VARIANTS);
  // A list with held items is compared again next time.
  const knownList = held.length === 0 ? listHash : "";
  if (before.lists[kind] !== knownList || varies !== before.varies) isChanged = true;
  const noted = news.filter(({ change }) => change === "held" || !before.varies);
  const state: PinState = {
    lists: { ...before.lists, [kind]: knownList },
    pins: { ...before.pins, [kind]: pins },
    varies,
    changes: [...before.changes, ...noted].slice(-MOST_CHANGES),
  };
  return { state, isChanged, offered, held, news: noted };
}

/** Accepts held definitions with these hashes. Returns the same state if none is held. */
export function approveHeld(
  before: PinState,
  chosen: readonly { readonly kind: PinKind; readonly name: string; readonly hash: string }[],
): PinState {
  const at = new Date().toISOString();
  const pins = {
    tools: new Map(before.pins.tools),
    prompts: new Map(before.pins.prompts),
    instructions: new Map(before.pins.instructions),
  };
  const changes: PinChange[] = [];
  for (const { kind, name, hash } of chosen) {
    const pin = pins[kind].get(name);
    if (pin?.held?.hash !== hash) continue;
    changes.push({ at, kind, name, change: "approved", before: pin.definition, after: pin.held.definition });
    pins[kind].set(name, { ...acceptedPin(pin, pin.held), ...(pin.gone === true ? { gone: true } : {}) });
  }
  if (changes.length === 0) return before;
  return { ...before, pins, changes: [...before.changes, ...changes].slice(-MOST_CHANGES) };
}

function acceptedPin(
  { hash: was, accepted, variants }: Pin,
  { hash, definition, isNew = false }: { hash: string; definition?: Definition; isNew?: boolean },
): Pin {
  const kept = [...accepted, ...(was === undefined ? [] : [was])].filter((each) => each !== hash);
  return { hash, definition, accepted: kept.slice(-MOST_ACCEPTED), variants: isNew ? variants + 1 : variants };
}

/**
 * What to compare with. If the accepted definition was too large to keep, only its hash is known: everything in the new
 * one counts as added, and every hint as widened.
 */
function comparable(pin: Pin | undefined): Definition | undefined {
  return pin?.hash === undefined ? undefined : (pin.definition ?? {});
}

function nameOf(kind: PinKind, definition: Definition): string | undefined {
  if (kind === "instructions") return "";
  return typeof definition.name === "string" ? definition.name : undefined;
}

function tooMany(): HoldReason {
  return { code: "too-many", text: `its server has listed more than ${MOST_PINS} different names` };
}
