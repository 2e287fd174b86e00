import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBench } from "../operations/support.js";
import { type Answer, type Office, openOffice } from "./support.js";

let office: Office;

beforeAll(async () => {
  office = await openOffice();
  await office.execute([
    { op: "add", params: { name: "one/a.md", content: "shared alpha", collection: "one" } },
    { op: "add", params: { name: "two/b.md", content: "shared beta", collection: "two", tags: ["kept"] } },
  ]);
});

afterAll(() => office[Symbol.asyncDispose]());

const UNRESOLVED = "REFERENCE_UNRESOLVED";
const issue = { op: "github.create_issue", params: { title: "T" }, as: "w" };
const livePaths = async (): Promise<string[]> => {
  const { documents } = await office.query([{ op: "list", params: {} }]);
  return documents.map(({ path }: Answer) => path).sort();
};

describe("an unresolved reference in execute", () => {
  it.each<[string, unknown]>([
    ["a missing field", "$prev.gone"],
    ["a missing field of a named step", "$w.gone"],
    ["a missing index", "$w.result[3]"],
    ["a field that some items lack", "$list.documents[*].gone"],
    ["a missing step", "$steps[9].title"],
    ["the step list without an index", "$steps.title"],
    ["an item outside for_each", "$item.path"],
    ["the step itself", "$self.title"],
    ["a step that comes later", "$later.title"],
    ["a name that no step has", "$gone.title"],
    ["a path that is not one", "$w.title[?x]"],
    ["content of a missing hash", "$hash:$w.gone"],
    ["content of something else", "$hash:$w.number"],
    ["content of a step that does not exist", "$hash:$gone.hash"],
    ["a reference inside a text", "It is {{$w.gone}}"],
    ["a later step inside a text", "It is {{$later.title}}"],
    ["a reference inside a list", ["x", ["$w.gone"]]],
    ["a reference inside an object", { a: [{ b: "$w.gone" }] }],
  ])("fails the operation before it is sent: %s", async (_, content) => {
    const answer = await office.execute([
      { op: "list", params: {}, as: "list" },
      issue,
      { op: "add", params: { name: "unsent.md", content }, as: "self" },
      { op: "status", as: "later" },
    ]);
    expect(answer.results[2]).toMatchObject({ success: false, error: { code: UNRESOLVED, stepIndex: 2 } });
    expect(answer).toMatchObject({ failed: 1, notRun: 1 });
    expect(await livePaths()).not.toContain("unsent.md");
  });

  it("never reaches a server, whose earlier steps have run", async () => {
    const answer = await office.execute([issue, { op: "slack.upload", params: { content: "$w.gone" } }]);
    expect(answer.results[1]).toMatchObject({ success: false, error: { code: UNRESOLVED } });
    expect(answer.results[1].error.message).toContain("$w has");
    expect(answer.results[1].error.path).toBe("operations[1].params.content");
  });

  it("says how to write a literal dollar sign, which still works", async () => {
    const answer = await office.execute([{ op: "slack.upload", params: { content: "$prev.title" } }]);
    expect(answer.results[0].error.hint).toContain("$$");
    const literal = await office.execute([
      { op: "slack.upload", params: { content: "$$prev.title" } },
      { op: "slack.upload", params: { content: "Use {{ $labels.instance }} and $5" } },
      { op: "slack.upload", params: { content: "$address.city" } },
    ]);
    expect(literal.results.map(({ result }: Answer) => result?.bytes)).toEqual([11, 33, 13]);
  });

  it.each([
    "$fuond.title",
    "{{$fuond.title}}",
    "It is {{ $fuond.title }}",
    "{{$found .title}}",
    "{{ $found.title | x }}",
  ])("to a misspelt step is not sent to a server as text: %s", async (content) => {
    const answer = await office.execute([
      { ...issue, as: "found" },
      { op: "slack.upload", params: { content } },
    ]);
    expect(answer.results[1].error).toMatchObject({ code: UNRESOLVED, message: expect.stringContaining("found") });
  });

  it.each<[string, object]>([
    ["add", { name: "$lang.tsx", content: "$scope.items" }],
    ["add", { name: "scope.js", content: "x", metadata: { selector: "$refs.input" } }],
    ["slack.upload", { content: "{{ $item := .Values }} {{ $labels.job }}" }],
  ])("is not found in the words of other programs: %s %j", async (op, params) => {
    const answer = await office.execute([...(op === "add" ? [] : [issue]), { op, params }]);
    expect(answer.failed ?? 0).toBe(0);
    if ("name" in params) await office.execute([{ op: "delete", params: { names: [params.name] } }]);
  });

  it("does not delete from every collection", async () => {
    const operations = [issue, { op: "delete", params: { pattern: "**", collection: "$w.collection" } }];
    for (const more of [{}, { continueOnError: true }]) {
      expect((await office.execute({ operations, ...more })).results[1].error.code).toBe(UNRESOLVED);
      expect(await livePaths()).toEqual(expect.arrayContaining(["one/a.md", "two/b.md"]));
    }
  });

  it.each(["{{$empty.title}}**", "one/{{$empty.title}}", "{{$empty.none}}*"])(
    "does not widen a pattern in which it is only a part: %s",
    async (pattern) => {
      const answer = await office.execute([
        { op: "github.create_issue", params: { title: "" }, as: "empty" },
        { op: "delete", params: { pattern } },
      ]);
      expect(answer.results[1].error).toMatchObject({ code: UNRESOLVED });
      expect(await livePaths()).toEqual(expect.arrayContaining(["one/a.md", "two/b.md"]));
    },
  );

  it.each(["$nope.x", "{{$nope.x}}", "two/{{$nope.x}}", "$w.gone ", "two/$w.title", "${w.title}"])(
    "does not exclude nothing: %s",
    async (exclude) => {
      for (const params of [{ exclude_patterns: [exclude] }, { exclude }]) {
        const to = "restored";
        const answer = await office.execute([issue, { op: "restore", params: { collection: "two", to, ...params } }]);
        expect(answer.results[1].error).toMatchObject({ code: UNRESOLVED });
      }
    },
  );

  it("is not skipped with continueOnError, and neither is a step that refers to the failed one", async () => {
    const answer = await office.execute({
      continueOnError: true,
      operations: [
        { op: "update", params: { name: "nobody.md", tags: ["x"] }, as: "w" },
        { op: "add", params: { name: "c-1", content: "{{$w.matched}}" }, as: "x" },
        { op: "add", params: { name: "c-2", content: "$x" } },
        { op: "add", params: { name: "c-3", content: "{{$x.hash}}" } },
        { op: "add", params: { name: "c-4", content: "{{$w.error.code}}" } },
        { op: "add", params: { name: "c-5", content: "fine" } },
      ],
    });
    expect(answer.results.map(({ error }: Answer) => error?.code)).toEqual([
      ...["NOT_FOUND", UNRESOLVED, UNRESOLVED, UNRESOLVED, undefined, undefined],
    ]);
    expect(answer.results[1].error.message).toContain("NOT_FOUND");
    expect(await livePaths()).toEqual(["c-4", "c-5", "one/a.md", "two/b.md"]);
    await office.execute([{ op: "delete", params: { names: ["c-4", "c-5"] } }]);
  });

  it("includes the documents of a failed step: grep does not search everything instead", async () => {
    const answer = await office.execute({
      continueOnError: true,
      operations: [
        { op: "list", params: { collection: "nobody" } },
        { op: "grep", params: { pattern: "shared" } },
      ],
    });
    expect(answer.results.map(({ error }: Answer) => error?.code)).toEqual(["NOT_FOUND", UNRESOLVED]);
  });

  it("undoes an atomic batch", async () => {
    const answer = await office.execute({
      atomic: true,
      operations: [
        { op: "add", params: { name: "atomic.md", content: "x" }, as: "w" },
        { op: "delete", params: { name: "two/b.md", collection: "$w.gone" } },
      ],
    });
    expect(answer).toMatchObject({ undone: true, results: [{ undone: true }, { error: { code: UNRESOLVED } }] });
    expect(await livePaths()).toEqual(["one/a.md", "two/b.md"]);
  });

  it("is found by a dry run, unless the step it refers to would only run then", async () => {
    const answer = await office.execute({
      dry_run: true,
      continueOnError: true,
      operations: [
        { op: "add", params: { name: "dry.md", content: "x" }, as: "w" },
        { op: "list", params: {}, as: "l" },
        { op: "update", params: { name: "$w.path", tags: ["{{$w.anything}}"] } },
        { op: "delete", params: { name: "$l.gone" } },
        { op: "delete", params: { name: "$steps[12].path" } },
        { op: "list", params: { collection: "$w.anything" } },
      ],
    });
    expect(answer.results.map(({ error, dry_run }: Answer) => error?.code ?? dry_run)).toEqual([
      ...[true, undefined, true, UNRESOLVED, UNRESOLVED, true],
    ]);
    expect(answer.results[5]).not.toHaveProperty("documents");
  });
});

