// Which entries a search can find, computed before anything is ranked or cut, and cached until something changes.

import type { Db } from "../engine/sqlite/database.js";
import { type SelectionParams, selectDocuments } from "../engine/sqlite/filters.js";
import { IS_RESULTS } from "../engine/sqlite/visibility.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { type Entries, entriesOf, LIVE } from "./entry-states.js";

/** By entry id: 1 if the entry can be found. */
export type Scope = Uint8Array;

const KEPT_SCOPES = 8;

interface Kept {
  version: string;
  readonly scopes: Map<string, Scope>;
}

/** By connection to the content database: each principal has its own. */
const kept = new WeakMap<Db, Kept>();

/** Returns the entries selected by the filters. */
export function scopeOf(env: ReadEnvironment, filters: SelectionParams): Scope {
  const entries = entriesOf(env.index);
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  // Sessions and snapshots change without any document changing.
  const truth = given.length === 0 ? "" : env.truth.pragma<number>("data_version");
  const version = `${entries.key} ${truth}`;
  let state = kept.get(env.truth);
  if (state?.version !== version) {
    state = { version, scopes: new Map() };
    kept.set(env.truth, state);
  }
  const key = JSON.stringify(given);
  let scope = state.scopes.get(key);
  if (scope === undefined) {
    scope = given.length === 0 ? liveEntries(env, entries) : filteredEntries(env, entries, filters);
    if (state.scopes.size >= KEPT_SCOPES) state.scopes.clear();
    state.scopes.set(key, scope);
  }
  return scope;
}

/** Returns all live entries except stored results, which are searched only when their collection is named. */
function liveEntries({ truth, index }: ReadEnvironment, { states }: Entries): Scope {
  const scope = states.map((state) => (state === LIVE ? 1 : 0));
  // Those of all principals, also the ones that this reader cannot see.
  const results = `SELECT version FROM main.documents WHERE collection IN (SELECT id FROM main.collections WHERE ${IS_RESULTS})`;
  for (const version of truth.column<number>(results)) {
    const entry = index.get<{ id: number }>("SELECT id FROM entries WHERE version = ?", version);
    if (entry !== undefined) scope[entry.id] = 0;
  }
  return scope;
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
