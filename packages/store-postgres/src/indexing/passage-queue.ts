// What to embed next, and where the vectors go. The queue is the list of entries itself; each model remembers the entry up
// to which it is complete.
import type { RpcOptions } from "@trunkline/core/threads";
import {
  type EmbeddingQueue,
  type EmbeddingStep,
  hasIndexedText,
  type Passage,
  signsOf,
  vectorBytes,
} from "@trunkline/store/parts";
import { type ContentRow, readContent, readContents } from "../contents/pg-contents.js";
import { type Database, LOCKS, type Sql } from "../database/sql.js";
import type { PassageVectors } from "../search/passage-vectors.js";
import type { StoreThreads } from "../thread/store-threads.js";

const ENTRIES_PER_LOOK = 32;
const MAX_EMBEDDED_BYTES = 64 * 1024 * 1024;
/** Texts up to this size are read together. */
const SHORT_BYTES = 256 * 1024;

interface EntryRow extends ContentRow {
  readonly entry: number;
  readonly path: string;
  readonly root: string | null;
  readonly title: string | null;
  readonly collection: string;
}

/** An entry and the passages of its text. */
interface CutEntry {
  readonly entry: number;
  readonly passages: readonly Passage[];
}

export class PassageQueue implements EmbeddingQueue {
  readonly #database: Database;
  readonly #threads: StoreThreads;
  readonly #vectors: PassageVectors;

  constructor(database: Database, { threads, vectors }: { threads: StoreThreads; vectors: PassageVectors }) {
    this.#database = database;
    this.#threads = threads;
    this.#vectors = vectors;
  }

  async nextTexts(
    { model, dimensions, most }: { model: string; dimensions: number; most: number },
    options: RpcOptions = {},
  ): Promise<EmbeddingStep> {
    const embedder = await this.#database.write({}, async (sql) => {
      await sql.run(
        "INSERT INTO embedders (model, dimensions) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        model,
        dimensions,
      );
      const row = await sql.one<{ id: number; isNew: boolean }>(
        `UPDATE embedders SET used = $2 WHERE model = $1 RETURNING id`,
        model,
        Date.now(),
      );
      if (this.#vectors.hasPgvector) await indexVectors(sql, row.id, dimensions);
      return row.id;
    });
    while (true) {
      options.signal?.throwIfAborted();
      const step = await this.#database.write({}, (sql) => this.#look(sql, embedder, most));
      if (step.done || step.texts.length > 0) return step;
    }
  }

  async #look(sql: Sql, embedder: number, most: number): Promise<EmbeddingStep> {
    await sql.run(`SELECT pg_advisory_xact_lock(${LOCKS.vectors})`);
    // Before the entries are read: what other gateways add afterwards is higher, and not skipped.
    const { reached, last } = await sql.one<{ reached: number; last: number }>(
      "SELECT entry AS reached, (SELECT coalesce(max(id), 0) FROM entries) AS last FROM embedders WHERE id = $1",
      embedder,
    );
    const rows = await sql.rows<EntryRow>(
      `SELECT e.id AS entry, d.path, d.root, d.title, k.name AS collection, c.id, c.hash, c.size, c.type
       FROM entries e JOIN documents d ON d.id = e.document JOIN collections k ON k.id = d.collection
       JOIN contents c ON c.id = e.content WHERE e.id > $1 AND e.state <> 0 ORDER BY e.id LIMIT ${ENTRIES_PER_LOOK}`,
      reached,
    );
    if (rows.length === 0) {
      await advance(sql, embedder, last);
      await sql.run("UPDATE embedders SET complete = true WHERE id = $1", embedder);
      return { texts: [], through: reached, done: true };
    }
    const cut = await this.#cutSome(sql, rows, most);
    const known = await hashesWithVectors(
      sql,
      embedder,
      cut.flatMap(({ passages }) => passages.map(({ hash }) => hash)),
    );
    const texts = new Map<string, string>();
    const noted: CutEntry[] = [];
    let through = reached;
    for (const { entry, passages } of cut) {
      const missing = passages.filter(({ hash }) => !known.has(hash) && !texts.has(hash));
      if (texts.size > 0 && texts.size + missing.length > most) break;
      noted.push({ entry, passages });
      for (const { hash, text } of missing.slice(0, most)) texts.set(hash, text);
      // A long text is returned again until all its passages have vectors.
      if (missing.length > most) break;
      through = entry;
    }
    await notePassages(sql, noted);
    if (texts.size === 0) await advance(sql, embedder, through);
    return { texts: [...texts].map(([hash, text]) => ({ hash, text })), through, done: false };
  }

  /** Cuts the texts of entries, one after another, until there are enough passages. */
  async #cutSome(sql: Sql, rows: readonly EntryRow[], most: number): Promise<CutEntry[]> {
    const isCut = (row: EntryRow) => hasIndexedText(row) && row.size <= MAX_EMBEDDED_BYTES;
    const short = await readContents(
      sql,
      rows.filter((row) => isCut(row) && row.size <= SHORT_BYTES),
    );
    const cut: CutEntry[] = [];
    let count = 0;
    for (const row of rows) {
      const { entry, path, root, title } = row;
      const bytes = isCut(row) ? (short.get(row.id) ?? (await readContent(sql, row))) : undefined;
      const document = { path, root: root ?? undefined, title: title ?? undefined, bytes };
      const passages = bytes === undefined ? [] : await this.#threads.texts.cutPassages(document);
      cut.push({ entry, passages });
      count += passages.length;
      if (count > most) break;
    }
    return cut;
  }

  async keepVectors({ model, vectors, through }: Parameters<EmbeddingQueue["keepVectors"]>[0]): Promise<void> {
    await this.#database.write({}, async (sql) => {
      const row = await sql.get<{ id: number }>("SELECT id FROM embedders WHERE model = $1", model);
      if (row === undefined) return;
      // Ids in the order of commits: gateways read those that are higher than what they know.
      await sql.run(`SELECT pg_advisory_xact_lock(${LOCKS.vectors})`);
      const half = this.#vectors.hasPgvector ? vectors.map(({ vector }) => `[${[...vector].join(",")}]`) : undefined;
      await sql.run(
        `INSERT INTO vectors (embedder, hash, vector, signs${half === undefined ? "" : ", half"})
         SELECT $1, decode(n.hash, 'hex'), decode(n.vector, 'hex'), decode(n.signs, 'hex')${half === undefined ? "" : ", n.half::halfvec"}
         FROM unnest($2::text[], $3::text[], $4::text[]${half === undefined ? "" : ", $5::text[]"})
           AS n(hash, vector, signs${half === undefined ? "" : ", half"}) ON CONFLICT DO NOTHING`,
        row.id,
        vectors.map(({ hash }) => hash),
        vectors.map(({ vector }) => Buffer.from(vectorBytes(vector)).toString("hex")),
        vectors.map(({ vector }) => Buffer.from(signsOf(vector)).toString("hex")),
        ...(half === undefined ? [] : [half]),
      );
      await advance(sql, row.id, through);
    });
  }
}

