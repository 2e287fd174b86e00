import type { Team } from "@trunkline/core";
import type { StoreCallOptions } from "./contract/index.js";
import type { GuardedPaths } from "./engine/files/guard.js";
import type { Store } from "./store.js";

interface StoreFigures {
  /** Documents that wait for background indexing, whichever gateway does it. */
  readonly waitingJobs: number;
  /** Connections to the database: in use, open but idle, and calls that wait for one. */
  readonly connections: { readonly used: number; readonly idle: number; readonly waiting: number };
}

/** An open store of either engine, as programs use it. */
export type AnyStore = Omit<Pick<Store, keyof Store>, "from"> & {
  /** Returns this store for another folder. See {@link Store.from}. */
  from(cwd: string, guarded?: GuardedPaths): AnyStore;
  /** Reports the path of every document that any gateway changes. Only a store in a database has several. */
  followDocuments?(listener: (path: string) => void): Promise<() => void>;
  /** Figures for operators. Only a store in a database has a queue and connections that several gateways share. */
  figures?(options?: StoreCallOptions): Promise<StoreFigures>;
  /** The gateways that work on this store. Only a store in a database has several. */
  readonly team?: Team;
};
