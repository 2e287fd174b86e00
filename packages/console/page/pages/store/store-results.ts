// Results of the store's operations, as the wire spells them.
import type { Json } from "@trunkline/console/contract";

export interface CollectionRow {
  readonly name: string;
  readonly documents: number;
  readonly bytes: number;
  readonly snapshots: number;
  readonly roots: readonly string[];
}

export interface DocumentRow {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
  readonly tags: readonly string[];
  readonly indexed: string;
}

export interface VersionRow {
  readonly version: number;
  readonly hash: string;
  readonly size: number;
  readonly added: string;
}

export interface StoredDocument {
  readonly path?: string;
  readonly hash: string;
  readonly size: number;
  readonly type: "text" | "binary";
  readonly title?: string;
  readonly collection?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, Json>>;
  readonly created?: string;
  readonly modified?: string;
  readonly indexed?: string;
  readonly version?: number;
  readonly versions: readonly VersionRow[];
  readonly same_content?: readonly string[];
  readonly state?: "removed" | "trash";
  readonly content?: string;
  readonly encoding?: "utf-8" | "base64";
}

export interface SearchHit {
  readonly id: number;
  readonly title: string;
  readonly path: string;
  readonly score: number;
  readonly snippet: string;
  readonly line?: number;
}

export interface SearchAnswer {
  readonly total: number;
  readonly type: string;
  readonly execution_time_ms: number;
  readonly results: readonly SearchHit[];
  readonly cursor?: string;
  readonly corrections?: readonly { readonly from: string; readonly to: string }[];
  readonly notice?: string;
}

export interface GrepMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface GrepAnswer {
  readonly matches: readonly GrepMatch[];
  readonly total: number;
  readonly files: number;
  readonly cursor?: string;
  readonly binary: number;
  readonly timed_out?: { readonly path: string };
}

export interface StoreStatus {
  readonly documents?: number;
  readonly in_trash?: number;
  readonly disk_bytes?: number;
  readonly index?: Readonly<Record<string, { readonly entries: number; readonly pending: number }>>;
  readonly embeddings?: Json;
}

export interface GraphAnswer {
  readonly nodes: readonly {
    readonly key: string;
    readonly type: string;
    readonly name: string;
    readonly path?: string;
  }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly relation: string;
    readonly line?: number;
  }[];
  readonly truncated?: boolean;
  readonly notice?: string;
}
