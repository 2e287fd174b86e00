import { type FileLimits, TrunklineError } from "@trunkline/core";
import type { Call } from "@trunkline/core/threads";
import type { GetParams, GetResult, VersionInfo } from "../contract/index.js";
import { wholeNumber } from "../contract/params.js";
import {
  type ContentRow,
  hexOf,
  readChunks,
  readContent,
  readRange,
  resolveContent,
} from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import { type DocumentRow, metadataOf, tagsOf, type VersionRow } from "../engine/sqlite/documents.js";
import { requireCollection } from "../engine/sqlite/filters.js";
import { documentsNamed, oneDocument } from "../engine/sqlite/find-document.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import { relatedTo } from "../graph/graph-query.js";
import { findSymbol, symbolSource } from "../graph/symbol.js";
import { neededBytes, partOf, requireWhole } from "./get-parts.js";
import { writeOutput } from "./write-output.js";

/** Parameters of `get`, plus the path resolved to an absolute one. */
interface ResolvedGetParams extends GetParams {
  readonly absolute?: string;
  readonly limits?: FileLimits;
}

/** `get`: returns a document's fields and versions, and all or part of its content. */
export async function getDocument(env: ReadEnvironment, params: ResolvedGetParams, call: Call): Promise<GetResult> {
  if (params.symbol === undefined) return getPart(env, params, call);
  if (params.lines !== undefined || params.bytes !== undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", "symbol cannot be combined with lines or bytes.");
  }
  const { truth } = env;
  const { source, hash, version } = truth.reading(() => {
    const located = locate(truth, params);
    const source = symbolSource(truth, { content: located.content, path: located.document?.path }, call);
    return { source, hash: hexOf(located.content.hash), version: located.version?.number };
  });
  const symbol = await findSymbol(source, params.symbol);
  const lines = `${symbol.startLine}-${symbol.endLine}`;
  // The lines belong to this version, even if a newer one has arrived since.
  const result = getPart(
    env,
    { ...params, version: params.hash === undefined ? version : params.version, lines },
    call,
  );
  if (result.hash !== hash) return await getDocument(env, params, call);
  const { key, kind, name, signature } = symbol;
  return { ...result, symbol: { key, type: kind, name, ...(signature === undefined ? {} : { signature }) } };
}

function getPart(env: ReadEnvironment, params: ResolvedGetParams, call: Call): GetResult {
  const { truth } = env;
  const depth = wholeNumber(params.depth, { name: "depth", from: 1, to: 5 }) ?? 2;
  return truth.reading(() => {
    const { document, content, version } = locate(truth, params);
    requireWhole(params);
    const needed = neededBytes(params, content);
    const read = needed === undefined ? undefined : readPart(truth, content, needed, call);
    const contentPart = read === undefined ? {} : partOf(read, params, content.type);
    const output =
      params.outputPath === undefined
        ? {}
        : {
            outputPath: writeOutput(() => readChunks(truth, content, call.check), {
              path: params.outputPath,
              limits: params.limits,
            }),
          };
    if (document === undefined) {
      return { ...contentFields(content), versions: [], ...contentPart, ...output };
    }
    const { collection } = truth.one<{ collection: string }>(
      "SELECT name AS collection FROM collections WHERE id = ?",
      document.collection,
    );
    const others = otherPaths(truth, content.id, document.id);
    return {
      path: document.path,
      ...contentFields(content),
      ...(document.title === null ? {} : { title: document.title }),
      collection,
      tags: tagsOf(truth, document.id),
      metadata: metadataOf(truth, document.id),
      created: new Date(document.created).toISOString(),
      modified: new Date(document.modified).toISOString(),
      indexed: new Date(document.indexed).toISOString(),
      version: version?.number ?? 1,
      versions: versionsOf(truth, document.id),
      ...(others.length === 0 ? {} : { sameContent: others }),
      ...(document.state === "live" ? {} : { state: document.state }),
      ...contentPart,
      ...output,
      ...(params.graph && document.state === "live"
        ? { related: relatedTo({ truth, index: env.graph }, { path: document.path, collection, depth }, call) }
        : {}),
    };
  });
}

