// The server's backends. Each is opened on first use, so that a client's first answer does not wait for them.
import type { Hub } from "@trunkline/client";
import type { ContentStore, Embedder, Gateway, StoreOperation } from "@trunkline/core";

/** The parts that do the work. The code that creates them closes them. */
export interface Backends {
  /** The configured servers. Always the same hub; its servers connect lazily. */
  hub(): Promise<Hub>;
  /** Always the same store. */
  store(): Promise<ContentStore>;
  /** The store's operations, known before it is opened: `storeOperations` of `@trunkline/store`. */
  readonly storeOperations: readonly StoreOperation[];
  /** This process as one of the gateways that share the store, if it can be shared. Always the same. */
  gateway?(): Promise<Gateway | undefined>;
  /** The model that ranks operations by meaning, if there is one. */
  embedder?(): Promise<Embedder | undefined>;
}

/** Opens the store as a principal sees it. Everything that runs for a client uses this, never the store itself. */
export function storeFor(backends: Backends): (principal: string) => Promise<ContentStore> {
  return async (principal) => (await backends.store()).viewedBy(principal);
}
