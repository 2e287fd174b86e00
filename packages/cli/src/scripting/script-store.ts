// `store` of the module `trunkline`.
import type { SearchParams, SearchResult, Store, StoreCallOptions } from "@trunkline/store";
import { atCallSite } from "./call-site.js";
import { holding } from "./lifeline.js";
import { world } from "./world.js";

/** What `Store` does and waits for: the same here, on a store that is opened with the first use. */
const METHODS = [
  "add",
  "search",
  "grep",
  "list",
  "get",
  "graph",
  "update",
  "delete",
  "undelete",
  "snapshot",
  "list_snapshots",
  "list_collections",
  "diff",
  "restore",
  "download",
  "status",
  "start",
  "resume",
  "stop",
  "list_sessions",
  "pin",
  "unpin",
  "watch",
  "put",
  "bytes",
  "has",
  "indexed",
] as const satisfies readonly (keyof Store)[];

/** What the model that searches by meaning is loaded for. */
const BY_MEANING: ReadonlySet<string> = new Set(["search", "indexed"]);

/** The store: that of `TRUNKLINE_STORE`, else the project's where it has one, else your own. It is closed for you. */
export interface ScriptStore extends Omit<Pick<Store, (typeof METHODS)[number]>, "search"> {
  /** By words and, where its model is installed, by meaning. */
  search(params: SearchParams & { readonly paths_only?: false }, options?: StoreCallOptions): Promise<SearchResult>;
  search(
    params: SearchParams & { readonly paths_only: true },
    options?: StoreCallOptions,
  ): Promise<{ paths: readonly string[]; total: number; cursor?: string }>;
  /** The store itself, for everything else. */
  open(): Promise<Store>;
}

/** The store of this program. */
export const store: ScriptStore = Object.freeze({
  ...forwarded(),
  open: () => onStore(store.open, async () => await world().store()),
});

async function onStore<T>(above: (...args: never[]) => unknown, work: () => Promise<T>): Promise<T> {
  return await atCallSite(above, () => holding(work));
}

function forwarded(): Omit<ScriptStore, "open"> {
  const methods = METHODS.map((name) => {
    const method = (...args: unknown[]) =>
      onStore(method, async () => {
        const opened = BY_MEANING.has(name) ? await world().searchableStore() : await world().store();
        // Each takes its own arguments and returns a promise; the type of the whole says which.
        return await (opened[name] as (...args: unknown[]) => Promise<unknown>)(...args);
      });
    return [name, method];
  });
  return Object.fromEntries(methods);
}
