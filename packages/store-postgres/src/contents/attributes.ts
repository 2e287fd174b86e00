// Tags and metadata of documents.
import type { Sql } from "../database/sql.js";

export interface Attributes {
  readonly tags: string[];
  readonly metadata: Record<string, unknown>;
}

/** Returns tags and metadata of many documents at once. */
export async function attributesOf(sql: Sql, documents: readonly number[]): Promise<Map<number, Attributes>> {
  const found = new Map(documents.map((id): [number, Attributes] => [id, { tags: [], metadata: {} }]));
  if (documents.length === 0) return found;
  const tags = await sql.rows<{ document: number; tag: string }>(
    "SELECT document, tag FROM document_tags WHERE document = ANY($1::bigint[]) ORDER BY document, tag",
    documents,
  );
  for (const { document, tag } of tags) found.get(document)?.tags.push(tag);
  const metadata = await sql.rows<{ document: number; key: string; value: string }>(
    "SELECT document, key, value FROM document_metadata WHERE document = ANY($1::bigint[]) ORDER BY document, key",
    documents,
  );
  for (const { document, key, value } of metadata) {
    const own = found.get(document);
    if (own !== undefined) own.metadata[key] = JSON.parse(value) as unknown;
  }
  return found;
}

export async function addTags(sql: Sql, documents: readonly number[], tags: readonly string[]): Promise<void> {
  if (documents.length === 0 || tags.length === 0) return;
  await sql.run(
    "INSERT INTO document_tags SELECT d, t FROM unnest($1::bigint[]) d CROSS JOIN unnest($2::text[]) t ON CONFLICT DO NOTHING",
    documents,
    tags.map(storable),
  );
}

/** PostgreSQL has no text with NUL. */
export function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

export async function removeTags(sql: Sql, documents: readonly number[], tags: readonly string[]): Promise<void> {
  if (tags.length === 0) return;
  await sql.run(
    "DELETE FROM document_tags WHERE document = ANY($1::bigint[]) AND tag = ANY($2::text[])",
    documents,
    tags,
  );
}

/** Adds or replaces keys; `null` removes one. */
export async function setMetadata(
  sql: Sql,
  documents: readonly number[],
  metadata: Readonly<Record<string, unknown>>,
): Promise<void> {
  const all = Object.entries(metadata);
  const isSet = (value: unknown) => value !== null && value !== undefined;
  const removed = all.filter(([, value]) => !isSet(value)).map(([key]) => storable(key));
  if (removed.length > 0) {
    const text = "DELETE FROM document_metadata WHERE document = ANY($1::bigint[]) AND key = ANY($2::text[])";
    await sql.run(text, documents, removed);
  }
  const set = all.filter(([, value]) => isSet(value));
  if (set.length === 0 || documents.length === 0) return;
  await sql.run(
    `INSERT INTO document_metadata SELECT d, m.key, m.value FROM unnest($1::bigint[]) d
     CROSS JOIN unnest($2::text[], $3::text[]) AS m(key, value)
     ON CONFLICT (document, key) DO UPDATE SET value = excluded.value`,
    documents,
    set.map(([key]) => storable(key)),
    set.map(([, value]) => JSON.stringify(value)),
  );
}
