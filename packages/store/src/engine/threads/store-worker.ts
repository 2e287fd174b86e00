// Starts and selects threads of the store.

import type { MessagePort } from "node:worker_threads";
import { startThread, THREAD_LIMITS, type Thread } from "@trunkline/core/threads";

/** The start data of a worker. */
export type WorkerStart =
  | {
      readonly role: "writer" | "reader" | "indexer" | "preparer";
      readonly folder: string;
      readonly flags: SharedArrayBuffer;
    }
  | {
      readonly role: "mover";
      readonly folder: string;
      readonly flags: SharedArrayBuffer;
      readonly writer: { readonly port: MessagePort; readonly flags: SharedArrayBuffer };
    };

interface StoreThreadOptions {
  readonly transfer?: MessagePort[];
  /** Called if the thread exits unexpectedly. */
  readonly onLost: (error: unknown) => void;
  /** Calls `end` when the thread has had nothing to do for this time. */
  readonly idle?: { readonly ms: number; readonly end: () => void };
}

/** Starts a thread of the store from the file `entry`. */
export function startStoreThread(entry: URL, start: WorkerStart, options: StoreThreadOptions): Thread {
  const { role, flags } = start;
  return startThread(entry, {
    ...options,
    owner: "store",
    name: `store ${role}`,
    workerData: start,
    flags,
    limits: THREAD_LIMITS,
  });
}

/**
 * Picks the thread for the next call: an idle one, otherwise the least busy one; undefined if another one can be
 * started.
 */
export function leastBusy<T extends { readonly rpc: { readonly pending: number } }>(
  threads: readonly T[],
  most: number,
): T | undefined {
  const [first, ...others] = threads;
  if (first === undefined) return undefined;
  const least = others.reduce((found, thread) => (thread.rpc.pending < found.rpc.pending ? thread : found), first);
  return least.rpc.pending === 0 || threads.length >= most ? least : undefined;
}
