// Starts threads that answer calls, and ends them when they are idle or no longer needed.
import { type MessagePort, type ResourceLimits, Worker } from "node:worker_threads";
import { atMost } from "../deadline.js";
import { RpcClient, type RpcSetup } from "./rpc.js";

export interface Thread {
  readonly worker: Worker;
  readonly rpc: RpcClient;
  /** Resolves when the thread has exited. */
  readonly ended: Promise<void>;
  /** Runs while the thread has nothing to do. */
  readonly idle: { timer: NodeJS.Timeout | undefined };
}

interface ThreadOptions extends RpcSetup {
  readonly name: string;
  readonly workerData?: unknown;
  readonly transfer?: MessagePort[];
  readonly limits?: ResourceLimits;
  /** Default: those of this process. */
  readonly execArgv?: string[];
  /** Called once if the thread fails or exits. */
  readonly onLost: (error: unknown) => void;
  /** Called when the thread gets its first call and when its last one has ended. */
  readonly onBusy?: (busy: boolean) => void;
  /** Calls `end` when the thread has had nothing to do for this time. */
  readonly idle?: { readonly ms: number; readonly end: () => void };
}

/** How long a thread can take to end what it does. */
const END_MS = 2000;

/** V8 reserves 48 MB of young generation per thread by default; more than this does not make our threads faster. */
export const THREAD_LIMITS = { maxYoungGenerationSizeMb: 6 } as const;

/** Starts a thread from the file `entry`, which calls `serveRpc`. It keeps the process alive only while it is called. */
export function startThread(entry: URL, options: ThreadOptions): Thread {
  const { name, workerData, transfer, limits, execArgv, onLost, onBusy, idle, ...setup } = options;
  const worker = new Worker(entry, {
    workerData,
    transferList: transfer,
    name,
    execArgv,
    resourceLimits: limits,
  });
  const rpc = new RpcClient(worker, setup);
  const waiting: Thread["idle"] = { timer: undefined };
  const rest = (): void => {
    worker.unref();
    if (idle !== undefined && !rpc.isBroken) waiting.timer = setTimeout(idle.end, idle.ms).unref();
  };
  rest();
  rpc.onBusy = (busy) => {
    clearTimeout(waiting.timer);
    if (busy) worker.ref();
    else rest();
    onBusy?.(busy);
  };
  let isLost = false;
  const lose = (error: unknown): void => {
    if (isLost) return;
    isLost = true;
    clearTimeout(waiting.timer);
    onLost(error);
  };
  worker.on("error", lose);
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.once("exit", () => lose(new Error(`the ${name} thread exited`)));
  return { worker, rpc, ended, idle: waiting };
}

/** Lets a thread handle `end` and exit. If it does not respond it is terminated, which is as safe as a crash. */
export async function endThread({ worker, rpc, ended }: Pick<Thread, "worker" | "rpc" | "ended">): Promise<void> {
  worker.ref();
  rpc.notify("end");
  await atMost(END_MS, ended);
  await worker.terminate();
}
