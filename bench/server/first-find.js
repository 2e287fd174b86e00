// The first question to a new process, for find.js: prints how long it took in milliseconds, and how it was answered.
// Arguments: the catalogue, Trunkline's home with the model, and the folder of the index.
import { silentLogger } from "../../packages/core/dist/index.js";
import { createEmbedder } from "../../packages/embed/dist/index.js";
import { Ranker } from "../../packages/gateway/dist/find/operation-ranker.js";
import { readCandidates } from "../catalogue.js";

const [file = "", home = "", folder = ""] = process.argv.slice(2);
const candidates = readCandidates(file);
const started = performance.now();
/** @type {import("../../packages/embed/dist/index.js").LocalEmbedder | undefined} */
let embedder;
const open = async () => {
  embedder = await createEmbedder({ home });
  return embedder;
};
const ranker = new Ranker({ logger: silentLogger, folder, embedder: open });
const { method } = await ranker.rank("open a pull request for my branch", candidates);
console.log(JSON.stringify({ ms: performance.now() - started, method }));
await ranker.close();
await embedder?.close();
