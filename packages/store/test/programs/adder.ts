// Adds one document to a store, waits for the index, and exits.
import { openStore } from "../../src/index.js";

const [path = "", name = "", content = ""] = process.argv.slice(2);
const store = await openStore({ path });
await store.add({ name, content });
await store.indexed();
await store.close();