/** Each model has its own dimensions, and so its own index. */
async function indexVectors(sql: Sql, embedder: number, dimensions: number): Promise<void> {
  await sql.exec(`CREATE INDEX IF NOT EXISTS vectors_near_${embedder} ON vectors
    USING hnsw ((half::halfvec(${dimensions})) halfvec_cosine_ops) WHERE embedder = ${embedder}`);
}

async function advance(sql: Sql, embedder: number, through: number): Promise<void> {
  await sql.run("UPDATE embedders SET entry = greatest(entry, $2) WHERE id = $1", embedder, through);
}

async function hashesWithVectors(sql: Sql, embedder: number, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await sql.rows<{ hash: string }>(
    `SELECT h AS hash FROM unnest($2::text[]) h JOIN vectors v ON v.embedder = $1 AND v.hash = decode(h, 'hex')`,
    embedder,
    [...new Set(hashes)],
  );
  return new Set(rows.map(({ hash }) => hash));
}

async function notePassages(sql: Sql, entries: readonly CutEntry[]): Promise<void> {
  const all = entries.flatMap(({ entry, passages }) => passages.map((passage) => ({ entry, ...passage })));
  if (all.length === 0) return;
  await sql.run(
    `INSERT INTO passages (entry, number, hash, from_line, to_line)
     SELECT n.entry, n.number, decode(n.hash, 'hex'), n.from_line, n.to_line
     FROM unnest($1::int[], $2::int[], $3::text[], $4::int[], $5::int[]) AS n(entry, number, hash, from_line, to_line)
     ON CONFLICT DO NOTHING`,
    all.map(({ entry }) => entry),
    all.map(({ number }) => number),
    all.map(({ hash }) => hash),
    all.map(({ fromLine }) => fromLine),
    all.map(({ toLine }) => toLine),
  );
}
