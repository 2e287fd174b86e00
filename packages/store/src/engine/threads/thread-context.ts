// What operations work with, in whichever thread they run.
import type { GuardedPaths } from "../files/guard.js";
import type { Db } from "../sqlite/database.js";
import type { RpcClient } from "./rpc.js";
import type { WriterHandlers } from "./writer-handlers.js";

/** A thread that reads. */
export interface ReadEnvironment {
  readonly folder: string;
  readonly truth: Db;
  readonly index: Db;
}

/** A thread that reads and has writes done by the writer. */
export interface MoveEnvironment extends ReadEnvironment {
  readonly writer: RpcClient<WriterHandlers>;
  readonly guarded: GuardedPaths;
}
