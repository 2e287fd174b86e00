// Which entries a search may find, worked out before anything is ranked or cut, and kept until something changes.
import type { ReadEnvironment } from "../operations/environment.js";
import type { Db } from "../sqlite/database.js";
import { type SelectionParams, selectDocuments } from "../sqlite/filters.js";
import { type Entries, entriesOf, LIVE } from "./entries.js";

/** By entry id: 1 where the entry may be found. */
export type Scope = Uint8Array;

const KEPT_SCOPES = 8;

interface Kept {
  version: string;
  readonly scopes: Map<string, Scope>;
}

const kept = new WeakMap<Db, Kept>();

/** The entries that the filters stand for. */
export function scopeOf(env: ReadEnvironment, filters: SelectionParams): Scope {
  const entries = entriesOf(env.index);
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  // Sessions and snapshots change without any document.
  const truth = given.length === 0 ? "" : env.truth.pragma<number>("data_version");
  const version = `${entries.key} ${truth}`;
  let state = kept.get(env.index);
  if (state?.version !== version) {
    state = { version, scopes: new Map() };
    kept.set(env.index, state);
  }
  const key = JSON.stringify(given);
  let scope = state.scopes.get(key);
  if (scope === undefined) {
    scope = given.length === 0 ? liveEntries(entries) : filteredEntries(env, entries, filters);
    if (state.scopes.size >= KEPT_SCOPES) state.scopes.clear();
    state.scopes.set(key, scope);
  }
  return scope;
}

function liveEntries({ states }: Entries): Scope {
  return states.map((state) => (state === LIVE ? 1 : 0));
}

function filteredEntries({ truth, index }: ReadEnvironment, { states }: Entries, filters: SelectionParams): Scope {
  const selection = selectDocuments(truth, filters);
  const versions = new Set(
    truth.column<number>(`SELECT v.id FROM ${selection.from} WHERE ${selection.where}`, ...selection.values),
  );
  const scope = new Uint8Array(states.length);
  for (const [id, version] of index.tuples<[number, number]>("SELECT id, version FROM entries")) {
    if (versions.has(version)) scope[id] = 1;
  }
  return scope;
}
