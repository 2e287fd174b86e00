import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TokenUse } from "../../src/journal/journal.js";
import { exchangeOf } from "../operations/support.js";
import { type Answer, answerIn, type Office, openOffice, textIn, tokensOf } from "./support.js";

const spent: [TokenUse, string][] = [];
let office: Office;

beforeAll(async () => {
  office = await openOffice({ account: { add: (use, text) => spent.push([use, text]) } });
  await office.execute({
    operations: Array.from({ length: 40 }, (_, n) => ({
      op: "add",
      params: { name: `note-${n}.md`, content: `# Note ${n}\n\nword${n} shared\n${n === 7 ? "needle\n" : ""}` },
    })),
  });
});

afterAll(() => office[Symbol.asyncDispose]());

describe("what models write", () => {
  it.each<[string, Record<string, unknown>]>([
    ["steps as JSON in a text", { steps: '[{"op": "list", "params": {"limit": 2}}]' }],
    ["one step for the list", { steps: { op: "list", params: { limit: 2 } } }],
    ["a step without a list", { op: "list", params: { limit: 2 } }],
    ["a step without a list, parameters beside it", { op: "list", limit: 2 }],
    ["parameters beside op", { steps: [{ op: "list", limit: 2 }] }],
    ["params as JSON in a text", { steps: [{ op: "list", params: '{"limit": 2}' }] }],
    ["arguments for params", { steps: [{ op: "list", arguments: { limit: 2 } }] }],
    ["operation for op", { steps: [{ operation: "list", params: { limit: 2 } }] }],
    ["a tool call", { steps: [{ name: "list", arguments: { limit: 2 } }] }],
    ["tool for op", { steps: [{ tool: "list", params: { limit: 2 } }] }],
    ["the operation as a key", { steps: [{ list: { limit: 2 } }] }],
    ["operations for steps", { operations: [{ op: "list", params: { limit: 2 } }] }],
    ["maxTokens for max_tokens", { steps: [{ op: "list", params: { limit: 2 } }], maxTokens: "4000" }],
    ["a step as JSON in a text", { steps: ['{"op": "list", "params": {"limit": 2}}'] }],
  ])("%s is understood", async (_, args) => {
    expect((await office.query(args)).documents).toHaveLength(2);
  });

  it("a single operation counts as a step", async () => {
    expect(await office.query({ steps: ["status"] })).toMatchObject({ total_objects: expect.any(Number) });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["no steps", {}, { path: "steps" }],
    ["an empty list", { steps: [] }, { path: "steps" }],
    ["a step without op", { steps: [{ params: {} }] }, { path: "steps[0].op" }],
    ["a number for a step", { steps: [7] }, { path: "steps[0]" }],
    ["params that are none", { steps: [{ op: "list", params: [1] }] }, { path: "steps[0].params" }],
    [
      "an unknown parameter of query",
      { steps: ["list"], max_token: 5 },
      { hint: expect.stringContaining("max_tokens") },
    ],
    ["a field beside params", { steps: [{ op: "list", params: {}, limit: 1 }] }, { path: "steps[0].limit" }],
    ["a budget that is none", { steps: ["list"], max_tokens: "many" }, { path: "max_tokens" }],
    ["as: hash", { steps: [{ op: "list", as: "hash" }] }, { path: "steps[0].as" }],
    ["as: prev", { steps: [{ op: "list", as: "prev" }] }, { path: "steps[0].as" }],
    ["as with a blank", { steps: [{ op: "list", as: "a b" }] }, { path: "steps[0].as" }],
    [
      "a name twice",
      {
        steps: [
          { op: "list", as: "a" },
          { op: "list", as: "a" },
        ],
      },
      { path: "steps[1].as" },
    ],
  ])("%s is rejected with a hint", async (_, args, expected) => {
    const result = await office.call("query", args);
    expect(result.isError).toBe(true);
    expect(answerIn(result).error).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.any(String),
      hint: expect.any(String),
      ...expected,
    });
  });
});

