// `get`: returns a document's fields and versions, and all or part of its content.
import { type FileLimits, TrunklineError } from "@trunkline/core";
import type { GetParams, GetResult, RelatedDocuments, VersionInfo } from "@trunkline/store/contract";
import {
  decodeText,
  findSymbol,
  neededBytes,
  partOf,
  requireWhole,
  wholeNumber,
  writeOutput,
} from "@trunkline/store/parts";
import { attributesOf } from "../contents/attributes.js";
import { type DocumentRow, documentsNamed, oneDocument } from "../contents/named-documents.js";
import { type ContentRow, contentById, hexOf, readContent, resolveContent } from "../contents/pg-contents.js";
import { requireCollection } from "../contents/pg-filters.js";
import type { Sql } from "../database/sql.js";

interface ResolvedGetParams extends GetParams {
  readonly absolute?: string;
  readonly limits?: FileLimits;
}

/** Finds what a document is related to. */
type FindRelated = (
  sql: Sql,
  document: { readonly path: string; readonly collection: string; readonly depth: number },
) => Promise<RelatedDocuments>;

interface VersionRow {
  readonly id: number;
  readonly number: number;
  readonly content: number;
}

export async function getDocument(sql: Sql, params: ResolvedGetParams, related: FindRelated): Promise<GetResult> {
  const depth = wholeNumber(params.depth, { name: "depth", from: 1, to: 5 }) ?? 2;
  const located = await locate(sql, params);
  const { document, content, version } = located;
  const symbol = params.symbol === undefined ? undefined : await symbolIn(sql, located, params);
  const wanted: GetParams =
    symbol === undefined ? params : { ...params, lines: `${symbol.startLine}-${symbol.endLine}` };
  requireWhole(wanted);
  const needed = neededBytes(wanted, content);
  const part = needed === undefined ? {} : partOf(await readContent(sql, content, needed), wanted, content.type);
  const output = await outputOf(sql, content, params);
  const shownSymbol =
    symbol === undefined
      ? {}
      : {
          symbol: {
            key: symbol.key,
            type: symbol.kind,
            name: symbol.name,
            ...(symbol.signature === undefined ? {} : { signature: symbol.signature }),
          },
        };
  const fields = { hash: hexOf(content.hash), size: content.size, type: content.type };
  if (document === undefined) return { ...fields, versions: [], ...part, ...output, ...shownSymbol };
  const { collection } = await sql.one<{ collection: string }>(
    "SELECT name AS collection FROM seen_collections WHERE id = $1",
    document.collection,
  );
  const own = (await attributesOf(sql, [document.id])).get(document.id);
  const others = await otherPaths(sql, content.id, document.id);
  const isLive = document.state === "live";
  return {
    path: document.path,
    ...fields,
    ...(document.title === null ? {} : { title: document.title }),
    collection,
    tags: own?.tags ?? [],
    metadata: own?.metadata ?? {},
    created: new Date(document.created).toISOString(),
    modified: new Date(document.modified).toISOString(),
    indexed: new Date(document.indexed).toISOString(),
    version: version?.number ?? 1,
    versions: await versionsOf(sql, document.id),
    ...(others.length === 0 ? {} : { sameContent: others }),
    ...(isLive ? {} : { state: document.state as "removed" | "trash" }),
    ...part,
    ...output,
    ...shownSymbol,
    ...(params.graph && isLive ? { related: await related(sql, { path: document.path, collection, depth }) } : {}),
  };
}

interface Located {
  readonly document: DocumentRow | undefined;
  readonly content: ContentRow;
  readonly version: VersionRow | undefined;
}

async function symbolIn(sql: Sql, { document, content }: Located, params: ResolvedGetParams) {
  if (params.lines !== undefined || params.bytes !== undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "symbol cannot be combined with lines or bytes.");
  }
  if (content.type === "binary") throw new TrunklineError("INVALID_ARGUMENT", "Binary content has no symbols.");
  const text = decodeText(await readContent(sql, content));
  return await findSymbol({ path: document?.path ?? "content", text }, params.symbol ?? "");
}

