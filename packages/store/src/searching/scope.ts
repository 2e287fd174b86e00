// Which entries a search may find, worked out before anything is ranked or cut, and kept until something changes.
import type { ReadEnvironment } from "../operations/environment.js";
import type { Db } from "../sqlite/database.js";
import { type SelectionParams, selectDocuments } from "../sqlite/filters.js";

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
  const version = [env.truth, env.index].map((db) => db.pragma<number>("data_version")).join("/");
  let state = kept.get(env.index);
  if (state?.version !== version) {
    state = { version, scopes: new Map() };
    kept.set(env.index, state);
  }
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const key = JSON.stringify(given);
  let scope = state.scopes.get(key);
  if (scope === undefined) {
    scope = given.length === 0 ? liveEntries(env.index) : filteredEntries(env, filters);
    if (state.scopes.size >= KEPT_SCOPES) state.scopes.clear();
    state.scopes.set(key, scope);
  }
  return scope;
}

function liveEntries(index: Db): Scope {
  const scope = emptyScope(index);
  for (const { id } of index.iterate<{ id: number }>("SELECT id FROM entries WHERE live = 1")) scope[id] = 1;
  return scope;
}

function filteredEntries({ truth, index }: ReadEnvironment, filters: SelectionParams): Scope {
  const selection = selectDocuments(truth, filters);
  const versions = new Set<number>();
  const rows = truth.iterate<{ id: number }>(
    `SELECT v.id FROM ${selection.from} WHERE ${selection.where}`,
    ...selection.values,
  );
  for (const { id } of rows) versions.add(id);
  const scope = emptyScope(index);
  for (const { id, version } of index.iterate<{ id: number; version: number }>("SELECT id, version FROM entries")) {
    if (versions.has(version)) scope[id] = 1;
  }
  return scope;
}

function emptyScope(index: Db): Scope {
  return new Uint8Array(index.one<{ last: number }>("SELECT coalesce(max(id), 0) AS last FROM entries").last + 1);
}
