import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createRegistry } from "../../packages/server/src/operations/operation-registry.js";
import { storeOperations } from "../../packages/store/src/contract/index.js";
import { referencePage } from "../../scripts/reference-page.js";

it("the reference page matches the definitions", async () => {
  const never = async () => {
    throw new Error("the reference opens nothing");
  };
  const registry = createRegistry({ backends: { hub: never, store: never, storeOperations }, workspace: "/" });
  await registry.load();
  const page = readFileSync(new URL("../../docs/reference/operations.md", import.meta.url), "utf8");
  expect(page, "docs/reference/operations.md is out of date; `npm run reference` writes it").toBe(
    referencePage([...registry.builtin, ...registry.sessionActions]),
  );
});