describe("errors", () => {
  it("of one step have its index and path", async () => {
    const result = await office.call("query", { steps: [{ op: "list", params: { limt: 5 } }] });
    expect(result.isError).toBe(true);
    expect(answerIn(result)).toEqual({
      error: {
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining("limt"),
        hint: expect.stringContaining("limit"),
        path: "steps[0].params.limt",
        stepIndex: 0,
      },
    });
  });

  it("stop a pipeline but keep earlier results", async () => {
    const result = await office.call("query", {
      steps: [{ op: "list", params: { limit: 1 } }, { op: "get", params: { path: "no-such-file" } }, { op: "status" }],
    });
    expect(result.isError).toBe(true);
    expect(answerIn(result)).toMatchObject({
      steps: [
        { stepIndex: 0, op: "list", isError: false, result: { total: 40 } },
        { stepIndex: 1, op: "get", isError: true, result: { error: { code: "NOT_FOUND", stepIndex: 1 } } },
      ],
      totalSteps: 3,
      completedSteps: 1,
      error: { code: "NOT_FOUND", stepIndex: 1 },
    });
  });

  it("say that a write belongs in execute", async () => {
    for (const op of ["add", "github.create_issue"]) {
      const { error } = await office.query([{ op, params: { title: "x" } }]);
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", stepIndex: 0, hint: expect.stringContaining("execute") });
    }
    expect((await office.query(["start"])).error.hint).toContain("session");
  });

  it("suggest similar operations", async () => {
    expect((await office.query(["serch"])).error).toMatchObject({
      code: "NOT_FOUND",
      path: "steps[0].op",
      hint: expect.stringContaining("search"),
    });
  });

  it("of upstream tools keep the tool's wording", async () => {
    const result = await office.call("query", { steps: [{ op: "github.fail", params: { message: "no such label" } }] });
    expect(result.isError).toBe(true);
    expect(answerIn(result).error).toMatchObject({ code: "UPSTREAM", message: "no such label", stepIndex: 0 });
  });

  it("of a cancelled call are returned too", async () => {
    const controller = new AbortController();
    const exchange = { ...exchangeOf(), signal: controller.signal };
    const calling = office.call(
      "query",
      { steps: [{ op: "github.wait", params: { ms: 20_000 } }, "status"] },
      exchange,
    );
    setTimeout(() => controller.abort(), 50);
    expect(answerIn(await calling)).toMatchObject({ error: { code: "ABORTED" }, completedSteps: 0 });
  });
});

describe("warnings", () => {
  it("appear on the result of a single step", async () => {
    const answer = await office.query([{ op: "list", params: { offset: "$prev.nothing", limit: 1 } }]);
    expect(answer).toMatchObject({ total: 40, warnings: [expect.stringContaining("$prev.nothing")] });
  });

  it("appear on their step if there are several", async () => {
    const answer = await office.query(["status", { op: "list", params: { offset: "$prev.gone.deep", limit: 1 } }]);
    expect(answer.steps[0]).not.toHaveProperty("warnings");
    expect(answer.steps[1].warnings).toEqual([expect.stringContaining("$prev.gone.deep")]);
  });

  it("accompany the error that they may explain", async () => {
    const answer = await office.query(["list", { op: "search", params: { query: "$prev.results[0].hash" } }]);
    expect(answer.steps[1]).toMatchObject({
      isError: true,
      warnings: [expect.stringContaining("$prev.results[0].hash")],
    });
  });
});