describe("a reference that leads to nothing", () => {
  it.each<[string, unknown]>([
    ["null", null],
    ["an empty list", []],
    ["an empty text", ""],
    ["an empty object", {}],
    ["a list of empty texts", [""]],
  ])("does not widen what a parameter narrows: %s", async (_, value) => {
    const reads = await office.query([{ op: "list", for_each: [{ value }], params: { tags: "$item.value" } }]);
    expect(reads.error.code).toBe(UNRESOLVED);
    await office.execute([{ op: "add", params: { name: "m.md", content: "m", collection: "m", metadata: { value } } }]);
    const answer = await office.execute([
      { op: "get", params: { path: "m.md" }, as: "w" },
      { op: "delete", params: { pattern: "t*/**", collection: "$w.metadata.value" } },
    ]);
    expect(answer.results[1].error.code).toBe(UNRESOLVED);
    expect(await livePaths()).toContain("two/b.md");
    await office.execute([{ op: "delete", params: { name: "m.md" } }]);
  });

  it("is a value like any other where it narrows nothing", async () => {
    const answer = await office.execute([
      { op: "get", params: { path: "two/b.md" }, as: "w" },
      { op: "add", params: { name: "empty.md", content: "x", tags: "$w.metadata_keys" } },
    ]);
    expect(answer.results[1].error.code).toBe(UNRESOLVED);
    const tags = await office.execute([
      { op: "get", params: { path: "one/a.md" }, as: "w" },
      { op: "add", params: { name: "empty.md", content: "x", tags: "$w.tags" } },
    ]);
    expect(tags.results[1].success).toBe(true);
    await office.execute([{ op: "delete", params: { name: "empty.md" } }]);
  });
});

