// The shapes of the contract: parameters as operations pass them through (snake_case), results as answers carry them.
import type { ToolProgress } from "@trunkline/core";
import type { GrepParams as PatternParams } from "./grep/index.js";

/** What every call may be given. */
export interface StoreCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Who is asking: each client has its own current session. Default: one client. */
  readonly client?: string | undefined;
  /** Folders that `get` may write to with `outputPath`. Default: none. */
  readonly allowWrite?: readonly string[] | undefined;
  /** Hears of what `watch` has taken up. */
  readonly onChanges?: ((changes: readonly WatchedChange[]) => void) | undefined;
  /** Lets `download` reach private, loopback and link-local addresses. Default: no. */
  readonly allowPrivateAddresses?: boolean | undefined;
}

/** Narrows search, grep and list alike. */
export interface FilterParams {
  readonly collection?: string | undefined;
  /** Id or label: the documents as they were then. */
  readonly snapshot?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** All of `tags` have to be there, not only one. */
  readonly match_all_tags?: boolean | undefined;
  readonly metadata?: MetadataParam | undefined;
  /** `true`: the client's current session. */
  readonly session?: boolean | string | undefined;
}

/** Metadata as an object, or as `key=value`. */
export type MetadataParam = Readonly<Record<string, unknown>> | readonly string[];

/** One document in an answer. */
export interface DocumentInfo {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
  readonly collection: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created: string;
  readonly modified: string;
  readonly indexed: string;
  readonly type: "text" | "binary";
}

export interface AddParams {
  readonly path?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly content?: string | Uint8Array | undefined;
  readonly name?: string | undefined;
  /** Default true for a folder. */
  readonly recursive?: boolean | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly collection?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: MetadataParam | undefined;
  readonly snapshot_label?: string | undefined;
}

/** A file that could not be taken. */
export interface FileProblem {
  readonly path: string;
  readonly message: string;
}

export interface AddResult {
  /** `null` where more than one file was added. */
  readonly hash: string | null;
  readonly path: string;
  readonly size: number;
  readonly new_bytes: number;
  /** Files that were taken: new ones and those whose content changed. */
  readonly files: number;
  /** Files left alone: unchanged ones and those that could not be read. */
  readonly skipped: number;
  /** Documents whose files are gone from the folder. */
  readonly removed?: number;
  readonly snapshot_id?: string;
  readonly problems?: readonly FileProblem[];
}

export interface ListParams extends FilterParams {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly sort_by?: "name" | "size" | "created" | "modified" | "indexed" | undefined;
  readonly sort_order?: "asc" | "desc" | undefined;
  /** Only the so many documents that were indexed last. */
  readonly recent?: number | undefined;
  readonly type?: "text" | "binary" | undefined;
  readonly extension?: string | undefined;
  readonly pattern?: string | undefined;
  readonly paths_only?: boolean | undefined;
  readonly cursor?: string | undefined;
}

export type ListResult =
  | { readonly documents: readonly DocumentInfo[]; readonly total: number; readonly cursor?: string }
  | { readonly paths: readonly string[]; readonly total: number; readonly cursor?: string };

export interface GetParams {
  readonly hash?: string | undefined;
  readonly path?: string | undefined;
  readonly name?: string | undefined;
  readonly outputPath?: string | undefined;
  readonly graph?: boolean | undefined;
  readonly depth?: number | undefined;
  readonly include_content?: boolean | undefined;
  /** `10-40`, `10`, `10-`: line numbers begin at 1, both ends are included. */
  readonly lines?: string | undefined;
  /** `0-1023`, `512-`: offsets begin at 0, both ends are included. */
  readonly bytes?: string | undefined;
  readonly symbol?: string | undefined;
  readonly version?: number | undefined;
  readonly collection?: string | undefined;
}

export interface GraphParams {
  readonly hash?: string | undefined;
  /** A whole path, the end of one or a base name; where no document has it, what is defined under that name. */
  readonly name?: string | undefined;
  readonly node_key?: string | undefined;
  readonly list_types?: boolean | undefined;
  readonly list_type?: string | undefined;
  readonly relation?: string | undefined;
  readonly depth?: number | undefined;
  readonly limit?: number | undefined;
  readonly reverse?: boolean | undefined;
  readonly format?: "json" | "mermaid" | undefined;
  readonly collection?: string | undefined;
}

