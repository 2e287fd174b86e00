// Starts, selects and ends threads of the store.

import { type MessagePort, Worker } from "node:worker_threads";
import { atMost } from "@trunkline/core";
import { RpcClient, type Wire } from "./rpc.js";

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

export interface Thread {
  readonly worker: Worker;
  readonly rpc: RpcClient;
  readonly ended: Promise<void>;
  /** Runs while the thread has nothing to do. */
  readonly idle: { timer: NodeJS.Timeout | undefined };
}

interface StartOptions {
  readonly transfer?: MessagePort[];
  /** Called if the thread exits unexpectedly. */
  readonly onLost: (error: unknown) => void;
  /** Calls `end` when the thread has had nothing to do for this time. */
  readonly idle?: { readonly ms: number; readonly end: () => void };
}

/** V8 reserves 48 MB of young generation per thread by default; more than this does not make our threads faster. */
export const THREAD_LIMITS = { maxYoungGenerationSizeMb: 6 } as const;

/** How long a thread can take to close its databases. */
const END_MS = 2000;

/** Starts a thread from the file `entry`. */
export function startThread(entry: URL, start: WorkerStart, { transfer = [], onLost, idle }: StartOptions): Thread {
  const worker = new Worker(entry, {
    workerData: start,
    transferList: transfer,
    name: `store ${start.role}`,
    resourceLimits: THREAD_LIMITS,
  });
  const rpc = new RpcClient(worker as Wire, start.flags);
  const waiting: Thread["idle"] = { timer: undefined };
  const setBusy = (busy: boolean): void => {
    clearTimeout(waiting.timer);
    if (busy) worker.ref();
    else {
      // An idle thread must not keep the process alive.
      worker.unref();
      if (idle !== undefined) waiting.timer = setTimeout(idle.end, idle.ms).unref();
    }
  };
  setBusy(false);
  rpc.onBusy = setBusy;
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.on("error", onLost);
  worker.once("exit", () => onLost(new Error(`the ${start.role} thread exited`)));
  return { worker, rpc, ended, idle: waiting };
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

/** Lets a thread close its databases. If it does not respond it is terminated, which is as safe as a crash. */
export async function endThread({ worker, ended }: Pick<Thread, "worker" | "ended">): Promise<void> {
  worker.ref();
  worker.postMessage({ end: true });
  await atMost(END_MS, ended);
  await worker.terminate();
}
