// Generates docs/reference/: configuration and operations from their definitions, the protocol from the support table.
// Needs the build.
import { mkdirSync, writeFileSync } from "node:fs";
import { ENTRY_FIELDS, SETTING_FIELDS } from "../packages/config/dist/index.js";
import { createRegistry } from "../packages/gateway/dist/operations/operation-registry.js";
import { REVISIONS } from "../packages/protocol/dist/revisions.generated.js";
import { storeOperations } from "../packages/store/dist/contract/index.js";
import { configurationPage } from "./configuration-page.js";
import { protocolPage } from "./protocol-page.js";
import { referencePage } from "./reference-page.js";

const never = async () => {
  throw new Error("the reference opens nothing");
};
const registry = createRegistry({ backends: { hub: never, store: never, storeOperations }, workspace: "/" });
const folder = new URL("../docs/reference/", import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("operations.md", folder), referencePage([...registry.builtin, ...registry.sessionActions]));
writeFileSync(new URL("protocol.md", folder), protocolPage(REVISIONS));
writeFileSync(
  new URL("configuration.md", folder),
  configurationPage({ entryFields: ENTRY_FIELDS, settingFields: SETTING_FIELDS }),
);
