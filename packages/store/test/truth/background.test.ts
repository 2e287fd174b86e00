import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary.js";
import { StoreProcess } from "./store-process.js";

describe("background indexing", () => {
  it("is finished by another process if the one that added a document was killed", async () => {
    const cwd = await temporaryFolder();
    const start = (name: string, lazy: boolean) => StoreProcess.start(name, { store: join(cwd, "store"), cwd, lazy });
    const writer = await start("writer", false);
    const idle = await start("idle", false);
    const lazy = await start("lazy", true);
    const names = Array.from({ length: 100 }, (_, number) => `f${number}`);
    const add = (name: string) =>
      writer.call("add", { name: `/p/${name}.ts`, content: `export function ${name}() {}\n` });
    await Promise.all(names.map(add));
    await writer.kill();
    for (const store of [lazy, idle]) {
      await store.call("indexed");
      const found = await store.call("graph", { listType: "file", limit: 1 });
      expect(found).toMatchObject({ total: names.length });
      expect(found.notice).toBe(undefined);
    }
  });
});
