// Opens a store, prints a line, and goes on until its indexes are complete.
import { writeSync } from "node:fs";
import { openStore } from "../../src/index.js";

const [folder = ""] = process.argv.slice(2);
await using store = await openStore({ path: folder });
writeSync(1, "open\n");
await store.indexed();
writeSync(1, "complete\n");
