// Work that changes leave for later: texts for grep, words for corrections, the graph, and merging postings. Any gateway
// takes it. A job's row is locked while it is worked on, so the work of a gateway that dies is free at once.
import { type Logger, messageOf } from "@trunkline/core";
import { gramTerms, hasIndexedText } from "@trunkline/store/parts";
import { type Attributes, attributesOf, storable } from "../contents/attributes.js";
import { type ContentRow, readContents } from "../contents/pg-contents.js";
import { type Database, LOCKS, type Sql } from "../database/sql.js";
import { dropFacts, lockGraph, putFacts, resolveSome } from "../graph/graph-writes.js";
import { BLOCK, encodePostings, type Posting } from "../search/keyword-read.js";
import type { Analysis } from "../thread/analysis.js";
import type { StoreThreads } from "../thread/store-threads.js";
import { dueWork, isOutage, type JobRow, lockJobs, nextLookMs, noteFailure } from "./job-attempts.js";

const JOBS_AT_ONCE = 64;
const RESOLVED_AT_ONCE = 64;
const LIVE = 2;
/** Postings are merged when this many entries wait. */
const LEAST_MERGED = 512;
const MOST_MERGED = 1024;
/** Pauses after a failure that no single job caused, such as a lost database. They double. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const MAX_ANALYSED_BYTES = 64 * 1024 * 1024;

interface EntryRow extends ContentRow {
  readonly entry: number;
  readonly document: number;
  readonly collection: number;
  readonly collection_name: string;
  readonly path: string;
  readonly root: string | null;
  readonly title: string | null;
}

export class WorkQueue {
  readonly #database: Database;
  readonly #threads: StoreThreads;
  readonly #logger: Logger;
  #running: Promise<void> | undefined;
  #again = false;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #lastFailure = "";
  /** Called after work was done. */
  onDone: (() => void) | undefined;

  constructor(database: Database, { threads, logger }: { threads: StoreThreads; logger: Logger }) {
    this.#database = database;
    this.#threads = threads;
    this.#logger = logger;
  }

  /** Looks for work without waiting for it. */
  wake(): void {
    if (this.#isClosed) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#retry);
    this.#again = false;
    this.#running = this.#run()
      .catch((error: unknown) => this.#fail(error))
      .then(() => {
        this.#running = undefined;
        if (this.#again) this.wake();
      });
  }

  /** Resolves when no work is left, also none that another gateway does. */
  async idle(): Promise<void> {
    while (!this.#isClosed) {
      this.wake();
      while (this.#running !== undefined) await this.#running;
      if ((await this.#database.read({}, dueWork)) === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#running;
  }

  async #run(): Promise<void> {
    let isDone = false;
    let failure: { error: unknown } | undefined;
    // One kind of work that fails must not stop the others.
    const kinds = new Set([() => this.#takeJobs(), () => this.#resolve(), () => this.#merge()]);
    for (let taken = 1; taken > 0 && !this.#isClosed; ) {
      taken = 0;
      for (const take of kinds) {
        try {
          taken += await take();
        } catch (error) {
          if (isOutage(error)) throw error;
          kinds.delete(take);
          failure ??= { error };
        }
      }
      isDone ||= taken > 0;
    }
    if (isDone) this.onDone?.();
    if (failure !== undefined) throw failure.error;
    this.#retryMs = FIRST_RETRY_MS;
    this.#lastFailure = "";
    const nextMs = this.#isClosed ? undefined : await this.#database.read({}, nextLookMs);
    if (nextMs !== undefined) this.#lookIn(nextMs);
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    const message = messageOf(error);
    if (message !== this.#lastFailure) this.#logger.warn("background indexing failed", { error });
    this.#lastFailure = message;
    this.#lookIn(this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#retry);
    if (!this.#isClosed) this.#retry = setTimeout(() => this.wake(), ms).unref();
  }

  /** Takes some jobs that no other gateway has. If one of them fails, each is tried alone. */
  async #takeJobs(): Promise<number> {
    let taken: readonly JobRow[] = [];
    try {
      return await this.#database.write({}, async (sql) => {
        taken = await lockJobs(sql, JOBS_AT_ONCE);
        return await this.#work(sql, taken);
      });
    } catch (error) {
      if (isOutage(error) || taken.length === 0) throw error;
    }
    for (const { job } of taken) await this.#takeJob(job);
    return taken.length;
  }

  async #takeJob(job: number): Promise<void> {
    try {
      await this.#database.write({}, async (sql) => this.#work(sql, await lockJobs(sql, 1, job)));
    } catch (error) {
      if (isOutage(error)) throw error;
      this.#logger.warn("a document could not be indexed", { job, error });
      await this.#database.write({}, (sql) => noteFailure(sql, job, error));
    }
  }

  async #work(sql: Sql, jobs: readonly JobRow[]): Promise<number> {
    if (jobs.length === 0) return 0;
    const isLive = ({ state }: JobRow) => state === LIVE;
    await this.#index(
      sql,
      jobs.filter(isLive).map(({ entry }) => entry),
    );
    for (const { entry } of jobs.filter((job) => !isLive(job))) await forget(sql, entry);
    await sql.run(
      "DELETE FROM jobs WHERE id = ANY($1::bigint[])",
      jobs.map(({ job }) => job),
    );
    return jobs.length;
  }

  /** Indexes entries together: what each needs is read and stored with as few statements as possible. */
  async #index(sql: Sql, ids: readonly number[]): Promise<void> {
    const entries = await sql.rows<EntryRow>(
      `SELECT e.id AS entry, e.document, d.collection, k.name AS collection_name, d.path, d.root, d.title, c.id, c.hash, c.size, c.type
       FROM entries e JOIN documents d ON d.id = e.document JOIN collections k ON k.id = d.collection
       JOIN contents c ON c.id = e.content WHERE e.id = ANY($1::int[]) ORDER BY e.id`,
      ids,
    );
    if (entries.length === 0) return;
    const attributes = await attributesOf(
      sql,
      entries.map(({ document }) => document),
    );
    const texts = await this.#read(sql, entries);
    const underWay = entries.map((entry) => {
      const analysis = this.#analyse(entry, texts.get(entry.id), attributes.get(entry.document));
      // Awaited in turn; until then a failure must not count as unhandled.
      analysis.catch(() => {});
      return { entry, analysis };
    });
    const done: { entry: EntryRow; analysis: Analysis }[] = [];
    for (const { entry, analysis } of underWay) done.push({ entry, analysis: await analysis });
    const bodies = done.filter(({ analysis }) => analysis.body !== undefined);
    await sql.run(
      "INSERT INTO texts SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT DO NOTHING",
      bodies.map(({ entry }) => entry.id),
      bodies.map(({ analysis }) => analysis.body),
    );
    const generated = done.filter(({ analysis }) => analysis.generated !== undefined);
    if (generated.length > 0) {
      await sql.run(
        "INSERT INTO words_only SELECT * FROM unnest($1::int[], $2::text[]) ON CONFLICT DO NOTHING",
        generated.map(({ entry }) => entry.entry),
        generated.map(({ analysis }) => analysis.generated),
      );
    }
    await addWords(sql, [...new Set(done.flatMap(({ analysis }) => analysis.words))]);
    await lockGraph(sql);
    for (const { entry, analysis } of done) {
      const { document, collection, path, hash } = entry;
      await putFacts(sql, { document, entry: entry.entry, collection, path, hash }, analysis.facts);
    }
  }

  /** Reads the texts that are indexed, by content. */
  async #read(sql: Sql, entries: readonly EntryRow[]): Promise<Map<number, Uint8Array>> {
    const wanted = entries.filter(
      (entry) => hasIndexedText({ ...entry, collection: entry.collection_name }) && entry.size <= MAX_ANALYSED_BYTES,
    );
    return await readContents(sql, wanted);
  }

  async #analyse(
    { path, size, root, title }: EntryRow,
    bytes: Uint8Array | undefined,
    { tags, metadata }: Attributes = { tags: [], metadata: {} },
  ): Promise<Analysis> {
    const document = { path, size, root: root ?? undefined, title: title ?? undefined, tags, metadata, bytes };
    return await this.#threads.texts.analyse(document);
  }

  async #resolve(): Promise<number> {
    return await this.#database.write({}, async (sql) => {
      await lockGraph(sql);
      return await resolveSome(sql, RESOLVED_AT_ONCE);
    });
  }

  /** Moves postings of new entries into blocks, many at a time: a block is then written once, not for each document. */
  async #merge(): Promise<number> {
    return await this.#database.write({}, async (sql) => {
      const lock = `SELECT pg_try_advisory_xact_lock(${LOCKS.words}) AS taken`;
      if (!(await sql.one<{ taken: boolean }>(lock)).taken) return 0;
      const rows = await sql.rows<{ entry: number; piece: number; length: number; terms: string[]; counts: number[] }>(
        `SELECT * FROM keyword_recent WHERE (SELECT count(*) FROM keyword_recent) >= ${LEAST_MERGED} ORDER BY entry, piece LIMIT ${MOST_MERGED}`,
      );
      if (rows.length === 0) return 0;
      await mergePostings(sql, rows);
      const text =
        "DELETE FROM keyword_recent r USING unnest($1::int[], $2::int[]) AS n(entry, piece) WHERE r.entry = n.entry AND r.piece = n.piece";
      await sql.run(
        text,
        rows.map(({ entry }) => entry),
        rows.map(({ piece }) => piece),
      );
      return rows.length;
    });
  }
}