/** A node without its place in an answer. */
export interface GraphNodeInfo {
  readonly key: string;
  readonly type: string;
  readonly name: string;
  readonly path?: string;
  readonly hash?: string;
}

export interface GraphEdgeInfo {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
  readonly line?: number;
  /** False where the target is known by its name only. */
  readonly resolved?: false;
}

/** `nodes` leaves the origin out and is sorted by distance. */
export interface RelatedDocuments {
  readonly nodes: readonly (GraphNodeInfo & { readonly distance: number })[];
  readonly edges: readonly GraphEdgeInfo[];
  /** There are more nodes than the limit. */
  readonly truncated?: boolean;
  /** What is not in the graph yet. */
  readonly notice?: string;
}

export type GraphResult =
  | (RelatedDocuments & { readonly origin: GraphNodeInfo })
  | {
      readonly origin: GraphNodeInfo;
      readonly mermaid: string;
      readonly truncated?: boolean;
      readonly notice?: string;
    }
  | { readonly types: readonly { readonly type: string; readonly count: number }[]; readonly notice?: string }
  | {
      readonly type: string;
      readonly nodes: readonly GraphNodeInfo[];
      readonly total: number;
      readonly truncated?: boolean;
      readonly notice?: string;
    };

export interface VersionInfo {
  readonly version: number;
  readonly hash: string;
  readonly size: number;
  readonly added: string;
}

export interface GetResult extends Partial<Omit<DocumentInfo, "hash" | "size" | "type">> {
  readonly hash: string;
  readonly size: number;
  readonly type: "text" | "binary";
  readonly title?: string;
  readonly version?: number;
  readonly versions: readonly VersionInfo[];
  /** Other documents with the same content. */
  readonly same_content?: readonly string[];
  /** The document is in the trash, or its file is gone. */
  readonly state?: "removed" | "trash";
  readonly content?: string;
  readonly encoding?: "utf-8" | "base64";
  readonly lines?: { readonly from: number; readonly to: number; readonly total: number };
  readonly bytes?: { readonly from: number; readonly to: number };
  readonly output_path?: string;
  /** The definition that was asked for; `lines` says where it is. */
  readonly symbol?: { readonly key: string; readonly type: string; readonly name: string; readonly signature?: string };
  readonly related?: RelatedDocuments;
}

export interface UpdateParams {
  readonly hash?: string | undefined;
  readonly name?: string | undefined;
  readonly pattern?: string | undefined;
  readonly metadata?: MetadataParam | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly remove_tags?: readonly string[] | undefined;
  readonly collection?: string | undefined;
}

export interface DeleteParams {
  readonly name?: string | undefined;
  readonly names?: readonly string[] | undefined;
  readonly pattern?: string | undefined;
  readonly collection?: string | undefined;
  readonly dry_run?: boolean | undefined;
}

export interface DeleteResult {
  readonly deleted: readonly string[];
  readonly count: number;
}

export interface CollectionInfo {
  readonly name: string;
  readonly created: string;
  readonly documents: number;
  readonly bytes: number;
  readonly snapshots: number;
  readonly roots: readonly string[];
}

export interface SnapshotInfo {
  readonly id: string;
  readonly collection: string;
  readonly label: string | null;
  readonly created: string;
  readonly documents: number;
  readonly bytes: number;
}

export interface DiffParams {
  readonly from: string;
  readonly to?: string | undefined;
  readonly path?: string | undefined;
  readonly collection?: string | undefined;
}

export interface DiffResult {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly modified: readonly string[];
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  /** The text diff, where `path` was given. */
  readonly diff?: string;
}

export interface RestoreParams {
  readonly collection?: string | undefined;
  readonly snapshot_id?: string | undefined;
  readonly output_directory: string;
  readonly dry_run?: boolean | undefined;
  readonly overwrite?: boolean | undefined;
  readonly include_patterns?: readonly string[] | undefined;
  readonly exclude_patterns?: readonly string[] | undefined;
}

export interface RestoreResult {
  readonly restored: number;
  /** Files that were there with the same content, or that the patterns left out. */
  readonly skipped: number;
  readonly conflicts: readonly { readonly path: string; readonly reason: string }[];
  /** With `dry_run`: what would be written. */
  readonly paths?: readonly string[];
}

export interface StatusParams {
  readonly detailed?: boolean | undefined;
  readonly file_types?: boolean | undefined;
}

