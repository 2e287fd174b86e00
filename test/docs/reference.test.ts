import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ENTRY_FIELDS, SETTING_FIELDS } from "../../packages/config/src/index.js";
import { createRegistry } from "../../packages/gateway/src/operations/operation-registry.js";
import { storeOperations } from "../../packages/store/src/contract/index.js";
import { configurationPage } from "../../scripts/configuration-page.js";
import { referencePage } from "../../scripts/reference-page.js";

const page = (name: string) => readFileSync(new URL(`../../docs/reference/${name}`, import.meta.url), "utf8");

it("the configuration page matches the tables of fields and settings", () => {
  expect(
    page("configuration.md"),
    "docs/reference/configuration.md is out of date; `npm run reference` writes it",
  ).toBe(configurationPage({ entryFields: ENTRY_FIELDS, settingFields: SETTING_FIELDS }));
});

it("the operations page matches the definitions", async () => {
  const never = async () => {
    throw new Error("the reference opens nothing");
  };
  const registry = createRegistry({ backends: { hub: never, store: never, storeOperations }, workspace: "/" });
  expect(page("operations.md"), "docs/reference/operations.md is out of date; `npm run reference` writes it").toBe(
    referencePage([...registry.builtin, ...registry.sessionActions]),
  );
});