describe("an unresolved reference in query", () => {
  it.each<[string, object]>([
    ["list", { collection: "$prev.gone" }],
    ["list", { tags: ["$prev.gone"] }],
    ["list", { metadata: { team: "$prev.gone" } }],
    ["list", { snapshot: "$prev.gone" }],
    ["list", { session: "$prev.gone" }],
    ["list", { glob: "$prev.gone" }],
    ["list", { Pattern: "{{$prev.gone}}/**" }],
    ["list", { extension: "$later.extension" }],
    ["grep", { pattern: "shared", paths: "$prev.documents[*].gone" }],
    ["grep", { pattern: "shared", path: "$prev.gone" }],
    ["grep", { pattern: "shared", hash: "$prev.gone" }],
    ["search", { query: "shared", path_pattern: "$prev.gone" }],
    ["get", { path: "one/a.md", lines: "$prev.gone" }],
    ["graph", { name: "one/a.md", relation: "$prev.gone" }],
  ])("does not widen %s %j", async (op, params) => {
    const answer = await office.query([
      { op: "list", params: {} },
      { op, params },
      { op: "status", as: "later" },
    ]);
    expect(answer.steps[1].result.error).toMatchObject({ code: UNRESOLVED });
    expect(answer.steps).toHaveLength(2);
  });

  it("does not widen a step whose parameters are all taken from it, or that repeats over it", async () => {
    for (const step of [
      { op: "list", params: "$prev.gone" },
      { op: "github.search_issues", params: "$prev.gone" },
      { op: "get", for_each: "$prev.gone", params: { path: "$item" } },
      { op: "get", for_each: "$prev.documents[*].gone", params: { path: "$item" } },
    ]) {
      const answer = await office.query([{ op: "list", params: {} }, step]);
      expect(answer.steps[1].result.error, JSON.stringify(step)).toMatchObject({ code: UNRESOLVED });
    }
  });

  it("fails only the items that lack it in for_each", async () => {
    const answer = await office.query([
      { op: "list", params: {} },
      { op: "list", for_each: [{ c: "one" }, { d: "two" }], params: { collection: "$item.c" } },
    ]);
    const [one, two] = answer.steps[1].result;
    expect(one.total).toBe(1);
    expect(two.error.code).toBe(UNRESOLVED);
  });

  it("is null with a warning anywhere else", async () => {
    const answer = await office.query([
      { op: "list", params: {} },
      { op: "list", params: { collection: "one", limit: "$prev.gone" } },
      { op: "github.search_issues", params: { q: "$prev.gone" } },
    ]);
    expect(answer.steps[1].result.total).toBe(1);
    expect(answer.steps[1].warnings).toEqual([expect.stringContaining("null was used")]);
    expect(answer.steps[2].warnings).toEqual([expect.stringContaining("null was used")]);
  });
});

it.each<[string, object]>([
  ["get", { name: "$page.tsx" }],
  ["list", { pattern: "$scope.items" }],
  ["list", { tags: ["$env.prod"] }],
])("a text with a dollar sign is a text if no step has a name: %s %j", async (op, params) => {
  const answer = await office.query([{ op, params }]);
  expect(JSON.stringify(answer)).not.toContain(UNRESOLVED);
});

describe("the table of operations", () => {
  it("marks every parameter that selects documents or parts of them", async () => {
    await using bench = await openBench({});
    const marked = bench.registry.builtin.flatMap((operation) =>
      Object.keys((operation.schema.properties as object | undefined) ?? {})
        .filter((name) => operation.narrows?.(name) !== false)
        .map((name) => `${operation.name}.${name}`),
    );
    for (const operation of bench.registry.builtin) {
      for (const name of ["collection", "tags", "metadata", "session", "paths", "pattern", "include", "exclude"]) {
        const schema = (operation.schema.properties as Record<string, { description?: string }> | undefined)?.[name];
        if (operation.kind !== "read" || schema === undefined || operation.name === "describe") continue;
        if (`${operation.name}.${name}` === "grep.pattern") continue;
        expect(marked).toContain(`${operation.name}.${name}`);
      }
    }
    expect(marked).toEqual(expect.arrayContaining(["delete.collection", "delete.dry_run", "update.collection"]));
    expect(marked).not.toContain("list.limit");
  });
});
