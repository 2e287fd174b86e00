// Adds one document to a store, has it indexed, and ends.
import { openStore } from "../../src/index.js";

const [path = "", name = "", content = ""] = process.argv.slice(2);
const store = await openStore({ path });
await store.add({ name, content });
await store.indexed();
await store.close();