describe("for_each", () => {
  it("keeps the order and puts errors in place of their items", async () => {
    const answer = await office.query([
      { op: "list", params: { limit: 3 } },
      { op: "get", for_each: ["note-3.md", "gone.md", "note-1.md"], params: { path: "$item", include_content: true } },
      { op: "grep", params: { pattern: "shared", hash: "$steps[1][0].hash" } },
    ]);
    expect(answer.steps[1].isError).toBe(false);
    expect(answer.steps[1].result[0].content).toContain("word3");
    expect(answer.steps[1].result[1]).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(answer.steps[1].result[2].content).toContain("word1");
    expect(answer.steps[2].result.total).toBe(1);
  });

  it("runs at most 16 items in parallel", async () => {
    let running = 0;
    let most = 0;
    const tools = await openOffice({
      run: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running--;
        return { value: { ok: true } };
      },
    });
    try {
      const answer = await tools.query([
        { op: "status", for_each: Array.from({ length: 50 }, (_, n) => n), params: { detailed: "$item" } },
      ]);
      expect(answer).toHaveLength(50);
      expect(most).toBe(16);
    } finally {
      await tools[Symbol.asyncDispose]();
    }
  });

  it("fails with a clear error if the value is not a list", async () => {
    expect((await office.query([{ op: "get", for_each: "$prev.results[*]", params: {} }])).error).toMatchObject({
      code: "REFERENCE_UNRESOLVED",
      message: expect.stringContaining("$prev.results[*]"),
    });
    expect((await office.query(["status", { op: "get", for_each: "$prev.total_objects" }])).error).toMatchObject({
      message: expect.stringContaining("number"),
    });
  });

  it("runs for at most 1,000 items, and says how to run it for more", async () => {
    const items = (length: number) => Array.from({ length }, () => "x");
    expect((await office.query([{ op: "describe", for_each: items(1000), params: {} }])).error).toBeUndefined();
    const { error } = await office.query([{ op: "describe", for_each: items(1001), params: {} }]);
    expect(error).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "for_each has 1,001 items, and a step runs for at most 1,000.",
      hint: 'Take a part of the list, such as "$prev.results[0:1000]", and the others in another query.',
    });
  });

  it("fails if every item failed", async () => {
    const result = await office.call("query", {
      steps: [{ op: "get", for_each: ["x", "y"], params: { path: "$item" } }],
    });
    expect(result.isError).toBe(true);
    expect(answerIn(result)).toMatchObject({ error: { code: "NOT_FOUND" }, results: [{ error: {} }, { error: {} }] });
  });

  it("over nothing returns nothing", async () => {
    const answer = await office.query([
      { op: "list", params: { pattern: "nothing-*" } },
      { op: "get", for_each: "$prev.documents[*]", params: { hash: "$item.hash" } },
    ]);
    expect(answer.steps[1]).toMatchObject({ result: [], isError: false });
  });
});

describe("grep in a stored result of one long line", () => {
  it("shows the text around the match and says how to read more; references see the whole line", async () => {
    const content = `${JSON.stringify(Array.from({ length: 4_000 }, (_, id) => ({ id })))}needle 🙂${"x".repeat(9_000)}`;
    const { results } = await office.execute([{ op: "add", params: { name: "long.json", content } }]);
    const grep = { op: "grep", params: { pattern: "needle", hash: results[0].hash, context: 1 } };
    const answer = await office.query([grep]);
    expect(answer.matches[0].text).toMatch(/^….*needle 🙂x+…$/);
    expect(answer.matches[0].text.length).toBeLessThan(500);
    expect(answer.notice).toContain("only_matching");
    const created = await office.execute([
      grep,
      { op: "add", params: { name: "copy.json", content: "$prev.matches[0].text" } },
    ]);
    expect(created.results[1].hash).toBe(results[0].hash);
    await office.execute([{ op: "delete", params: { names: ["long.json", "copy.json"] } }]);
  });
});

