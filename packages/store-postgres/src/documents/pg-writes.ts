// The changes that adding documents makes, and the questions it asks, answered by the database.
import { TrunklineError } from "@trunkline/core";
import type { RpcOptions } from "@trunkline/core/threads";
import type { SnapshotInfo } from "@trunkline/store/contract";
import type {
  AddDocuments,
  AddedDocuments,
  AppendedUpload,
  DocumentQuestions,
  DocumentWrites,
  IncomingDocument,
  KnownContent,
  KnownFile,
  UploadPart,
} from "@trunkline/store/parts";
import { ensureCollection, hideDocuments, lockHistory, putDocuments } from "../contents/document-history.js";
import type { DocumentRow } from "../contents/named-documents.js";
import { hexOf, holdOffGc, storeChunks, storeContents } from "../contents/pg-contents.js";
import type { Database, Sql } from "../database/sql.js";
import { insertEntries, refreshEntries, type WordCounts } from "../search/entry-writes.js";
import type { CountedContent } from "../thread/postgres-thread.js";
import { takeSnapshot } from "./pg-changes.js";

type Count = WordCounts["count"];

/** Stores documents for the threads that read them. */
export class PostgresWrites implements DocumentWrites {
  readonly #database: Database;
  readonly #count: Count;

  constructor(database: Database, count: Count) {
    this.#database = database;
    this.#count = count;
  }

  async addDocuments(batch: AddDocuments, options: RpcOptions = {}): Promise<AddedDocuments> {
    const contents = batch.documents.map(({ content }) => content);
    // Contents before the lock on the history, which is then held only for a moment.
    return await this.#database.write({ signal: options.signal }, async (sql) => {
      // Statements that do not wait for each other are sent together.
      const [, stored] = await Promise.all([holdOffGc(sql), storeContents(sql, contents, batch.data)]);
      const [, collection, session] = await Promise.all([
        lockHistory(sql),
        ensureCollection(sql, batch.collection),
        liveSession(sql, batch.session),
      ]);
      const missing: number[] = [];
      let [added, changed] = [0, 0];
      const known = new Map<number, Uint8Array>();
      const present = batch.documents.flatMap((document, position) => {
        const content = stored.ids.get(document.content.hash);
        if (content === undefined) {
          missing.push(position);
          return [];
        }
        const { words } = document.content as CountedContent;
        if (words !== undefined) known.set(content, words);
        const { path, root, title, file } = document;
        const { size, type, hash } = document.content;
        return [{ path, root, title, file, content, size, type, hash: Buffer.from(hash, "hex") }];
      });
      for (const documents of withoutRepeats(present)) {
        const { tags, metadata } = batch;
        const put = await putDocuments(sql, { collection, tags, metadata, session, documents });
        added += put.outcomes.filter((outcome) => outcome === "added").length;
        changed += put.outcomes.filter((outcome) => outcome === "changed").length;
        const words = { known, count: this.#count };
        const contentOf = new Map(documents.map((document) => [document.path, document]));
        const fresh = put.added.flatMap(({ document, version, seq, put: { path, root = null, title = null } }) => {
          const own = contentOf.get(path);
          return own === undefined
            ? []
            : [{ ...own, document, version, seq, root, title, collection: batch.collection }];
        });
        const own = { tags: [...new Set(tags)], metadata: withoutNulls(metadata) };
        await insertEntries(sql, fresh, { words, attributesOf: () => own });
        await refreshEntries(sql, put.changed, words);
      }
      return { newBytes: stored.newBytes, added, changed, missing };
    });
  }

  async appendUpload(part: UploadPart, options: RpcOptions = {}): Promise<AppendedUpload> {
    return await this.#database.write({ signal: options.signal }, async (sql) => {
      await holdOffGc(sql);
      const upload = await touchUpload(sql, part.upload);
      const { ids, newBytes } = await storeChunks(sql, part.chunks, part.data);
      const missing = part.chunks.flatMap(({ hash }, offset) => (ids.has(hash) ? [] : [offset]));
      const there = part.chunks.flatMap(({ hash }, offset) => {
        const chunk = ids.get(hash);
        return chunk === undefined ? [] : [{ chunk, position: part.position + offset }];
      });
      await sql.run(
        `INSERT INTO upload_chunks SELECT $1, p, c FROM unnest($2::int[], $3::bigint[]) AS n(p, c)
         ON CONFLICT (upload, position) DO UPDATE SET chunk = excluded.chunk`,
        upload,
        there.map(({ position }) => position),
        there.map(({ chunk }) => chunk),
      );
      return { upload, newBytes, missing };
    });
  }

  async removeDocuments({
    ids,
    session,
  }: Parameters<DocumentWrites["removeDocuments"]>[0]): Promise<{ removed: number }> {
    return await this.#database.write({}, async (sql) => {
      await lockHistory(sql);
      const rows = await sql.rows<DocumentRow>(
        "SELECT * FROM documents WHERE id = ANY($1::bigint[]) AND state = 'live' ORDER BY id",
        ids,
      );
      await hideDocuments(sql, rows, { state: "removed", session });
      await refreshEntries(
        sql,
        rows.map(({ id }) => id),
        { known: new Map(), count: this.#count },
      );
      return { removed: rows.length };
    });
  }

  async rememberRoot({ collection, path }: { readonly collection: string; readonly path: string }): Promise<void> {
    await this.#database.write({}, async (sql) => {
      await sql.run(
        "INSERT INTO roots VALUES ($1, $2, $3) ON CONFLICT (collection, md5(path)) DO UPDATE SET added = excluded.added",
        ...[await ensureCollection(sql, collection), path, Date.now()],
      );
    });
  }

  async snapshot(params: Parameters<DocumentWrites["snapshot"]>[0]): Promise<SnapshotInfo> {
    return await this.#database.write({}, (sql) => takeSnapshot(sql, params));
  }
}

