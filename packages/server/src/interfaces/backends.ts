// What stands behind the server. Each is opened at its first use, so that a client's first answer waits for none of them.
import type { Hub } from "@trunkline/client";
import type { ContentStore, Embedder, StoreOperation } from "@trunkline/core";

/** The parts that do the work. Whoever made them closes them. */
export interface Backends {
  /** The servers of the configuration; the same hub each time, its servers connected lazily. */
  hub(): Promise<Hub>;
  /** The store; the same one each time. */
  store(): Promise<ContentStore>;
  /** What the store can do, known before it is opened: `storeOperations` of `@trunkline/store`. */
  readonly storeOperations: readonly StoreOperation[];
  /** The model that ranks operations by meaning, where there is one. */
  embedder?(): Promise<Embedder | undefined>;
}
