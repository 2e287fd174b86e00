// Search by meaning. The gateway keeps the signs of vectors in memory, up to a stated number, and compares the likely ones
// exactly. With pgvector in the database, an HNSW index finds the likely ones instead, without a limit.
import { cosine, lengthOf, numbersOf, type SemanticHit } from "@trunkline/store/parts";
import type { Sql } from "../database/sql.js";
import type { EntryStates } from "./entry-cache.js";
import { type LikelyPassage, VectorTable } from "./vector-table.js";

/** Passages that a gateway keeps in memory: 64 bytes each with 384 dimensions. */
const MOST_VECTORS = 1_000_000;
const ROWS_AT_ONCE = 20_000;
/** What HNSW looks at, and so the most that it returns. */
const NEAREST = 400;
/** With fewer entries in the scope, the database compares all of them: an index would find others. */
const FEW_ENTRIES = 1000;

interface EmbedderRow {
  readonly id: number;
  readonly entry: number;
  readonly dimensions: number;
  /** The last row of each table. */
  readonly passage: number;
  readonly vector: number;
}

interface SemanticFound {
  readonly hits: readonly SemanticHit[];
  readonly missing: { embedded: number; total: number } | undefined;
  readonly notice: string | undefined;
}

interface SemanticScope {
  readonly scope: Uint8Array;
  /** Entries that are compared in any case. */
  readonly also: readonly number[];
  readonly entries: EntryStates;
}

/** The vectors of one model, as far as they were read. */
interface Known {
  readonly embedder: number;
  readonly table: VectorTable;
  passage: number;
  vector: number;
  isCut: boolean;
}

export class PassageVectors {
  #known: Known | undefined;
  #reading: Promise<void> | undefined;
  readonly #most: number;
  /** Whether pgvector is installed. Set when the store is opened. */
  hasPgvector = false;

  constructor(most = MOST_VECTORS) {
    this.#most = most;
  }

  /** Returns entries in the scope, nearest first; `undefined` if the model has no vectors here. */
  async nearest(
    sql: Sql,
    { model, vector }: { readonly model: string; readonly vector: Float32Array },
    within: SemanticScope,
  ): Promise<SemanticFound | undefined> {
    const embedder = await sql.get<EmbedderRow>(
      `SELECT id, entry, dimensions, coalesce((SELECT max(id) FROM passages), 0) AS passage,
         coalesce((SELECT max(id) FROM vectors WHERE embedder = e.id), 0) AS vector FROM embedders e WHERE model = $1`,
      model,
    );
    if (embedder === undefined || embedder.vector === 0) return undefined;
    const missing = missingOf(within.entries, embedder.entry);
    if (this.hasPgvector) {
      return { hits: await nearestInDatabase(sql, embedder, { ...within, query: vector }), missing, notice: undefined };
    }
    const { table, isCut } = await this.#current(sql, embedder, within.entries);
    const notice = isCut
      ? `Only the newest ${this.#most} passages are searched by meaning: install pgvector in the database to search all.`
      : undefined;
    const likely = table.likely(vector, within);
    const hits = (await compare(sql, likely, { query: vector, dimensions: embedder.dimensions })).map((hit) => ({
      ...hit,
      passages: table.passagesOf(hit.entry),
    }));
    return { hits, missing, notice };
  }