export interface StatusResult {
  readonly total_objects: number;
  readonly total_bytes: number;
  readonly unique_blocks: number;
  readonly deduplicated_bytes: number;
  readonly dedup_ratio: number;
  readonly [detail: string]: unknown;
}

export interface SearchParams extends FilterParams {
  readonly query: string;
  readonly limit?: number | undefined;
  readonly type?: "hybrid" | "keyword" | "semantic" | undefined;
  readonly fuzzy?: boolean | undefined;
  readonly similarity?: number | undefined;
  readonly hash?: string | undefined;
  readonly paths_only?: boolean | undefined;
  readonly line_numbers?: boolean | undefined;
  readonly context?: number | undefined;
  readonly path_pattern?: string | undefined;
  readonly extension?: string | undefined;
  readonly cursor?: string | undefined;
  readonly explain?: boolean | undefined;
}

export interface SearchHit {
  readonly id: number;
  readonly hash: string;
  readonly title: string;
  readonly path: string;
  readonly score: number;
  readonly snippet: string;
  readonly line?: number;
  readonly explain?: Readonly<Record<string, unknown>>;
}

export interface SearchResult {
  readonly total: number;
  readonly type: "hybrid" | "keyword" | "semantic";
  readonly execution_time_ms: number;
  readonly results: readonly SearchHit[];
  readonly cursor?: string;
  /** Words that nothing, or hardly anything, has, and what was looked for in their place. */
  readonly corrections?: readonly { readonly from: string; readonly to: string; readonly similarity: number }[];
  /** Why another method ran than the one asked for, or what is not found by meaning yet. */
  readonly notice?: string;
}

/** `paths` are documents or folders: whole paths, relative to the working folder, or the ends of paths. */
export interface GrepParams extends PatternParams, FilterParams {
  /** Only these contents, under these paths. `paths` and the filters have no say then. */
  readonly documents?: readonly { readonly path: string; readonly hash: string }[] | undefined;
}

export interface DownloadParams {
  readonly url: string;
  readonly checksum?: string | undefined;
  readonly max_bytes?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeout_ms?: number | undefined;
  readonly resume?: boolean | undefined;
  readonly collection?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: MetadataParam | undefined;
}

export interface DownloadResult {
  readonly hash: string;
  readonly path: string;
  readonly size: number;
  readonly new_bytes: number;
  readonly url: string;
  readonly content_type?: string;
  /** Bytes that an earlier, interrupted download had fetched already. */
  readonly resumed_bytes: number;
}

export interface SessionSummary {
  readonly session_id: string;
  readonly label: string | null;
  readonly started: string;
  readonly stopped: string;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly pinned: readonly string[];
}

export interface VerifyProblem {
  readonly kind: "database" | "chunk" | "content" | "reference" | "index";
  readonly message: string;
  readonly hash?: string;
  readonly paths?: readonly string[];
}

export interface VerifyResult {
  readonly ok: boolean;
  readonly problems: readonly VerifyProblem[];
  /** The named steps with what they looked at. */
  readonly steps: readonly { readonly name: string; readonly checked: number; readonly ms: number }[];
}

/** What `repair` did. `lost` are the hashes of chunks that no file has any more. */
export interface RepairResult {
  readonly documents: number;
  readonly chunks: number;
  readonly lost: readonly string[];
}

export interface ImportResult {
  readonly documents: number;
  readonly contents: number;
  readonly snapshots: number;
  readonly new_bytes: number;
}

export interface StartParams {
  readonly label?: string | undefined;
  readonly name?: string | undefined;
}

/** One session in an answer. `stopped` is `null` while it is under way. */
export interface SessionInfo {
  readonly session_id: string;
  readonly label: string | null;
  readonly started: string;
  readonly stopped: string | null;
  /** Documents that were added, changed or removed in it. */
  readonly documents: number;
  readonly pinned: number;
}

/** What is pinned: content by its hash, or what a document has now. */
export interface PinTarget {
  readonly hash?: string | undefined;
  readonly path?: string | undefined;
  /** Default: the client's own session. */
  readonly session?: string | undefined;
}

/** What a watcher found at a path. */
export interface WatchedChange {
  readonly path: string;
  readonly change: "added" | "changed" | "removed";
}

export interface WatchParams {
  readonly paths: readonly string[];
  readonly collection?: string | undefined;
}

export interface GcResult {
  readonly documents: number;
  readonly versions: number;
  readonly contents: number;
  readonly chunks: number;
  readonly freed_bytes: number;
  readonly steps: number;
}