describe("documents of the previous step", () => {
  it.each<[string, unknown]>([
    ["list", { op: "list", params: { pattern: "note-7.md" } }],
    ["list of paths", { op: "list", params: { pattern: "note-7.md", paths_only: true } }],
    ["search", { op: "search", params: { query: "word7", type: "keyword", limit: 1 } }],
    ["grep", { op: "grep", params: { pattern: "word7 " } }],
    ["grep with files_with_matches", { op: "grep", params: { pattern: "word7 ", files_with_matches: true } }],
    ["grep with count", { op: "grep", params: { pattern: "word7 ", count: true } }],
    ["get", { op: "get", params: { path: "note-7.md" } }],
    ["get for each", { op: "get", for_each: ["note-7.md"], params: { path: "$item" } }],
  ])("%s → grep and get use them", async (_, first) => {
    const grep = await office.query([first, { op: "grep", params: { pattern: "shared|needle" } }]);
    expect(grep.steps[1].result.total).toBe(2);
    const get = await office.query([first, { op: "get", params: { include_content: true } }]);
    expect(JSON.stringify(get.steps[1].result)).toContain("needle");
    expect(JSON.stringify(get.steps[1].result)).not.toContain("word8");
  });

  it("grep says that it searched no others", async () => {
    const first = { op: "list", params: { pattern: "note-7.md" } };
    const grep = await office.query([first, { op: "grep", params: { pattern: "shared" } }]);
    expect(grep.steps[1].warnings).toEqual([
      "grep searched only the 1 document of the step before it; use paths to search others.",
    ]);
    const everywhere = await office.query([first, { op: "grep", params: { pattern: "shared", paths: ["**"] } }]);
    expect(everywhere.steps[1].warnings).toBeUndefined();
  });

  it("if none were found, nothing is searched", async () => {
    const answer = await office.query([
      { op: "list", params: { pattern: "nothing-*" } },
      { op: "grep", params: { pattern: "shared" } },
    ]);
    expect(answer.steps[1].result.total).toBe(0);
  });

  it("are not used if a step names its own, or if the previous step has none", async () => {
    const named = await office.query([
      { op: "list", params: { pattern: "note-7.md" } },
      { op: "grep", params: { pattern: "shared", paths: ["note-1.md", "note-2.md"] } },
    ]);
    expect(named.steps[1].result.total).toBe(2);
    const after = await office.query(["status", { op: "grep", params: { pattern: "shared" } }]);
    expect(after.steps[1].result.total).toBe(40);
    const unresolved = await office.query([
      { op: "list", params: { pattern: "note-7.md" } },
      { op: "get", params: { hash: "$prev.nothing" } },
    ]);
    expect(unresolved.steps[1].isError).toBe(true);
  });
});

describe("upstream values", () => {
  it("are structured content, parsed text or text", async () => {
    expect(await office.query([{ op: "github.search_issues", params: { q: "a" } }])).toMatchObject({ total_count: 3 });
    const list = await office.call("query", { steps: ["github.issues_text"] });
    expect(textIn(list)).toBe('[{"number":1},{"number":2}]');
    expect(list.structuredContent).toBeUndefined();
    const mapped = await office.query(["github.issues_text", { op: "github.wait", params: { ms: "$prev[1].number" } }]);
    expect(mapped.steps[1].result).toEqual({ waited: 2 });
  });

  it("keep their images as blocks", async () => {
    const result = await office.call("query", { steps: ["filesystem.picture"] });
    expect(answerIn(result)).toEqual({
      text: "one pixel",
      blocks: [{ type: "image", mimeType: "image/png", size: expect.any(Number) }],
    });
    expect(result.content[1]).toMatchObject({ type: "image", mimeType: "image/png", data: expect.any(String) });
    const two = await office.call("query", { steps: ["filesystem.picture", "status"] });
    expect(two.content).toHaveLength(2);
    expect(answerIn(two).steps[0].blocks).toHaveLength(1);
  });

  // The budget tests cover 40 MB; through a real server and a real store that would take a minute on a busy machine.
  it("of megabytes are stored whole and replaced by a handle", async () => {
    const result = await office.call("query", {
      steps: [
        { op: "filesystem.read_text_file", params: { path: "big.log", bytes: 4_000_000 } },
        { op: "github.wait", params: { ms: 1 } },
      ],
    });
    expect(tokensOf(result)).toBeLessThanOrEqual(8_000);
    const { hash, size, truncated } = answerIn(result).steps[0].result;
    expect({ truncated, isLarge: size > 3_999_999 }).toEqual({ truncated: true, isLarge: true });
    const tail = await office.query([{ op: "get", params: { hash, bytes: `${size - 50}-` } }]);
    expect(tail.content.endsWith("grüße 🙂\n")).toBe(true);
    const grep = await office.query([{ op: "grep", params: { pattern: "served in 12", hash, max_count: 2 } }]);
    expect(grep.matches).toHaveLength(2);
    expect(await office.query([{ op: "list", params: { limit: 1 } }])).toMatchObject({ total: 40 });
  });
});

