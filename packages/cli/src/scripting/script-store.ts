// `store` of the module `trunkline`.
import type {
  AnyStore,
  SearchParams,
  SearchPathsResult,
  SearchResult,
  StoreCallOptions,
  StoreMethods,
} from "@trunkline/store";
import { camelCase, OPERATIONS } from "@trunkline/store/contract";
import { atCallSite } from "./call-site.js";
import { holding } from "./lifeline.js";
import { world } from "./world.js";

/** Methods of `Store` beyond the operations of the contract. */
const ON_CONTENT = ["put", "bytes", "has", "indexed"] as const;

type Method = keyof StoreMethods | (typeof ON_CONTENT)[number];

/** Calls that need the semantic search model. */
const BY_MEANING: ReadonlySet<string> = new Set(["search", "indexed"]);

/**
 * The store: the one in `TRUNKLINE_STORE`, or else the project's if it has one, or else your own. It is closed for you.
 */
export interface ScriptStore extends Omit<Pick<AnyStore, Method>, "search"> {
  /** Searches by keyword and, if the model is installed, by meaning. */
  search(params: SearchParams & { readonly pathsOnly?: false }, options?: StoreCallOptions): Promise<SearchResult>;
  search(params: SearchParams & { readonly pathsOnly: true }, options?: StoreCallOptions): Promise<SearchPathsResult>;
  /** Opens the store itself, for everything else. */
  open(): Promise<AnyStore>;
}

export const store: ScriptStore = Object.freeze({
  ...forwarded(),
  open: () => onStore(store.open, async () => await world().store()),
});

async function onStore<T>(above: (...args: never[]) => unknown, work: () => Promise<T>): Promise<T> {
  return await atCallSite(above, () => holding(work));
}

function forwarded(): Omit<ScriptStore, "open"> {
  const names = [...Object.keys(OPERATIONS).map(camelCase), ...ON_CONTENT] as Method[];
  const methods = names.map((name) => {
    const method = (...args: unknown[]) =>
      onStore(method, async () => {
        const opened = BY_MEANING.has(name) ? await world().searchableStore() : await world().store();
        // Each method takes its own arguments and returns a promise; the overall type says which.
        return await (opened[name] as (...args: unknown[]) => Promise<unknown>)(...args);
      });
    return [name, method];
  });
  return Object.fromEntries(methods);
}
