// The embedded store as a target for documents: questions go to a connection of this thread, changes to the writer.

import type { Call } from "@trunkline/core/threads";
import { hasChunk, hexOf } from "../engine/sqlite/contents.js";
import { collectionId } from "../engine/sqlite/documents.js";
import { addTo, type ResolvedAddParams } from "./add.js";
import type { DocumentMover } from "./change.js";
import type { DocumentTarget, KnownContent, KnownFile } from "./document-target.js";
import { downloadTo, type ResolvedDownloadParams } from "./download.js";

/** `add`. Runs in the mover, which reads, hashes, chunks and compresses; the writer only writes. */
export function add(env: DocumentMover, params: ResolvedAddParams, call: Call) {
  return addTo(targetOf(env), params, call);
}

export function download(env: DocumentMover, params: ResolvedDownloadParams, call: Call) {
  return downloadTo(targetOf(env), params, call);
}

export function targetOf({ truth, folder, writer }: DocumentMover): DocumentTarget {
  return {
    folder,
    writer,
    questions: {
      isStored: (hash) => hasChunk(truth, hash),
      knownFiles(name, root) {
        const collection = collectionId(truth, name);
        if (collection === undefined) return new Map();
        const prefix = root.endsWith("/") ? root : `${root}/`;
        const rows = truth.lists<[string, number, number, ...(number | null)[]]>(
          `SELECT d.path, d.id, c.size, v.mode, v.mtime, d.inode, d.checked
           FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content
           WHERE d.collection = ? AND d.path >= ? AND d.path < ? AND d.state = 'live'`,
          collection,
          prefix,
          `${prefix.slice(0, -1)}0`,
        );
        const known = new Map<string, KnownFile>();
        for (const [path, id, size, mode = null, mtime = null, inode = null, checked = null] of rows) {
          known.set(path, { id, size, mode, mtime, inode, checked });
        }
        return known;
      },
      knownContent(document) {
        const { hash, type, title } = truth.one<Omit<KnownContent, "hash"> & { hash: Uint8Array }>(
          `SELECT d.title, c.hash, c.type
           FROM documents d JOIN versions v ON v.id = d.version JOIN contents c ON c.id = v.content WHERE d.id = ?`,
          document,
        );
        return { hash: hexOf(hash), type, title };
      },
      versionAt: (collection, path) =>
        truth.get<{ version: number }>(
          `SELECT d.version FROM documents d JOIN collections k ON k.id = d.collection
           WHERE k.name = ? AND d.path = ? AND d.state = 'live'`,
          collection,
          path,
        )?.version,
      liveAt(collection, path) {
        const id = collectionId(truth, collection);
        if (id === undefined) return [];
        return truth.all<{ id: number; path: string }>(
          "SELECT id, path FROM documents WHERE collection = ? AND state = 'live' AND (path = ? OR (path >= ? AND path < ?))",
          id,
          path,
          `${path}/`,
          `${path}0`,
        );
      },
    },
  };
}
