// Work that changes leave for later: texts for grep, words for corrections, the graph, and merging postings. Any gateway
// takes it. A job's row is locked while it is worked on, so the work of a gateway that dies is free at once.
import { type Logger, messageOf } from "@trunkline/core";
import { gramTerms, hasIndexedText } from "@trunkline/store/parts";
import { type Attributes, attributesOf, storable } from "../contents/attributes.js";
import { type ContentRow, readContents } from "../contents/pg-contents.js";
import type { Database, Sql } from "../database/sql.js";
import { dropFacts, lockGraph, putFacts, resolveSome } from "../graph/graph-writes.js";
import type { Analysis } from "../thread/analysis.js";
import type { StoreThreads } from "../thread/store-threads.js";
import { dueWork, isOutage, type JobRow, lockJobs, nextLookMs, noteFailure } from "./job-attempts.js";
import { mergeWords } from "./merge-words.js";

const JOBS_AT_ONCE = 64;
const RESOLVED_AT_ONCE = 256;
const LIVE = 2;
/** Pauses after a failure that no single job caused, such as a lost database. They double. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
/** How long background work waits for documents that are being added. */
const MOST_HELD_MS = 30_000;
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
  #heldSince: number | undefined;
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
    const kinds = new Set([() => this.#takeTwice(), () => this.#resolve(), () => this.#merge()]);
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

  /** Documents that are being added come first: they should be found soon. But the work does not wait forever. */
  #isHeld(): boolean {
    if (!this.#threads.isAdding) this.#heldSince = undefined;
    else this.#heldSince ??= performance.now();
    return this.#heldSince !== undefined && performance.now() - this.#heldSince < MOST_HELD_MS;
  }

  /** Two at a time: one analyses while the other stores. */
  async #takeTwice(): Promise<number> {
    if (this.#isHeld()) return 0;
    const [first, second] = await Promise.allSettled([this.#takeJobs(), this.#takeJobs()]);
    if (first.status === "rejected") throw first.reason;
    if (second.status === "rejected") throw second.reason;
    return first.value + second.value;
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
    for (const job of taken) await this.#takeJob(job);
    return taken.length;
  }

  async #takeJob(job: JobRow): Promise<void> {
    try {
      await this.#database.write({}, async (sql) => this.#work(sql, await lockJobs(sql, 1, job.job)));
    } catch (error) {
      if (isOutage(error)) throw error;
      this.#logger.warn("a document could not be indexed", { job: job.job, error });
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
    // Sorted, so that two gateways with the same texts never wait for each other.
    const sorted = [...bodies].sort((a, b) => a.entry.id - b.entry.id);
    await sql.run(
      "INSERT INTO texts SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT DO NOTHING",
      sorted.map(({ entry }) => entry.id),
      sorted.map(({ analysis }) => analysis.body),
    );
    const generated = done.filter(({ analysis }) => analysis.generated !== undefined);
    if (generated.length > 0) {
      await sql.run(
        "INSERT INTO words_only SELECT * FROM unnest($1::int[], $2::text[]) ON CONFLICT DO NOTHING",
        generated.map(({ entry }) => entry.entry),
        generated.map(({ analysis }) => analysis.generated),
      );
    }
    await lockGraph(sql);
    // With the lock, so that ids are in the order of commits: gateways read those that are higher than what they know.
    await addWords(sql, [...new Set(done.flatMap(({ analysis }) => analysis.words))]);
    const live = await liveEntries(sql, ids);
    await putFacts(
      sql,
      done
        .filter(({ entry: { entry } }) => live.has(entry))
        .map(({ entry: { document, entry, collection, path, hash }, analysis }) => ({
          ...{ document, entry, collection, path, hash, bytes: analysis.facts },
        })),
    );
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
    if (this.#isHeld()) return 0;
    return await this.#database.write({}, async (sql) => {
      await lockGraph(sql);
      return await resolveSome(sql, RESOLVED_AT_ONCE);
    });
  }

  async #merge(): Promise<number> {
    return await this.#database.write({}, (sql) => mergeWords(sql));
  }
}

/**
 * Returns the entries that are live now. A document can change while it is analysed, and another gateway can be done with
 * its new version before. Needs the lock on the graph.
 */
async function liveEntries(sql: Sql, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const text = `SELECT id FROM entries WHERE id = ANY($1::int[]) AND state = ${LIVE}`;
  return new Set((await sql.rows<{ id: number }>(text, ids)).map(({ id }) => id));
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
    `WITH added AS (INSERT INTO words (word) SELECT * FROM unnest($1::text[]) ON CONFLICT DO NOTHING RETURNING id, word)
     INSERT INTO word_grams SELECT g, a.id FROM unnest($1::text[], $2::text[]) AS n(word, grams) JOIN added a ON a.word = n.word,
       unnest(string_to_array(n.grams, ' ')) g`,
    fresh,
    fresh.map((word) => gramTerms(word, word.length).join(" ")),
  );
}