/** Removes what the background made of a document that is gone. */
async function forget(sql: Sql, entry: number): Promise<void> {
  const found = await sql.get<{ document: number }>(
    `SELECT e.document FROM entries e LEFT JOIN documents d ON d.id = e.document AND d.state = 'live' WHERE e.id = $1 AND d.id IS NULL`,
    entry,
  );
  if (found === undefined) return;
  await lockGraph(sql);
  await dropFacts(sql, found.document);
}

/** Sorted, so that two gateways never wait for each other. */
async function addWords(sql: Sql, words: readonly string[]): Promise<void> {
  if (words.length === 0) return;
  const known = await sql.rows<{ word: string }>(
    "SELECT word FROM words WHERE word = ANY($1::text[])",
    words.map(storable),
  );
  const has = new Set(known.map(({ word }) => word));
  const fresh = [...new Set(words.map(storable))].filter((word) => !has.has(word)).sort();
  if (fresh.length === 0) return;
  await sql.run(
    `INSERT INTO words (word, grams) SELECT n.word, string_to_array(n.grams, ' ') FROM unnest($1::text[], $2::text[]) AS n(word, grams)
     ON CONFLICT DO NOTHING`,
    fresh,
    fresh.map((word) => gramTerms(word, word.length).join(" ")),
  );
}