  /** Reads what is new. */
  async #current(sql: Sql, embedder: EmbedderRow, entries: EntryStates): Promise<Known> {
    while (true) {
      await this.#reading?.catch(() => {});
      const known = this.#known;
      if (known !== undefined && known.embedder === embedder.id) {
        if (known.passage >= embedder.passage && known.vector >= embedder.vector) return known;
      } else {
        const table = new VectorTable(embedder.dimensions);
        this.#known = { embedder: embedder.id, table, passage: 0, vector: 0, isCut: false };
      }
      if (this.#reading !== undefined) continue;
      this.#reading = this.#read(sql, this.#known as Known, { embedder, entries }).finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
  }

  async #read(
    sql: Sql,
    known: Known,
    { embedder, entries }: { embedder: EmbedderRow; entries: EntryStates },
  ): Promise<void> {
    const columns = "SELECT p.id, p.entry, p.number, v.id AS vector, v.signs";
    // Old passages with new vectors, then new passages. Ids are in the order of commits.
    const parts = [
      `${columns} FROM vectors v JOIN passages p ON p.hash = v.hash
       WHERE v.embedder = $1 AND v.id > $2 AND v.id <= $3 AND p.id <= $4 AND p.id > $5 ORDER BY p.id LIMIT ${ROWS_AT_ONCE}`,
      `${columns} FROM passages p JOIN vectors v ON v.embedder = $1 AND v.hash = p.hash
       WHERE v.id > $2 AND v.id <= $3 AND p.id <= $4 AND p.id > $5 ORDER BY p.id LIMIT ${ROWS_AT_ONCE}`,
    ] as const;
    const { id, passage, vector } = embedder;
    const read = async (text: string, range: readonly number[]): Promise<void> => {
      let [, , , after = 0] = range;
      while (true) {
        const rows = await sql.rows<Parameters<VectorTable["add"]>[0]>(text, id, ...range.slice(0, 3), after);
        for (const row of rows) known.table.add(row);
        if (rows.length < ROWS_AT_ONCE) return;
        after = rows.at(-1)?.id ?? after;
      }
    };
    if (known.passage > 0) await read(parts[0], [known.vector, vector, known.passage, 0]);
    await read(parts[1], [0, vector, passage, known.passage]);
    known.isCut ||= known.table.size > this.#most;
    known.table.keep(entries.states, this.#most);
    known.passage = Math.max(known.passage, passage);
    known.vector = Math.max(known.vector, vector);
  }
}

/** Compares vectors exactly and returns the best passage of each entry, nearest first. */
async function compare(
  sql: Sql,
  likely: readonly LikelyPassage[],
  { query, dimensions }: { query: Float32Array; dimensions: number },
): Promise<Omit<SemanticHit, "passages">[]> {
  const rows = await sql.rows<{ id: number; vector: Uint8Array }>(
    "SELECT id, vector FROM vectors WHERE id = ANY($1::int[])",
    [...new Set(likely.map(({ vector }) => vector))],
  );
  const length = lengthOf(query);
  const similarities = new Map<number, number>();
  for (const { id, vector } of rows) {
    const numbers = numbersOf(vector, dimensions);
    if (numbers !== undefined) similarities.set(id, cosine(query, numbers, length));
  }
  const best = new Map<number, Omit<SemanticHit, "passages">>();
  for (const { entry, passage, vector } of likely) {
    const score = similarities.get(vector);
    if (score === undefined) continue;
    const known = best.get(entry);
    const isBetter = known === undefined || score > known.score || (score === known.score && passage < known.passage);
    if (isBetter) best.set(entry, { entry, score, passage });
  }
  return [...best.values()].sort((a, b) => b.score - a.score || a.entry - b.entry);
}

/** The nearest passages by the index, and those of entries that have the words; exact similarities for all. */
async function nearestInDatabase(
  sql: Sql,
  { id, dimensions }: EmbedderRow,
  { query, scope, also }: SemanticScope & { query: Float32Array },
): Promise<SemanticHit[]> {
  const asked = `[${[...query].join(",")}]`;
  const inScope: number[] = [];
  for (let entry = 0; entry < scope.length && inScope.length <= FEW_ENTRIES; entry++) {
    if (scope[entry] === 1) inScope.push(entry);
  }
  const isNarrow = inScope.length <= FEW_ENTRIES;
  const distance = `v.half::halfvec(${dimensions}) <=> $1::halfvec(${dimensions})`;
  if (!isNarrow) await sql.exec(`SET LOCAL hnsw.ef_search = ${NEAREST}`);
  const near = isNarrow
    ? await sql.rows<LikelyPassage>(
        `SELECT p.entry, p.id AS passage, v.id AS vector FROM unnest($2::int[]) AS e JOIN passages p ON p.entry = e
         JOIN vectors v ON v.embedder = $3 AND v.hash = p.hash ORDER BY ${distance} LIMIT ${NEAREST}`,
        ...[asked, inScope, id],
      )
    : await sql.rows<LikelyPassage>(
        `SELECT p.entry, p.id AS passage, n.id AS vector FROM (
           SELECT v.id, v.hash FROM vectors v WHERE v.embedder = ${id} ORDER BY ${distance} LIMIT ${NEAREST}) n
         JOIN passages p ON p.hash = n.hash`,
        asked,
      );
  const own = await sql.rows<LikelyPassage>(
    `SELECT p.entry, p.id AS passage, v.id AS vector FROM passages p JOIN vectors v ON v.embedder = $1 AND v.hash = p.hash
     WHERE p.entry = ANY($2::int[])`,
    id,
    also,
  );
  const likely = [...near, ...own].filter(({ entry }) => scope[entry] === 1);
  const hits = await compare(sql, likely, { query, dimensions });
  const counts = await sql.rows<{ entry: number; passages: number }>(
    "SELECT entry, max(number) + 1 AS passages FROM passages WHERE entry = ANY($1::int[]) GROUP BY entry",
    hits.map(({ entry }) => entry),
  );
  const passages = new Map(counts.map((row) => [row.entry, row.passages]));
  return hits.map((hit) => ({ ...hit, passages: passages.get(hit.entry) ?? 1 }));
}

/** Counts the searchable documents with vectors; undefined if all have them. */
function missingOf({ states, searchable }: EntryStates, reached: number): SemanticFound["missing"] {
  let missing = 0;
  for (let entry = reached + 1; entry < states.length; entry++) missing += Number(states[entry] !== 0);
  return missing === 0 ? undefined : { embedded: searchable - missing, total: searchable };
}