/** A value that is null removes a key, also from a document that has none. */
function withoutNulls(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null && value !== undefined));
}

/** Splits documents so that no part has a path twice. */
function withoutRepeats<D extends Pick<IncomingDocument, "path">>(documents: readonly D[]): D[][] {
  const parts: Map<string, D>[] = [];
  for (const document of documents) {
    const free = parts.find((part) => !part.has(document.path));
    if (free === undefined) parts.push(new Map([[document.path, document]]));
    else free.set(document.path, document);
  }
  return parts.map((part) => [...part.values()]);
}

async function touchUpload(sql: Sql, upload: number | undefined): Promise<number> {
  const now = Date.now();
  if (upload === undefined) {
    return (await sql.one<{ id: number }>("INSERT INTO uploads (touched) VALUES ($1) RETURNING id", now)).id;
  }
  if ((await sql.run("UPDATE uploads SET touched = $2 WHERE id = $1", upload, now)) > 0) return upload;
  throw new TrunklineError("NOT_FOUND", "The upload took too long and was discarded.");
}

/** Returns the session if it is open. Documents added after its end belong to no session. */
async function liveSession(sql: Sql, session: string | undefined): Promise<string | undefined> {
  if (session === undefined) return undefined;
  return (await sql.get<{ id: string }>("SELECT id FROM sessions WHERE id = $1 AND stopped IS NULL", session))?.id;
}

const CURRENT = `documents d JOIN collections k ON k.id = d.collection JOIN versions v ON v.id = d.version
  JOIN contents c ON c.id = v.content`;

/** Answers for the threads that read files. */
export function documentQuestions(database: Database): Omit<DocumentQuestions, "isStored"> {
  return {
    knownFiles: (collection, root) =>
      database.read({}, async (sql) => {
        const prefix = root.endsWith("/") ? root : `${root}/`;
        const rows = await sql.rows<KnownFile & { path: string }>(
          `SELECT d.path, d.id, c.size, v.mode, v.mtime, d.inode, d.checked FROM ${CURRENT}
           WHERE k.name = $1 AND d.state = 'live' AND left(d.path, 400) >= left($2, 400) AND starts_with(d.path, $2)`,
          collection,
          prefix,
        );
        return new Map(rows.map(({ path, ...file }) => [path, file]));
      }),
    knownContent: (document) =>
      database.read({}, async (sql) => {
        const { hash, type, title } = await sql.one<Omit<KnownContent, "hash"> & { hash: Uint8Array }>(
          `SELECT d.title, c.hash, c.type FROM ${CURRENT} WHERE d.id = $1`,
          document,
        );
        return { hash: hexOf(hash), type, title };
      }),
    versionAt: (collection, path) =>
      database.read({}, async (sql) => {
        const found = await sql.get<{ version: number }>(
          `SELECT d.version FROM ${CURRENT} WHERE k.name = $1 AND md5(d.path) = md5($2) AND d.path = $2 AND d.state = 'live'`,
          collection,
          path,
        );
        return found?.version;
      }),
    liveAt: (collection, path) =>
      database.read({}, (sql) =>
        sql.rows<{ id: number; path: string }>(
          `SELECT d.id, d.path FROM ${CURRENT} WHERE k.name = $1 AND d.state = 'live' AND (d.path = $2 OR starts_with(d.path, $2 || '/'))`,
          collection,
          path,
        ),
      ),
  };
}
