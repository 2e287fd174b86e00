import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { camelCase, fromWire, OPERATIONS, type OperationName, snakeCase, toWire } from "../../src/contract/index.js";
import { requireParams } from "../../src/contract/require-params.js";
import { openStore, Store } from "../../src/index.js";

const operations = Object.entries(OPERATIONS);

describe("the table of operations", () => {
  it.each(operations)("%s is a method of the store", (name) => {
    expect(Store.prototype).toHaveProperty(camelCase(name), expect.any(Function));
  });

  it.each(operations)(
    "%s has aliases that map to one parameter each and are not parameters themselves",
    (_, { params }) => {
      const names = Object.keys(params);
      const aliases = Object.values(params).flatMap(
        (parameter: { aliases?: readonly string[] }) => parameter.aliases ?? [],
      );
      expect(aliases).toEqual([...new Set(aliases)]);
      expect(aliases.filter((alias) => names.includes(alias))).toEqual([]);
    },
  );

  it("has one spelling per name", () => {
    const names = operations.flatMap(([name, { params }]) => [name, ...Object.keys(params)]);
    expect(names.filter((name) => snakeCase(camelCase(name)) !== name)).toEqual(["outputPath"]);
  });
});

describe("parameters of the wrong type", () => {
  it.each([
    ["search", { query: 3 }, "query of search must be a string, not number."],
    ["search", {}, "query of search must be a string, not undefined."],
    ["search", undefined, "search takes an object with its parameters."],
    ["search", { query: "x", limit: "3" }, "limit of search must be a number, not string."],
    ["add", { content: "x", name: "a.md", tags: "decision" }, "tags of add must be an array, not string."],
    ["list_snapshots", null, "listSnapshots takes an object with its parameters."],
    [
      "get",
      { path: "a.md", include_content: 1, includeContent: 1 },
      "includeContent of get must be true or false, not number.",
    ],
  ] as const)("of %s are rejected: %j", (name, params, message) => {
    // As a program without types would call it.
    expect(() => requireParams(name, params as never)).toThrow(message);
  });

  it.each(operations)("are not in the example of %s", (name, { example }) => {
    expect(() => requireParams(name as OperationName, fromWire(example))).not.toThrow();
  });

  it("are named by the methods of a store", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trunkline-params-"));
    const store = await openStore({ path: folder });
    try {
      await expect(store.search({ query: 3 } as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      await expect(store.add(undefined as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    } finally {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("the folder of a store", () => {
  it.each([[undefined], [{}], [{ path: 7 }], [{ path: "" }]])("is required: %j", async (options) => {
    // As a program without types would call it.
    await expect(openStore(options as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("is not a file", async () => {
    const path = fileURLToPath(import.meta.url);
    await expect(openStore({ path })).rejects.toMatchObject({
      code: "IO",
      message: `Cannot create the store's folder ${path}: it is a file.`,
    });
  });
});

describe("the wire spelling", () => {
  it("applies to results at every depth", () => {
    const result = { snapshotId: "s", results: [{ timedOut: { budgetMs: 1 } }], total: 2, none: null };
    expect(toWire(result)).toEqual({
      snapshot_id: "s",
      results: [{ timed_out: { budget_ms: 1 } }],
      total: 2,
      none: null,
    });
  });

  it("leaves the user's own keys alone", () => {
    const metadata = { authorName: "Ada", nested: { keptAsIs: true } };
    const fileTypes = { ".camelCase": { documents: 1 } };
    expect(toWire({ metadata, fileTypes })).toEqual({ metadata, file_types: fileTypes });
    expect(toWire({ outputPath: "x", newBytes: 1 })).toEqual({ outputPath: "x", new_bytes: 1 });
    expect(fromWire({ include_content: true, outputPath: "x", metadata: { my_key: 1 } })).toEqual({
      includeContent: true,
      outputPath: "x",
      metadata: { my_key: 1 },
    });
  });
});
