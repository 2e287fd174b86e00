import { describe, expect, it } from "vitest";
import { camelCase, fromWire, OPERATIONS, snakeCase, toWire } from "../../src/contract/index.js";
import { Store } from "../../src/index.js";

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
