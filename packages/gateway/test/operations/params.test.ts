import { storeOperations } from "@trunkline/store";
import { describe, expect, it } from "vitest";
import type { Operation, Params } from "../../src/interfaces/operation.js";
import { createRegistry } from "../../src/operations/operation-registry.js";

const never = async () => {
  throw new Error("nothing is opened for parameters");
};
const registry = createRegistry({ backends: { hub: never, store: never, storeOperations }, workspace: "/workspace" });

function operation(name: string): Operation {
  const found = [...registry.builtin, ...registry.sessionActions].find((each) => each.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}

describe("parameters", () => {
  it.each<[string, Params, Params]>([
    ["search", { query: "x", limit: "5", fuzzy: "false" }, { query: "x", limit: 5, fuzzy: false }],
    ["search", { q: "x", top_k: 3, tag: "a" }, { query: "x", limit: 3, tags: ["a"] }],
    ["search", { query: 42, pathsOnly: true }, { query: "42", paths_only: true }],
    ["search", { query: "x", limit: null, tags: '["a", "b"]' }, { query: "x", tags: ["a", "b"] }],
    ["search", { query: "x", session: "true" }, { query: "x", session: true }],
    ["search", { query: "x", metadata: '{"team": "core"}' }, { query: "x", metadata: { team: "core" } }],
    ["search", { query: "x", metadata: "team=core" }, { query: "x", metadata: ["team=core"] }],
    [
      "grep",
      { regex: "x", "-i": true, "-C": "2", path: "src" },
      { pattern: "x", ignore_case: true, context: 2, paths: ["src"] },
    ],
    ["grep", { pattern: "x", "-c": true, ignoreCase: 1 }, { pattern: "x", count: true, ignore_case: true }],
    ["get", { name: "a.md", output_path: "b.md" }, { path: "a.md", outputPath: "b.md" }],
    ["get", { path: "a.md", lines: 10 }, { path: "a.md", lines: "10" }],
    ["add", { path: "a.md", tags: "minutes" }, { path: "a.md", tags: ["minutes"] }],
    ["add", { content: { a: [1] }, name: "a.json" }, { content: '{\n  "a": [\n    1\n  ]\n}', name: "a.json" }],
    ["search", { hash: "9f86d081" }, { query: "", hash: "9f86d081" }],
    ["start", { name: "release" }, { label: "release" }],
    ["watch", { path: "src" }, { paths: ["src"] }],
    ["describe", { op: "search" }, { target: "search" }],
    ["snapshot", { name: "x", label: "x" }, { label: "x" }],
  ])("%s accepts %j", (name, given, read) => {
    expect(operation(name).validate(given)).toEqual(read);
  });

  it.each<[string, Params, string, RegExp, string]>([
    ["search", {}, "search needs query.", /describe/, "query"],
    ["search", { query: "x", limt: 5 }, 'search has no parameter "limt".', /^Did you mean limit\?/, "limt"],
    [
      "search",
      { query: "x", whatever: 5 },
      'search has no parameter "whatever".',
      /^Available: query, limit/,
      "whatever",
    ],
    [
      "search",
      { query: "x", limit: "many" },
      'limit has to be a whole number of at least 1, not "many".',
      /./,
      "limit",
    ],
    ["search", { query: "x", limit: 0 }, "limit has to be a whole number of at least 1, not 0.", /./, "limit"],
    ["search", { query: "x", similarity: 2 }, "similarity has to be a number from 0 to 1, not 2.", /./, "similarity"],
    [
      "search",
      { query: "x", type: "fast" },
      'type has to be one of hybrid, keyword, semantic, not "fast".',
      /./,
      "type",
    ],
    ["search", { query: ["x"] }, "query has to be text, not a list.", /./, "query"],
    [
      "grep",
      { pattern: "x", documents: [{ hash: {} }] },
      "documents[0].hash has to be text, not an object.",
      /./,
      "documents[0].hash",
    ],
    ["add", { path: "x", metadata: 5 }, "metadata has to be an object or a list of strings, not 5.", /./, "metadata"],
    [
      "snapshot",
      { name: "x", label: "y" },
      "name and label are the same parameter. Use only one of them.",
      /./,
      "label",
    ],
    ["grep", { pattern: "x", ext: "ts" }, 'grep has no parameter "ext".', /^Available: pattern, paths/, "ext"],
    ["search", { query: "x", __proto__x: 1 }, 'search has no parameter "__proto__x".', /./, "__proto__x"],
    ["search", { query: "x", constructor: 1 }, 'search has no parameter "constructor".', /./, "constructor"],
    ["list_collections", { limit: 1 }, 'list_collections has no parameter "limit".', /It has no parameters/, "limit"],
  ])("%s rejects %j", (name, given, message, hint, parameter) => {
    expect(() => operation(name).validate(given)).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENT",
        message,
        hint: expect.stringMatching(hint),
        data: expect.objectContaining({ parameter }),
      }),
    );
  });

  it("schemas show defaults and descriptions without noise", () => {
    const { schema } = operation("search");
    expect(schema).toMatchObject({
      type: "object",
      required: ["query"],
      additionalProperties: false,
      properties: { limit: { type: "integer", minimum: 1, default: 10 }, fuzzy: { default: true } },
    });
    expect(JSON.stringify(schema)).not.toMatch(/\$schema|9007199254740991|propertyNames/);
  });

  it.each([...registry.builtin, ...registry.sessionActions].map((each) => [each.name, each] as const))(
    "%s has a one-line summary, a working example, and a description for each parameter",
    (_, { summary, example, schema, validate }) => {
      expect(summary).toMatch(/^[A-Z][^\n]{5,120}\.$/);
      expect(validate(example ?? {})).toEqual(example);
      for (const property of Object.values(schema.properties as Record<string, { description?: string }>)) {
        expect(property.description).toMatch(/^.{5,}[.]$/s);
      }
    },
  );

  it("the registry lists our own operations", () => {
    expect(registry.builtin.map(({ name }) => name)).toEqual([
      "search",
      "grep",
      "list",
      "get",
      "graph",
      "diff",
      "list_collections",
      "list_snapshots",
      "status",
      "describe",
      "add",
      "update",
      "delete",
      "undelete",
      "snapshot",
      "restore",
      "download",
    ]);
  });
});