async function outputOf(sql: Sql, content: ContentRow, params: ResolvedGetParams): Promise<{ outputPath?: string }> {
  if (params.outputPath === undefined) return {};
  const bytes = await readContent(sql, content);
  return { outputPath: writeOutput(() => [bytes], { path: params.outputPath, limits: params.limits }) };
}

async function locate(sql: Sql, params: ResolvedGetParams): Promise<Located> {
  const name = params.path;
  if ((params.hash === undefined) === (name === undefined)) {
    throw new TrunklineError("INVALID_ARGUMENT", "get needs a hash or a path.", { hint: "Use one of them." });
  }
  wholeNumber(params.version, { name: "version", from: 1 });
  if (name !== undefined) return await atVersion(sql, await findByName(sql, name, params), params.version);
  const content = await resolveContent(sql, params.hash as string);
  const document = await documentWith(sql, content.id, params.collection);
  if (document === undefined) return { document, content, version: undefined };
  if (params.version !== undefined) return await atVersion(sql, document, params.version);
  const version = await sql.get<VersionRow>(
    "SELECT * FROM versions WHERE document = $1 AND content = $2 ORDER BY seq_from DESC LIMIT 1",
    document.id,
    content.id,
  );
  return { document, content, version };
}

/** Finds a live document with this name, otherwise a removed one, whose content is still available. */
async function findByName(sql: Sql, name: string, { collection, absolute }: ResolvedGetParams): Promise<DocumentRow> {
  const live = await documentsNamed(sql, name, { collection, absolute });
  const [gone] =
    live.length > 0 ? [] : await documentsNamed(sql, name, { collection, absolute, states: ["removed", "trash"] });
  return gone ?? (await oneDocument(sql, name, { collection, absolute }));
}

async function atVersion(sql: Sql, document: DocumentRow, number: number | undefined): Promise<Located> {
  const version =
    number === undefined
      ? await sql.get<VersionRow>("SELECT * FROM versions WHERE id = $1", document.version)
      : await sql.get<VersionRow>(
          "SELECT * FROM versions WHERE document = $1 AND number = $2 ORDER BY seq_from DESC LIMIT 1",
          document.id,
          number,
        );
  if (version === undefined) {
    const count = (await versionsOf(sql, document.id)).length;
    throw new TrunklineError("NOT_FOUND", `${document.path} has no version ${number}.`, {
      hint: `It has ${count === 1 ? "one version" : `versions up to ${count}`}.`,
    });
  }
  return { document, content: await contentById(sql, version.content), version };
}

/** Finds the document that has this content now or had it last; the newest if there are several. */
async function documentWith(
  sql: Sql,
  content: number,
  collection: string | undefined,
): Promise<DocumentRow | undefined> {
  const id = collection === undefined ? null : await requireCollection(sql, collection);
  return await sql.get<DocumentRow>(
    `SELECT d.* FROM versions v JOIN seen_documents d ON d.id = v.document
     WHERE v.content = $1 AND ($2::int IS NULL OR d.collection = $2::int)
     ORDER BY (d.state = 'live') DESC, (d.version = v.id) DESC, v.seq_from DESC LIMIT 1`,
    content,
    id,
  );
}

async function otherPaths(sql: Sql, content: number, document: number): Promise<string[]> {
  const rows = await sql.rows<{ path: string }>(
    `SELECT d.path FROM seen_documents d JOIN versions v ON v.id = d.version
     WHERE v.content = $1 AND d.state = 'live' AND d.id <> $2 ORDER BY d.path LIMIT 100`,
    content,
    document,
  );
  return rows.map((row) => row.path);
}

async function versionsOf(sql: Sql, document: number): Promise<VersionInfo[]> {
  // Several rows can share a number if the content came back, or if only the mode or time changed.
  const rows = await sql.rows<{ number: number; hash: Uint8Array; size: number; added: number }>(
    `SELECT DISTINCT ON (v.number) v.number, c.hash, c.size, min(v.added) OVER (PARTITION BY v.number) AS added
     FROM versions v JOIN contents c ON c.id = v.content WHERE v.document = $1 ORDER BY v.number, v.id`,
    document,
  );
  return rows.map((row) => ({
    version: row.number,
    hash: hexOf(row.hash),
    size: row.size,
    added: new Date(row.added).toISOString(),
  }));
}