function readPart(truth: Db, content: ContentRow, range: { start: number; end: number }, call: Call): Uint8Array {
  return range.start === 0 && range.end === content.size
    ? readContent(truth, content, call.check)
    : readRange(truth, content, range);
}

interface Located {
  readonly document: DocumentRow | undefined;
  readonly content: ContentRow;
  readonly version: VersionRow | undefined;
}

function locate(truth: Db, params: ResolvedGetParams): Located {
  const name = params.path;
  if ((params.hash === undefined) === (name === undefined)) {
    throw new TrunklineError("INVALID_ARGUMENT", "get needs a hash or a path.", { hint: "Use one of them." });
  }
  wholeNumber(params.version, { name: "version", from: 1 });
  if (name !== undefined) return atVersion(truth, findByName(truth, name, params), params.version);
  const content = resolveContent(truth, params.hash as string);
  const document = documentWith(truth, content.id, params.collection);
  if (document === undefined) return { document, content, version: undefined };
  if (params.version !== undefined) return atVersion(truth, document, params.version);
  const version = truth.get<VersionRow>(
    "SELECT * FROM versions WHERE document = ? AND content = ? ORDER BY seq_from DESC LIMIT 1",
    document.id,
    content.id,
  );
  return { document, content, version };
}

/** Finds a live document with this name, otherwise a removed one, whose content is still available. */
function findByName(truth: Db, name: string, { collection, absolute }: ResolvedGetParams): DocumentRow {
  const [gone] =
    documentsNamed(truth, name, { collection, absolute }).length > 0
      ? []
      : documentsNamed(truth, name, { collection, absolute, states: ["removed", "trash"] });
  return gone ?? oneDocument(truth, name, { collection, absolute });
}

function atVersion(truth: Db, document: DocumentRow, number: number | undefined): Located {
  const version =
    number === undefined
      ? truth.get<VersionRow>("SELECT * FROM versions WHERE id = ?", document.version)
      : truth.get<VersionRow>(
          "SELECT * FROM versions WHERE document = ? AND number = ? ORDER BY seq_from DESC LIMIT 1",
          document.id,
          number,
        );
  if (version === undefined) {
    const count = versionsOf(truth, document.id).length;
    throw new TrunklineError("NOT_FOUND", `${document.path} has no version ${number}.`, {
      hint: `It has ${count === 1 ? "one version" : `versions up to ${count}`}.`,
    });
  }
  const content = truth.one<ContentRow>("SELECT id, hash, size, type FROM contents WHERE id = ?", version.content);
  return { document, content, version };
}

/** Finds the document that has this content now or had it last; the newest if there are several. */
function documentWith(truth: Db, content: number, collection: string | undefined): DocumentRow | undefined {
  const id = collection === undefined ? null : requireCollection(truth, collection);
  return truth.get<DocumentRow>(
    `SELECT d.* FROM versions v JOIN documents d ON d.id = v.document WHERE v.content = ? AND (? IS NULL OR d.collection = ?)
     ORDER BY d.state = 'live' DESC, d.version = v.id DESC, v.seq_from DESC LIMIT 1`,
    content,
    id,
    id,
  );
}

function otherPaths(truth: Db, content: number, document: number): string[] {
  return truth
    .all<{ path: string }>(
      `SELECT d.path FROM documents d JOIN versions v ON v.id = d.version
       WHERE v.content = ? AND d.state = 'live' AND d.id <> ? ORDER BY d.path LIMIT 100`,
      content,
      document,
    )
    .map((row) => row.path);
}

function contentFields(content: ContentRow): Pick<GetResult, "hash" | "size" | "type"> {
  return { hash: hexOf(content.hash), size: content.size, type: content.type };
}

function versionsOf(truth: Db, document: number): VersionInfo[] {
  // Several rows can share a number if the content came back, or if only the mode or time changed.
  const rows = truth.all<{ number: number; hash: Uint8Array; size: number; added: number }>(
    `SELECT v.number, c.hash, c.size, min(v.added) AS added FROM versions v JOIN contents c ON c.id = v.content
     WHERE v.document = ? GROUP BY v.number ORDER BY v.number`,
    document,
  );
  return rows.map((row) => ({
    version: row.number,
    hash: hexOf(row.hash),
    size: row.size,
    added: new Date(row.added).toISOString(),
  }));
}
