/**
 * The contract of the store: its operations, what they take and answer, and how that is spelled on the wire. It loads
 * nothing else of the package, so that a command line or a server can know the operations without opening a store.
 */
import type { ParamsOf, ToolProgress } from "@trunkline/core";
import type { OPERATIONS, OperationName } from "./operations.js";
import type { WatchedChange } from "./results.js";
import type { CamelCase, CamelKeys } from "./wire.js";

export { type MetadataParam, OPERATIONS, type OperationName, storeOperations } from "./operations.js";
export type * from "./results.js";
export { type CamelCase, camelCase, fromWire, snakeCase, toWire } from "./wire.js";

/** What an operation takes, in TypeScript: `OperationParams<"list_snapshots">`. */
export type OperationParams<Name extends OperationName> = CamelKeys<ParamsOf<(typeof OPERATIONS)[Name]["params"]>>;

/** What an operation answers with, in TypeScript. */
export type OperationResult<Name extends OperationName> = NonNullable<(typeof OPERATIONS)[Name]["result"]>;

/** The operations as methods: `store.listSnapshots({ collection: "manual" })`. */
export type StoreMethods = {
  [Name in OperationName as CamelCase<Name>]: (
    params: OperationParams<Name>,
    options?: StoreCallOptions,
  ) => Promise<OperationResult<Name>>;
};

export type AddParams = OperationParams<"add">;
export type DeleteParams = OperationParams<"delete">;
export type DiffParams = OperationParams<"diff">;
export type DownloadParams = OperationParams<"download">;
export type GetParams = OperationParams<"get">;
export type GraphParams = OperationParams<"graph">;
export type GrepParams = OperationParams<"grep">;
export type ListParams = OperationParams<"list">;
export type PinParams = OperationParams<"pin">;
export type RestoreParams = OperationParams<"restore">;
export type SearchParams = OperationParams<"search">;
export type StatusParams = OperationParams<"status">;
export type UpdateParams = OperationParams<"update">;
export type WatchParams = OperationParams<"watch">;

/** Narrows search, grep and list alike. */
export type FilterParams = Pick<
  ListParams,
  "collection" | "snapshot" | "tags" | "matchAllTags" | "metadata" | "session"
>;

/** What every call may be given. */
export interface StoreCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Who is asking: each client has its own current session. Default: one client. */
  readonly client?: string | undefined;
  /** Folders that `get` may write to with `outputPath`. Default: none. */
  readonly allowWrite?: readonly string[] | undefined;
  /** Called with the changes that `watch` has indexed. */
  readonly onChanges?: ((changes: readonly WatchedChange[]) => void) | undefined;
  /** Lets `download` reach private, loopback and link-local addresses. Default: no. */
  readonly allowPrivateAddresses?: boolean | undefined;
}
