import type { Team } from "@trunkline/core";
import type { GuardedPaths } from "./engine/files/guard.js";
import type { Store } from "./store.js";

/** An open store of either engine, as programs use it. */
export type AnyStore = Omit<Pick<Store, keyof Store>, "from"> & {
  /** Returns this store for another folder. See {@link Store.from}. */
  from(cwd: string, guarded?: GuardedPaths): AnyStore;
  /** Reports the path of every document that any gateway changes. Only a store in a database has several. */
  followDocuments?(listener: (path: string) => void): Promise<() => void>;
  /** The gateways that work on this store. Only a store in a database has several. */
  readonly team?: Team;
};
