// The results of the operations, in TypeScript. wire.ts converts them to the wire format.

/** A document in a result. */
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

/** A file that could not be added. */
export interface FileProblem {
  readonly path: string;
  readonly message: string;
}

export interface AddResult {
  /** `null` if more than one file was added. */
  readonly hash: string | null;
  readonly path: string;
  readonly size: number;
  readonly newBytes: number;
  /** Files that were added: new ones and those whose content changed. */
  readonly files: number;
  /** Files that were skipped because they are unchanged, could not be read or were left out. */
  readonly skipped: number;
  /** What was left out of a folder: files that can hold secrets, generated and hidden folders, files over 10 MB. */
  readonly leftOut?: { readonly sensitive: number; readonly folders: readonly string[]; readonly large: number };
  /** Documents whose files are no longer in the folder. */
  readonly removed?: number;
  readonly snapshotId?: string;
  readonly problems?: readonly FileProblem[];
}

export type ListResult =
  | { readonly documents: readonly DocumentInfo[]; readonly total: number; readonly cursor?: string }
  | { readonly paths: readonly string[]; readonly total: number; readonly cursor?: string };

/** A node in a result, without its position. */
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
  /** False if the target is known only by name. */
  readonly resolved?: false;
}

/** `nodes` excludes the origin and is sorted by distance. */
export interface RelatedDocuments {
  readonly nodes: readonly (GraphNodeInfo & { readonly distance: number })[];
  readonly edges: readonly GraphEdgeInfo[];
  /** There are more nodes than the limit. */
  readonly truncated?: boolean;
  /** What the graph does not include yet. */
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
  readonly sameContent?: readonly string[];
  /** The document is in the trash, or its file is gone. */
  readonly state?: "removed" | "trash";
  readonly content?: string;
  readonly encoding?: "utf-8" | "base64";
  readonly lines?: { readonly from: number; readonly to: number; readonly total: number };
  readonly bytes?: { readonly from: number; readonly to: number };
  readonly outputPath?: string;
  /** The requested definition; `lines` gives its location. */
  readonly symbol?: { readonly key: string; readonly type: string; readonly name: string; readonly signature?: string };
  readonly related?: RelatedDocuments;
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

export interface DiffResult {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly modified: readonly string[];
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  /** The text diff, if `path` was given. */
  readonly diff?: string;
}

export interface RestoreResult {
  readonly restored: number;
  /** Files that already had the same content or were excluded by the patterns. */
  readonly skipped: number;
  readonly conflicts: readonly { readonly path: string; readonly reason: string }[];
  /** With `dry_run`: the paths that would be written. */
  readonly paths?: readonly string[];
  /** With limits: the conflicts that the user's permission would resolve. */
  readonly unapproved?: readonly string[];
}

export interface StatusResult {
  readonly totalObjects: number;
  readonly totalBytes: number;
  readonly uniqueBlocks: number;
  readonly deduplicatedBytes: number;
  readonly dedupRatio: number;
  /**
   * Documents that a tool has written, such as minified code. `search` finds them by their words and `grep` by pattern,
   * but they are not in the graph and not searched by meaning.
   */
  readonly wordsOnly?: {
    readonly documents: number;
    readonly kinds: Readonly<Partial<Record<"minified" | "generated" | "sourceMap" | "lock" | "data", number>>>;
  };
  /** Documents that could not be indexed after several attempts. `search` finds them by their words; `repair` tries again. */
  readonly notIndexed?: {
    readonly documents: number;
    /** Some of them, and what went wrong. */
    readonly problems: readonly { readonly path: string; readonly problem: string }[];
  };
  readonly [detail: string]: unknown;
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
  readonly executionTimeMs: number;
  readonly results: readonly SearchHit[];
  readonly cursor?: string;
  /** Words with few or no matches, and the words searched for instead. */
  readonly corrections?: readonly { readonly from: string; readonly to: string; readonly similarity: number }[];
  /** Why a different method ran than the requested one, or what semantic search does not cover yet. */
  readonly notice?: string;
}

export interface DownloadResult {
  readonly hash: string;
  readonly path: string;
  readonly size: number;
  readonly newBytes: number;
  readonly url: string;
  readonly contentType?: string;
  /** Bytes already fetched by an earlier, interrupted download. */
  readonly resumedBytes: number;
}

export interface SessionSummary {
  readonly sessionId: string;
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
  /** The named steps and how many items each checked. */
  readonly steps: readonly { readonly name: string; readonly checked: number; readonly ms: number }[];
}

/** The result of `repair`. `lost` lists the hashes of chunks that no file contains any more. */
export interface RepairResult {
  readonly documents: number;
  readonly chunks: number;
  readonly lost: readonly string[];
}

export interface ImportResult {
  readonly documents: number;
  readonly contents: number;
  readonly snapshots: number;
  readonly newBytes: number;
}

/** A session in a result. `stopped` is `null` while the session is open. */
export interface SessionInfo {
  readonly sessionId: string;
  readonly label: string | null;
  readonly started: string;
  readonly stopped: string | null;
  /** Documents that were added, changed or removed in the session. */
  readonly documents: number;
  readonly pinned: number;
}

/** A change that a watcher found at a path. */
export interface WatchedChange {
  readonly path: string;
  readonly change: "added" | "changed" | "removed";
}

export interface GcResult {
  readonly documents: number;
  readonly versions: number;
  readonly contents: number;
  readonly chunks: number;
  readonly freedBytes: number;
  readonly steps: number;
}

/** A matching line. Each line of a document appears once, either as a match or as context. */
export interface GrepMatch {
  readonly path: string;
  readonly hash: string;
  readonly line: number;
  readonly text: string;
  /** In a line of more than 1,000 bytes: how many characters of it the first match reaches to. */
  readonly matchEnd?: number;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** Fields that every grep result has. */
export interface GrepState {
  /** There are more matches: continue with `cursor`. */
  readonly truncated: boolean;
  readonly cursor?: string;
  /** Number of binary contents that were skipped. */
  readonly binary: number;
  /** The document at which the time limit was reached. `total` and `files` cover what was searched before that. */
  readonly timedOut?: { readonly path: string; readonly budgetMs: number };
}

export type GrepResult = GrepState &
  (
    | { readonly matches: readonly GrepMatch[]; readonly total: number; readonly files: number }
    | { readonly total: number; readonly files: readonly { readonly path: string; readonly count: number }[] }
    | { readonly files: readonly string[] }
  );

/** The result of `search` with `pathsOnly`. */
export interface SearchPathsResult {
  readonly paths: readonly string[];
  readonly total: number;
  readonly cursor?: string;
  /** Why another method was used than requested, and what to do about it. */
  readonly notice?: string;
}

export interface UndeleteResult {
  readonly restored: readonly string[];
  readonly count: number;
}

export interface ListCollectionsResult {
  readonly collections: readonly CollectionInfo[];
  readonly total: number;
}

export interface ListSnapshotsResult {
  readonly snapshots: readonly SnapshotInfo[];
  readonly total: number;
  readonly cursor?: string;
}

export interface ListSessionsResult {
  readonly sessions: readonly SessionInfo[];
  readonly total: number;
}

export interface SessionStarted {
  readonly sessionId: string;
}

export interface PinResult {
  readonly hash: string;
  readonly pinned: boolean;
}

export interface ExportResult {
  readonly path: string;
  readonly bytes: number;
}
