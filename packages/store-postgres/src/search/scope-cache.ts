// Which entries a search can find, computed before anything is ranked or cut, and kept until a document changes.
import type { Viewer } from "@trunkline/store/parts";
import { type SelectionParams, selectDocuments } from "../contents/pg-filters.js";
import type { Sql } from "../database/sql.js";
import type { EntryStates } from "./entry-cache.js";

const LIVE = 2;
const KEPT_SCOPES = 8;

interface ScopeOptions {
  readonly filters: SelectionParams;
  readonly viewer: Viewer;
}

/** By entry id: 1 if the entry can be found. */
type Scope = Uint8Array;

export class ScopeCache {
  #entries: EntryStates | undefined;
  readonly #scopes = new Map<string, Scope>();

  async scopeOf(sql: Sql, entries: EntryStates, { filters, viewer }: ScopeOptions): Promise<Scope> {
    if (this.#entries !== entries) {
      this.#entries = entries;
      this.#scopes.clear();
    }
    const given = Object.entries(filters).filter(([, value]) => value !== undefined);
    const key = JSON.stringify([given, given.length === 0 ? undefined : viewer]);
    const known = this.#scopes.get(key);
    if (known !== undefined) return known;
    const scope = given.length === 0 ? liveEntries(entries) : await selectedEntries(sql, entries, filters);
    // Sessions and snapshots change without any document changing.
    const isKept = filters.session === undefined && filters.snapshot === undefined && this.#entries === entries;
    if (!isKept) return scope;
    if (this.#scopes.size >= KEPT_SCOPES) this.#scopes.clear();
    this.#scopes.set(key, scope);
    return scope;
  }
}

/** Stored results are searched only when their collection is named. */
function liveEntries({ states, results }: EntryStates): Scope {
  return states.map((state, id) => (state === LIVE && results[id] === 0 ? 1 : 0));
}

async function selectedEntries(sql: Sql, { states }: EntryStates, filters: SelectionParams): Promise<Scope> {
  const selection = await selectDocuments(sql, filters);
  const rows = await sql.rows<{ id: number }>(
    `SELECT e.id FROM ${selection.from} JOIN entries e ON e.version = v.id WHERE e.state <> 0 AND ${selection.where}`,
    ...selection.values,
  );
  const scope = new Uint8Array(states.length);
  for (const { id } of rows) if (id < scope.length) scope[id] = 1;
  return scope;
}
