// Loaded into `trunkline serve` by the soak (--import). On SIGUSR2, it writes what keeps the process alive and what is
// left after a garbage collection to the SOAK_PROBE file, since neither is visible from outside.
import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

const file = process.env.SOAK_PROBE;

if (isMainThread && file !== undefined) {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  /** Heap megabytes, one sample per second. @type {number[]} */
  const heap = [];
  setInterval(() => heap.push(process.memoryUsage().heapUsed / 2 ** 20), 1_000).unref();
  process.on("SIGUSR2", () => {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    for (const name of process.eventNames()) counts[`process.on ${String(name)}`] = process.listenerCount(name);
    collectGarbage();
    const live = process.memoryUsage().heapUsed / 2 ** 20;
    writeFileSync(`${file}.tmp`, JSON.stringify({ busy: counts, heap, live }));
    renameSync(`${file}.tmp`, file);
  });
}
