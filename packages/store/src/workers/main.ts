// Where a worker begins. What it was started for stands in its data.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { TrunklineError } from "@trunkline/core";
import { closeForWriting, type Databases, openForIndexing, openForReading, openForWriting } from "./environment.js";
import type { WorkerStart } from "./pool.js";
import { indexerHandlers, moverHandlers, readerHandlers } from "./reader.js";
import { type Call, type Handlers, RpcClient, serveRpc, type Wire } from "./rpc.js";
import { type WriterHandlers, writerHandlers } from "./writer.js";

interface Opened {
  readonly handlers: Handlers;
  readonly databases: Databases;
}

if (parentPort !== null) start(parentPort, workerData as WorkerStart);

function start(parent: MessagePort, data: WorkerStart): void {
  let opened: Opened | undefined;
  // Opened by the first call, which then hears of what goes wrong; the next call tries again.
  const handlers = new Proxy({} as Handlers, {
    get: (_target, method: string) => (params: never, call: Call) => {
      opened ??= open(data);
      const handler = Object.hasOwn(opened.handlers, method) ? opened.handlers[method] : undefined;
      if (handler === undefined) throw new TrunklineError("INTERNAL", `The store's worker has no "${method}".`);
      return handler(params, call);
    },
    getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
  });
  serveRpc(parent as Wire, handlers, data.flags);
  parent.on("message", (message: unknown) => {
    if (typeof message !== "object" || message === null) return;
    if ("connect" in message) {
      const { connect, flags } = message as { connect: MessagePort; flags: SharedArrayBuffer };
      serveRpc(connect as Wire, handlers, flags);
    } else if ("end" in message) {
      // The last connection to close takes the write-ahead log back into the database.
      if (opened !== undefined) close(data, opened.databases);
      if (data.role === "mover") data.writer.port.close();
      parent.close();
    }
  });
}

function close({ role, folder }: WorkerStart, databases: Databases): void {
  if (role === "writer") return closeForWriting(folder, databases);
  databases.truth.close();
  databases.index.close();
}

function open(data: WorkerStart): Opened {
  const { folder, role } = data;
  if (role === "writer") {
    const databases = openForWriting(folder);
    return { databases, handlers: writerHandlers(databases) };
  }
  if (role === "indexer") {
    const databases = openForIndexing(folder);
    return { databases, handlers: indexerHandlers(databases) };
  }
  const databases = openForReading(folder);
  const env = { folder, ...databases };
  if (role === "reader") return { databases, handlers: readerHandlers(env) };
  const writer = new RpcClient<WriterHandlers>(data.writer.port as Wire, data.writer.flags);
  return { databases, handlers: moverHandlers({ ...env, writer }) };
}