describe("budgets", () => {
  it.each([30, 50, 200, 1_000])("an answer has at most %i tokens if requested", async (max) => {
    for (const steps of [
      [{ op: "list", params: {} }],
      [{ op: "list" }, { op: "grep", params: { pattern: "shared" } }, { op: "search", params: { query: "word1" } }],
      [{ op: "get", params: { path: "no-such-file" } }],
      Array.from({ length: 30 }, () => ({ op: "status" })),
    ]) {
      const result = await office.call("query", { steps, max_tokens: max });
      expect(tokensOf(result)).toBeLessThanOrEqual(max);
      answerIn(result);
    }
  });

  it("at most 8,000 tokens by default", async () => {
    const result = await office.call("query", { steps: Array.from({ length: 8 }, () => ({ op: "list" })) });
    expect(tokensOf(result)).toBeLessThanOrEqual(8_000);
    expect(answerIn(result).steps).toHaveLength(8);
  });

  it("by default show a small part of a large result, and with max_tokens as much as fits", async () => {
    const read = { op: "filesystem.read_text_file", params: { path: "big.log", bytes: 60_000 } };
    const adapted = await office.call("query", { steps: [read] });
    expect(tokensOf(adapted)).toBeLessThanOrEqual(1_000);
    expect(answerIn(adapted)).toMatchObject({ truncated: true, hash: expect.any(String) });
    const asked = await office.call("query", { steps: [read], max_tokens: 6_000 });
    expect(tokensOf(asked)).toBeLessThanOrEqual(6_000);
    expect(tokensOf(asked)).toBeGreaterThan(5_000);
  });

  it("by default show only a little of a result that a later step used", async () => {
    const read = { op: "filesystem.read_text_file", params: { path: "big.log", bytes: 8_000 } };
    const whole = answerIn(await office.call("query", { steps: [read, "status"] }));
    expect(whole.steps[0].result).not.toHaveProperty("truncated");
    const args = { steps: [read, { op: "github.search_issues", params: { q: "$prev.text" } }] };
    const used = await office.call("query", args);
    expect(answerIn(used).steps[0].result).toMatchObject({ truncated: true, hash: expect.any(String) });
    expect(JSON.stringify(answerIn(used).steps[0].result).length).toBeLessThan(600);
    const asked = answerIn(await office.call("query", { ...args, max_tokens: 20_000 }));
    expect(asked.steps[0].result).not.toHaveProperty("truncated");
  });

  it("are reported to the account, with schemas counted separately", async () => {
    spent.length = 0;
    const described = await office.call("query", { steps: ["describe"] });
    const listed = await office.call("query", { steps: ["list"] });
    expect(spent).toEqual([
      ["schemas", textIn(described)],
      ["results", textIn(listed)],
    ]);
  });

  it("without spilling store nothing", async () => {
    const tools = await openOffice({ spill: false });
    try {
      const args = { steps: [{ op: "filesystem.read_text_file", params: { path: "big.log" } }] };
      const answer: Answer = await tools.query(args);
      expect(answer).toMatchObject({ truncated: true, size: expect.any(Number) });
      expect(answer).not.toHaveProperty("hash");
      expect(await tools.query(["status"])).toMatchObject({ total_objects: 0 });
    } finally {
      await tools[Symbol.asyncDispose]();
    }
  });
});

describe("progress", () => {
  it("of several steps only increases", async () => {
    const seen: number[] = [];
    const exchange = { ...exchangeOf(), onProgress: ({ progress }: { progress: number }) => void seen.push(progress) };
    await office.query(
      [
        { op: "status", for_each: [1, 2, 3] },
        { op: "get", for_each: ["note-1.md", "note-2.md"], params: { path: "$item" } },
      ],
      exchange,
    );
    expect(seen.length).toBeGreaterThan(3);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(new Set(seen).size).toBe(seen.length);
  });
});
