import { readFile } from "node:fs/promises";
import { storeOperations } from "@trunkline/store";
import { expect, it } from "vitest";
import { referencePage } from "../../../../scripts/reference-page.js";
import { createRegistry } from "../../src/operations/operation-registry.js";

it("the reference page matches the definitions (npm run reference)", async () => {
  const never = async () => {
    throw new Error("the reference opens nothing");
  };
  const registry = createRegistry({ backends: { hub: never, store: never, storeOperations }, workspace: "/" });
  await registry.load();
  const page = await readFile(new URL("../../../../docs/reference/operations.md", import.meta.url), "utf8");
  expect(page).toBe(referencePage([...registry.builtin, ...registry.sessionActions]));
});
