/**
 * The contract of the store: its operations, their parameters and results, and their wire names. It loads nothing else
 * from the package, so a CLI or server can know the operations without opening a store.
 */
import type { FileLimits, ParamsOf, ToolProgress } from "@trunkline/core";
import type { OPERATIONS, OperationName } from "./operations.js";
import type { WatchedChange } from "./results.js";
import type { CamelCase, CamelKeys } from "./wire.js";

export { type MetadataParam, OPERATIONS, type OperationName, storeOperations } from "./operations.js";
export type * from "./results.js";
export { type CamelCase, camelCase, fromWire, snakeCase, toWire } from "./wire.js";

/** The parameters of an operation, in TypeScript: `OperationParams<"list_snapshots">`. */
export type OperationParams<Name extends OperationName> = CamelKeys<ParamsOf<(typeof OPERATIONS)[Name]["params"]>>;

/** The result of an operation, in TypeScript. */
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

/** The filters that search, grep and list share. */
export type FilterParams = Pick<
  ListParams,
  "collection" | "snapshot" | "tags" | "matchAllTags" | "metadata" | "session"
>;

/** Options for every call. */
export interface StoreCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** The calling client. Each client has its own current session. Default: a single shared client. */
  readonly client?: string | undefined;
  /**
   * For whom the store acts. Stored results and sessions belong to their principal; `local`, the default, sees
   * everything.
   */
  readonly principal?: string | undefined;
  /** What the call may do with files, if it is for a client. Default: no limits. */
  readonly limits?: FileLimits | undefined;
  /** Called with the changes that `watch` has indexed. */
  readonly onChanges?: ((changes: readonly WatchedChange[]) => void) | undefined;
  /** Lets `download` reach private, loopback and link-local addresses. Default: false. */
  readonly allowPrivateAddresses?: boolean | undefined;
}
