// Adds one file in a process of its own, and prints the most memory it took. Runs the built package.
import { openPostgresStore } from "../../dist/index.js";

const [url, folder, path] = process.argv.slice(2);
const store = await openPostgresStore({ url, cwd: folder, folder });
await store.add({ name: "warm.txt", content: "starts the threads" });
const idleBytes = process.memoryUsage.rss();
let peakBytes = idleBytes;
const timer = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 10);
await store.add({ path });
clearInterval(timer);
const { size } = await store.get({ path });
process.stdout.write(`${JSON.stringify({ size, peakBytes, idleBytes })}\n`);
await store.close();
