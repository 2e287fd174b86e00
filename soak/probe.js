// Loaded into `trunkline serve` by the soak (--import). On SIGUSR2, it writes what keeps the process alive to the
// SOAK_PROBE file, since timers, handles, listeners and the heap are not visible from outside.
import { renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env.SOAK_PROBE;

if (isMainThread && file !== undefined) {
  /** Heap megabytes, one sample per second. @type {number[]} */
  const heap = [];
  setInterval(() => heap.push(process.memoryUsage().heapUsed / 2 ** 20), 1_000).unref();
  process.on("SIGUSR2", () => {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    for (const name of process.eventNames()) counts[`process.on ${String(name)}`] = process.listenerCount(name);
    writeFileSync(`${file}.tmp`, JSON.stringify({ busy: counts, heap }));
    renameSync(`${file}.tmp`, file);
  });
}
