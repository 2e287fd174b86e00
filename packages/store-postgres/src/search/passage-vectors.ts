// Search by meaning. Vectors are compared exactly in the gateway, which keeps them in memory up to a stated number. With
// pgvector in the database, an HNSW index finds candidates instead, without a limit.
import type { SemanticHit } from "@trunkline/store/parts";
import type { Sql } from "../database/sql.js";

/** Vectors that a gateway keeps in memory: 150 MB with 384 dimensions. */
export const MOST_VECTORS = 100_000;

interface EmbedderRow {
  readonly id: number;
  readonly entry: number;
  readonly dimensions: number;
}

export interface SemanticFound {
  readonly hits: readonly SemanticHit[];
  readonly missing: { embedded: number; total: number } | undefined;
  readonly notice: string | undefined;
}

/** The nearest candidates of an index are compared exactly afterwards. */
const CANDIDATES = 1000;

export class PassageVectors {
  /** By vector row: its numbers. */
  #vectors = new Map<number, { readonly hash: string; readonly numbers: Float32Array }>();
  #embedder = 0;
  #last = 0;
  /** Whether pgvector is installed. Set when the store is opened. */
  hasPgvector = false;

  /** Returns entries in the scope, nearest first; `undefined` if the model has no vectors here. */
  async nearest(
    sql: Sql,
    { model, vector }: { readonly model: string; readonly vector: Float32Array },
    { scope, also }: { scope: Uint8Array; also: readonly number[] },
  ): Promise<SemanticFound | undefined> {
    const embedder = await sql.get<EmbedderRow>("SELECT id, entry, dimensions FROM embedders WHERE model = $1", model);
    if (embedder === undefined) return undefined;
    const { count } = await sql.one<{ count: number }>(
      "SELECT count(*) AS count FROM vectors WHERE embedder = $1",
      embedder.id,
    );
    if (count === 0) return undefined;
    const similarities = this.hasPgvector
      ? await this.#candidates(sql, embedder, { vector, also })
      : await this.#compareAll(sql, embedder, vector);
    const notice =
      !this.hasPgvector && count > MOST_VECTORS
        ? `Only the newest ${MOST_VECTORS} of ${count} passages are searched by meaning: install pgvector in the database to search all.`
        : undefined;
    return { hits: await hitsOf(sql, similarities, scope), missing: await missingOf(sql, embedder.entry), notice };
  }

  async #compareAll(sql: Sql, { id }: EmbedderRow, vector: Float32Array): Promise<Map<string, number>> {
    if (this.#embedder !== id) {
      this.#embedder = id;
      this.#vectors.clear();
      this.#last = 0;
    }
    const rows = await sql.rows<{ id: number; hash: string; vector: Uint8Array }>(
      `SELECT * FROM (SELECT id, encode(hash, 'hex') AS hash, vector FROM vectors WHERE embedder = $1 AND id > $2
       ORDER BY id DESC LIMIT ${MOST_VECTORS}) newest ORDER BY id`,
      id,
      this.#last,
    );
    for (const row of rows) {
      this.#vectors.set(row.id, { hash: row.hash, numbers: floatsOf(row.vector) });
      this.#last = row.id;
    }
    for (const oldest of this.#vectors.keys()) {
      if (this.#vectors.size <= MOST_VECTORS) break;
      this.#vectors.delete(oldest);
    }
    return new Map([...this.#vectors.values()].map(({ hash, numbers }) => [hash, cosine(numbers, vector)]));
  }

  /** The nearest passages by the index, and those of entries that have the words; exact similarities for all. */
  async #candidates(
    sql: Sql,
    { id, dimensions }: EmbedderRow,
    { vector, also }: { vector: Float32Array; also: readonly number[] },
  ): Promise<Map<string, number>> {
    const asked = `[${[...vector].join(",")}]`;
    await sql.exec("SET LOCAL hnsw.ef_search = 400");
    const near = await sql.rows<{ hash: string; vector: Uint8Array }>(
      `SELECT encode(hash, 'hex') AS hash, vector FROM vectors WHERE embedder = ${id}
       ORDER BY half::halfvec(${dimensions}) <=> $1::halfvec(${dimensions}) LIMIT ${CANDIDATES}`,
      asked,
    );
    const own = await sql.rows<{ hash: string; vector: Uint8Array }>(
      `SELECT DISTINCT ON (v.id) encode(v.hash, 'hex') AS hash, v.vector FROM passages p JOIN vectors v ON v.hash = p.hash
       WHERE v.embedder = $1 AND p.entry = ANY($2::int[])`,
      id,
      also,
    );
    return new Map([...near, ...own].map(({ hash, vector: bytes }) => [hash, cosine(floatsOf(bytes), vector)]));
  }
}

/** Floats in the byte order of the machine that wrote them: little-endian on every platform of Node. */
function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, left, right] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at] as number, b[at] as number];
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right);
}

const MOST_HITS = 2000;

/** Returns the best passage of each entry in the scope, best first. */
async function hitsOf(sql: Sql, similarities: ReadonlyMap<string, number>, scope: Uint8Array): Promise<SemanticHit[]> {
  const best = [...similarities].sort((a, b) => b[1] - a[1]).slice(0, 4 * MOST_HITS);
  const rows = await sql.rows<{ id: number; entry: number; hash: string; passages: number }>(
    `SELECT p.id, p.entry, h AS hash, (SELECT count(*) FROM passages o WHERE o.entry = p.entry) AS passages
     FROM unnest($1::text[]) h JOIN passages p ON p.hash = decode(h, 'hex')`,
    best.map(([hash]) => hash),
  );
  const hits = new Map<number, SemanticHit>();
  for (const { id, entry, hash, passages } of rows) {
    if (scope[entry] !== 1) continue;
    const score = similarities.get(hash) ?? 0;
    const known = hits.get(entry);
    if (known === undefined || score > known.score) hits.set(entry, { entry, score, passage: id, passages });
  }
  return [...hits.values()].sort((a, b) => b.score - a.score || a.entry - b.entry);
}

/** Counts the searchable documents with vectors; undefined if all have them. */
async function missingOf(sql: Sql, reached: number): Promise<{ embedded: number; total: number } | undefined> {
  const { total, embedded } = await sql.one<{ total: number; embedded: number }>(
    "SELECT count(*) AS total, count(*) FILTER (WHERE id <= $1) AS embedded FROM entries WHERE state <> 0",
    reached,
  );
  return embedded === total ? undefined : { embedded, total };
}
