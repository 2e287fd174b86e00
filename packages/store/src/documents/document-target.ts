// What adding documents needs from an engine. The embedded store and the one on PostgreSQL read, hash, chunk and batch
// files with the same code; each engine answers the few questions here and stores what it is given.

import type { RpcOptions } from "@trunkline/core/threads";
import type { SnapshotInfo } from "../contract/index.js";
import type { ContentType } from "../engine/content/text.js";
import type { PackedChunk } from "../engine/writing/incoming.js";
import type { AddDocuments, AddedDocuments } from "../engine/writing/store-content.js";

/** The facts that show whether a file has changed since it was added. */
export interface KnownFile {
  readonly id: number;
  readonly size: number;
  readonly mode: number | null;
  readonly mtime: number | null;
  readonly inode: number | null;
  readonly checked: number | null;
}

/** The content that a document has now. */
export interface KnownContent {
  readonly hash: string;
  readonly type: ContentType;
  readonly title: string | null;
}

type Answer<T> = T | Promise<T>;

/** Questions about documents that are stored already. Collections have their stored names. */
export interface DocumentQuestions {
  /** Whether a chunk is stored. May answer no for one that is: it is then sent and found there. */
  isStored(hash: string): boolean;
  /** The live documents below a folder, by path. */
  knownFiles(collection: string, root: string): Answer<Map<string, KnownFile>>;
  knownContent(document: number): Answer<KnownContent>;
  /** The id of the current version of a live document. */
  versionAt(collection: string, path: string): Answer<number | undefined>;
  /** Live documents at a path, or below it if it was a folder. */
  liveAt(collection: string, path: string): Answer<readonly { readonly id: number; readonly path: string }[]>;
}

/** The changes that adding documents makes. Each resolves when it is durable and searchable. */
export interface DocumentWrites {
  addDocuments(batch: AddDocuments, options?: RpcOptions): Promise<AddedDocuments>;
  appendUpload(part: UploadPart, options?: RpcOptions): Promise<AppendedUpload>;
  removeDocuments(params: { readonly ids: readonly number[]; readonly session?: string }): Promise<{ removed: number }>;
  rememberRoot(params: { readonly collection: string; readonly path: string }): Promise<void>;
  snapshot(params: {
    readonly collection?: string;
    readonly label?: string;
    readonly create?: boolean;
  }): Promise<SnapshotInfo>;
}

/** Part of a content that is too large for one transaction. */
export interface UploadPart {
  readonly upload: number | undefined;
  readonly position: number;
  readonly chunks: readonly PackedChunk[];
  readonly data: ArrayBuffer;
}

/** `missing` has the positions of chunks that were not sent and are not stored. */
export interface AppendedUpload {
  readonly upload: number;
  readonly newBytes: number;
  readonly missing: readonly number[];
}

export interface DocumentTarget {
  /** The store's own folder, which is never added to itself; it also holds unfinished downloads. */
  readonly folder: string;
  readonly questions: DocumentQuestions;
  readonly writer: DocumentWrites;
}
