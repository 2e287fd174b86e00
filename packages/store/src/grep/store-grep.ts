// `grep` on the main thread: readers list the documents, grep threads read and match them.
import { resolve } from "node:path";
import { TrunklineError } from "@trunkline/core";
import type { Call, Remotes } from "@trunkline/core/threads";
import type { GrepParams, GrepResult } from "../contract/index.js";
import type { Viewer } from "../engine/sqlite/visibility.js";
import type { GivenPath, GrepFilters, GrepPageParams, grepPage, grepPlaces } from "./grep-documents.js";
import { documentsOf, type GrepPage } from "./grep-list.js";
import type { GrepReaderData } from "./grep-reader.js";
import { compareText, type GrepCallOptions, GrepPool, type GrepRequest, type GrepSource, grep } from "./index.js";

const READER_MODULE = new URL("./grep-reader.js", import.meta.url).href;

/** Small, so matching starts early. */
const FIRST_PAGE = 500;
const PAGE = 5000;

type ReaderCalls = Remotes<{
  grepPlaces: typeof grepPlaces;
  grepPage: typeof grepPage;
  has: (env: never, params: { id: string }, call: Call) => boolean;
}>;

/** grep over one open store. Its threads start with the first query. */
export class StoreGrep {
  readonly #readers: ReaderCalls;
  readonly #threads: GrepPool;

  constructor(readers: ReaderCalls, { folder, idleMs }: { folder: string; idleMs: number | undefined }) {
    this.#readers = readers;
    const data: GrepReaderData = { folder };
    this.#threads = new GrepPool({ reader: { module: READER_MODULE, data }, idleMs });
  }

  /** Runs a query. `session` is already an id. */
  async run(
    params: Omit<GrepParams, "session"> & { session: string | undefined },
    { viewer, cwd, ...options }: GrepCallOptions & { viewer?: Viewer; cwd: string },
  ): Promise<GrepResult> {
    const { paths, documents, collection, snapshot, tags, matchAllTags, metadata, session, cursor, ...rest } = params;
    const filters = { collection, snapshot, tags, matchAllTags, metadata, session };
    const given = paths?.length ? paths.map((path) => ({ given: path, absolute: resolve(cwd, path) })) : undefined;
    const source =
      documents === undefined
        ? storeSource(this.#readers, { filters, paths: given, viewer })
        : givenSource(await this.#visible(documents, { viewer, signal: options.signal }));
    // The source resolves the paths. Paths and filters are part of the query because a cursor is bound to them.
    const query = { ...sortedByName(rest), pattern: rest.pattern, cursor, within: documents ?? given, filters };
    return await grep(query, { source, pool: this.#threads }, options);
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }

  /** Grep threads read any content, so contents that the caller names are checked before. */
  async #visible<T extends { readonly hash: string }>(
    documents: readonly T[],
    options: { viewer: Viewer; signal: AbortSignal | undefined },
  ): Promise<readonly T[]> {
    if (options.viewer === undefined) return documents;
    for (const hash of new Set(documents.map((document) => document.hash))) {
      if (!(await this.#readers.has({ id: hash }, options))) {
        throw new TrunklineError("NOT_FOUND", `The store has no content "${hash}".`);
      }
    }
    return documents;
  }
}

/** Sorts parameters, so their order does not matter. */
function sortedByName<T extends object>(params: T): T {
  return Object.fromEntries(Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1))) as T;
}

/** Provides documents the caller knows, whether or not the store has them under these paths. */
function givenSource(documents: readonly { readonly path: string; readonly hash: string }[]): GrepSource {
  const distinct = new Map(documents.map(({ path, hash }) => [JSON.stringify([path, hash]), { path, hash }]));
  const sorted = [...distinct.values()].sort((a, b) => compareText(a.path, b.path) || compareText(a.hash, b.hash));
  return {
    async *documents() {
      yield sorted;
    },
  };
}

/** Provides the store's documents. Fetches the next page while the current one is searched. */
function storeSource(
  readers: ReaderCalls,
  { filters, paths, viewer }: { filters: GrepFilters; paths: readonly GivenPath[] | undefined; viewer: Viewer },
): GrepSource {
  return {
    async *documents({ trigrams, fromPath, signal }: GrepRequest) {
      const places = paths === undefined ? undefined : await readers.grepPlaces({ filters, paths }, { signal, viewer });
      const fetch = (from: GrepPageParams["from"], limit: number): Promise<GrepPage> => {
        const page = readers.grepPage({ filters, trigrams, places, from, limit }, { signal, viewer });
        // Awaited later, or not at all if the search ends earlier.
        page.catch(() => {});
        return page;
      };
      const from = fromPath === undefined ? undefined : { path: fromPath };
      let page: Promise<GrepPage> | undefined = fetch(from, FIRST_PAGE);
      while (page !== undefined) {
        const fetched: GrepPage = await page;
        page = fetched.next === undefined ? undefined : fetch(fetched.next, PAGE);
        yield documentsOf(fetched);
      }
    },
  };
}
