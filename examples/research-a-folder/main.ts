// Adds a folder to the store, then searches it; every hit can be cited:
//   TRUNKLINE_STORE=/tmp/research npx trunkline run examples/research-a-folder/main.ts docs/guides "who approves a project"
import assert from "node:assert/strict";
import { args, store } from "trunkline";

const [folder = "docs/guides", question = "approve what a project would run"] = args;

// Only changed files are read: run it twice and nothing is added the second time.
const added = await store.add({ path: folder, collection: "research", include: ["*.md"] });
console.log(`${added.files} files added, ${added.skipped} unchanged`);
await store.indexed();

const found = await store.search({ query: question, collection: "research", limit: 3, lineNumbers: true });
console.log(`${found.total} found (${found.type})`);
for (const { path, line, hash, snippet } of found.results) {
  console.log(`${path}${line === undefined ? "" : `:${line}`} ${hash.slice(0, 12)}`);
  console.log(`  ${snippet.trim().split("\n")[0]}`);
}

const [best] = found.results;
assert.ok(best, "something is found");
const { content } = await store.get({ hash: best.hash, includeContent: true });
assert.ok(typeof content === "string" && content.length > 0, "the hit can be read in full");

// Search by pattern, then read the store's totals.
const titles = await store.grep({ pattern: "^# ", collection: "research" });
assert.ok("matches" in titles && titles.matches.length > 0, "every guide has a title");
assert.ok((await store.status()).totalObjects > 0);
console.log("done");
