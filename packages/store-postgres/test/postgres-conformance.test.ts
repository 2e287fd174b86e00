import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asContentStore } from "@trunkline/store";
import { contentStoreCases } from "@trunkline/store/testing";
import { describe, it } from "vitest";
import { openPostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";

describe("the store on PostgreSQL as a ContentStore", () => {
  for (const { name, run } of contentStoreCases) {
    it(name, async () => {
      const folder = await mkdtemp(join(tmpdir(), "trunkline-store-"));
      const db = await pgliteDatabase();
      try {
        await run({
          folder,
          open: async () =>
            asContentStore(
              await openPostgresStore({ driver: pgliteDriver(db), cwd: folder, folder: join(folder, ".own") }),
            ),
        });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});
