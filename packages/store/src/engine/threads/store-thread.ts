// Where a worker begins. What it was started for stands in its data.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { TrunklineError } from "@trunkline/core";
import { closeForWriting, type Databases, openForIndexing, openForReading, openForWriting } from "./open-databases.js";
import { type Call, type Handlers, RpcClient, serveRpc, type Wire } from "./rpc.js";
import type { WorkerStart } from "./thread.js";
import type { WriterHandlers } from "./writer-handlers.js";

const MOST_PREPARERS = 2;

interface Opened {
  readonly handlers: Handlers;
  readonly databases: Databases;
  /** Ends what the thread has started itself. */
  close?(): Promise<void>;
}

if (parentPort !== null) start(parentPort, workerData as WorkerStart);

function start(parent: MessagePort, data: WorkerStart): void {
  let opening: Promise<Opened> | undefined;
  // Opened by the first call, which then hears of what goes wrong; the next call tries again.
  const opened = () => {
    opening ??= open(data).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const handlers = new Proxy({} as Handlers, {
    get: (_target, method: string) => async (params: never, call: Call) => {
      const { handlers: table } = await opened();
      const handler = Object.hasOwn(table, method) ? table[method] : undefined;
      if (handler === undefined) throw new TrunklineError("INTERNAL", `The store's worker has no "${method}".`);
      call.check();
      return await handler(params, call);
    },
    getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
  });
  serveRpc(parent as Wire, handlers, data.flags);
  parent.on("message", (message: unknown) => {
    if (typeof message !== "object" || message === null) return;
    if ("connect" in message) {
      const { connect, flags } = message as { connect: MessagePort; flags: SharedArrayBuffer };
      serveRpc(connect as Wire, handlers, flags);
    } else if ("end" in message) void end(parent, data, opening);
  });
}

/** The last connection to close takes the write-ahead log back into the database. */
async function end(parent: MessagePort, data: WorkerStart, opening: Promise<Opened> | undefined): Promise<void> {
  const opened = await opening?.catch(() => undefined);
  const closing = opened?.close?.();
  if (opened !== undefined && data.role === "writer") closeForWriting(data.folder, opened.databases);
  else {
    opened?.databases.truth.close();
    opened?.databases.index.close();
  }
  await closing;
  if (data.role === "mover") data.writer.port.close();
  parent.close();
}

/** Each role loads what it needs and nothing else: a thread is ready the sooner. */
async function open(data: WorkerStart): Promise<Opened> {
  const { folder, role } = data;
  switch (role) {
    case "writer": {
      const { writerHandlers } = await import("./writer-handlers.js");
      const databases = openForWriting(folder);
      return { databases, handlers: writerHandlers(databases) };
    }
    case "indexer": {
      const [{ indexerHandlers }, { Preparers }] = await Promise.all([
        import("./indexer-handlers.js"),
        import("./preparer.js"),
      ]);
      const databases = openForIndexing(folder);
      const preparers = new Preparers(folder, MOST_PREPARERS);
      return { databases, handlers: indexerHandlers(databases, preparers), close: () => preparers.close() };
    }
    case "preparer": {
      const { preparerHandlers } = await import("./preparer.js");
      const databases = openForReading(folder);
      return { databases, handlers: preparerHandlers(databases) };
    }
    case "reader": {
      const { readerHandlers } = await import("./reader-handlers.js");
      const databases = openForReading(folder);
      return { databases, handlers: readerHandlers({ folder, ...databases }) };
    }
    case "mover": {
      const { moverHandlers } = await import("./mover-handlers.js");
      const databases = openForReading(folder);
      const writer = new RpcClient<WriterHandlers>(data.writer.port as Wire, data.writer.flags);
      return { databases, handlers: moverHandlers({ folder, ...databases, writer, guarded: data.guarded }) };
    }
  }
}
