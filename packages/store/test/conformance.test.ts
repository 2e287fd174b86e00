import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { asContentStore, openStore } from "../src/index.js";
import { contentStoreCases } from "../src/testing.js";

describe("the embedded store as a ContentStore", () => {
  for (const { name, run } of contentStoreCases) {
    it(name, async () => {
      const folder = await mkdtemp(join(tmpdir(), "trunkline-store-"));
      try {
        await run({ folder, open: async () => asContentStore(await openStore({ path: ".store", cwd: folder })) });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});
