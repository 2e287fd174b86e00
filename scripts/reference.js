// Writes docs/reference/operations.md from the definitions of the operations. Needs the build.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRegistry } from "../packages/server/dist/operations/registry.js";
import { referencePage } from "./reference-page.js";

const never = async () => {
  throw new Error("nothing is opened for the reference");
};
const registry = createRegistry({ backends: { hub: never, store: never }, workspace: "/" });
await registry.load();
const folder = new URL("../docs/reference/", import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("operations.md", folder), referencePage([...registry.builtin, ...registry.sessionActions]));
