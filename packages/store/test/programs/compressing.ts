// Prepares and opens chunks without pause, and counts those that come back wrong.
import { parentPort, threadId } from "node:worker_threads";
import { openChunk, prepareChunk } from "../../src/engine/content/prepare.js";

let wrong = 0;
for (let round = 0; round < 3000; round++) {
  const bytes = Buffer.from(`thread ${threadId} round ${round} `.repeat(400 + (round % 20) * 40));
  const { hash, size, codec, data } = prepareChunk(bytes, () => false);
  try {
    openChunk({ hash, size, codec, data: data ?? bytes });
  } catch {
    // Only count it: the test reports how many there were.
    wrong++;
  }
}
parentPort?.postMessage(wrong);
