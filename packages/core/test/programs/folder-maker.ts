// Creates folders in step with other threads: each round starts for all of them at once.
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { makeFolder } from "../../src/index.js";

const { base, rounds, threads, shared } = workerData as {
  base: string;
  rounds: number;
  threads: number;
  shared: SharedArrayBuffer;
};
const arrived = new Int32Array(shared);
const problems: string[] = [];
for (let round = 0; round < rounds; round++) {
  if (Atomics.add(arrived, round, 1) + 1 === threads) Atomics.notify(arrived, round);
  // Waits instead of spinning, which would keep a busy machine from running the other threads.
  for (let count = Atomics.load(arrived, round); count < threads; count = Atomics.load(arrived, round)) {
    Atomics.wait(arrived, round, count);
  }
  try {
    makeFolder(join(base, `round-${round}`, "a", "b", "c"));
  } catch (error) {
    problems.push(String(error));
  }
}
parentPort?.postMessage(problems);