const BLOCKS_AT_ONCE = 5000;

async function mergePostings(
  sql: Sql,
  rows: readonly { entry: number; piece: number; length: number; terms: string[]; counts: number[] }[],
): Promise<void> {
  const lists = new Map<string, { term: string; block: number; postings: Posting[] }>();
  for (const { entry, piece, length, terms, counts } of rows) {
    const block = Math.floor(entry / BLOCK);
    for (const [at, term] of terms.entries()) {
      const key = `${block} ${term}`;
      const list = lists.get(key) ?? { term, block, postings: [] };
      list.postings.push({ entry, piece, count: counts[at] as number, length });
      lists.set(key, list);
    }
  }
  const all = [...lists.values()];
  for (let at = 0; at < all.length; at += BLOCKS_AT_ONCE) {
    const group = all.slice(at, at + BLOCKS_AT_ONCE);
    await sql.run(
      `INSERT INTO keyword_blocks SELECT n.term, n.block, decode(n.data, 'hex')
       FROM unnest($1::text[], $2::int[], $3::text[]) AS n(term, block, data)
       ON CONFLICT (term, block) DO UPDATE SET data = keyword_blocks.data || excluded.data`,
      group.map(({ term }) => term),
      group.map(({ block }) => block),
      group.map(({ postings }) => Buffer.from(encodePostings(postings)).toString("hex")),
    );
  }
}
