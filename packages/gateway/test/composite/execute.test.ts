import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentIdOf } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createRunner } from "../../src/operations/run-operation.js";
import { exchangeOf } from "../operations/support.js";
import { type Answer, answerIn, type Office, openOffice, tokensOf } from "./support.js";

let office: Office;

beforeAll(async () => {
  office = await openOffice();
});

afterAll(() => office[Symbol.asyncDispose]());

const add = (name: string, content: string, more: object = {}) => ({ op: "add", params: { name, content, ...more } });
const fail = { op: "update", params: { name: "nobody-has-this-name.md", tags: ["x"] } };
const document = async (path: string, more: object = {}): Promise<Answer> =>
  await office.query([{ op: "get", params: { path, include_content: true, ...more } }]);

describe("a batch", () => {
  it("stops at the first error", async () => {
    const result = await office.call("execute", { operations: [add("stop-1", "1"), fail, add("stop-2", "2")] });
    expect(result.isError).toBe(true);
    expect(answerIn(result)).toMatchObject({
      results: [
        { op: "add", success: true, hash: contentIdOf("1") },
        { op: "update", success: false, error: { code: "NOT_FOUND", hint: expect.any(String), stepIndex: 1 } },
      ],
      totalOps: 3,
      succeeded: 1,
      failed: 1,
      notRun: 1,
    });
    expect((await document("stop-2")).error.code).toBe("NOT_FOUND");
  });

  it("continues if asked to", async () => {
    const result = await office.call("execute", {
      operations: [add("on-1", "1"), fail, add("on-2", "2")],
      continueOnError: true,
    });
    expect(result.isError).toBeUndefined();
    expect(answerIn(result)).toMatchObject({ totalOps: 3, succeeded: 2, failed: 1 });
    expect((await document("on-2")).content).toBe("2");
  });

  it("supports $prev, names and $steps", async () => {
    const answer = await office.execute([
      { ...add("ref-1", "one"), as: "first" },
      { op: "update", params: { hash: "$prev.hash", tags: ["of {{$first.path}}"] } },
      add("ref-2", "matched {{$prev.matched}}, hash {{$steps[0].hash}}"),
    ]);
    expect(answer.failed).toBe(0);
    expect((await document("ref-1")).tags).toEqual(["of ref-1"]);
    expect((await document("ref-2")).content).toBe(`matched 1, hash ${contentIdOf("one")}`);
  });

  it("puts an upstream operation's value in result and makes its fields available to $prev", async () => {
    const answer = await office.execute([
      { op: "github.create_issue", params: { title: "Broken" } },
      { op: "slack.upload", params: { content: "#{{$prev.number}} {{$prev.result.title}}" } },
      { op: "slack.upload", params: { content: "$hash:$steps[0].hash" } },
    ]);
    expect(answer.results[0]).toEqual({
      op: "github.create_issue",
      success: true,
      result: { number: 7, title: "Broken", hash: "not a content id" },
    });
    expect(answer.results[1].result.bytes).toBe("#7 Broken".length);
    expect(answer.results[2].success).toBe(true);
  });

  it("inserts content by its hash: text as text, binary as base64", async () => {
    const store = await office.bench.store();
    const binary = await store.put(new Uint8Array([0xff, 0xfe, 0, 1]));
    const text = await store.put(new TextEncoder().encode("grüße 🙂"));
    const answer = await office.execute([
      { op: "slack.upload", params: { content: `$hash:${binary}` } },
      { op: "slack.upload", params: { content: `$hash:sha256-${text.slice(0, 12)}` } },
      { op: "slack.upload", params: { content: "$hash:0123456789" } },
    ]);
    expect(answer.results[0].result.sha256).toBe(contentIdOf("//4AAQ=="));
    expect(answer.results[1].result.sha256).toBe(text);
    expect(answer.results[2].error.code).toBe("NOT_FOUND");
  });

  it("keeps its answer within the budget", async () => {
    const operations = Array.from({ length: 60 }, (_, n) => add(`budget-${n}`, `${n}`));
    for (const max_tokens of [40, 500]) {
      const result = await office.call("execute", { operations, max_tokens });
      expect(tokensOf(result)).toBeLessThanOrEqual(max_tokens);
      expect(answerIn(result).truncated).toBe(true);
    }
    expect((await office.execute({ operations })).results).toHaveLength(60);
  });

  it("accepts read operations too but rejects session actions", async () => {
    expect((await office.execute(["status"])).results[0]).toMatchObject({ op: "status", success: true });
    expect((await office.execute(["start"])).results[0].error.hint).toContain("session");
  });

  it("rejects invalid and conflicting options", async () => {
    for (const args of [
      { operations: [add("x", "x")], atomic: true, continueOnError: true },
      { operations: [add("x", "x")], idempotency_key: "" },
      { operations: [add("x", "x")], dry_run: "perhaps" },
      { operations: [{ ...add("x", "x"), for_each: [1] }] },
    ]) {
      expect(answerIn(await office.call("execute", args)).error.code).toBe("INVALID_ARGUMENT");
    }
  });
});

describe("atomic", () => {
  it("does everything if nothing fails", async () => {
    const answer = await office.execute({ operations: [add("all-1", "1"), add("all-2", "2")], atomic: true });
    expect(answer).toMatchObject({ succeeded: 2, failed: 0 });
    expect((await document("all-2")).content).toBe("2");
  });

  it("undoes adds, updates, deletes and undeletes on the first failure", async () => {
    await office.execute([
      add("keep.md", "before", { tags: ["old"], metadata: { state: "draft", n: 1 } }),
      add("other.md", "other", { tags: ["a"] }),
      add("trashed.md", "trashed"),
      add("log-1.md", "l1"),
      add("log-2.md", "l2"),
      { op: "delete", params: { name: "trashed.md" } },
    ]);
    const names = ["keep.md", "other.md", "log-1.md", "log-2.md"];
    const before = await Promise.all(names.map((name) => document(name)));
    const result = await office.call("execute", {
      atomic: true,
      operations: [
        add("keep.md", "after", { tags: ["new"], metadata: { state: "final", extra: true } }),
        add("fresh.md", "fresh"),
        { op: "update", params: { name: "other.md", tags: ["b"], remove_tags: ["a"], metadata: ["k=v"] } },
        { op: "delete", params: { name: "log-*.md" } },
        { op: "undelete", params: { name: "trashed.md" } },
        fail,
      ],
    });
    expect(result.isError).toBe(true);
    expect(answerIn(result)).toMatchObject({
      results: [
        { op: "add", success: false, undone: true },
        { undone: true },
        { undone: true },
        { undone: true },
        { undone: true },
        { op: "update", success: false, error: { code: "NOT_FOUND", stepIndex: 5 } },
      ],
      totalOps: 6,
      succeeded: 0,
      failed: 1,
      undone: true,
    });
    const after = await Promise.all(names.map((name) => document(name)));
    const shown = ({ path, hash, tags, metadata, content, state }: Answer) => ({
      path,
      hash,
      tags,
      metadata,
      content,
      state,
    });
    expect(after.map(shown)).toEqual(before.map(shown));
    expect((await document("fresh.md")).state).toBe("trash");
    expect((await document("trashed.md")).state).toBe("trash");
    expect(await office.query([{ op: "list", params: { pattern: "fresh.md" } }])).toMatchObject({ total: 0 });
  });

  it("restores a file's previous content and adds a folder only at the end", async () => {
    const { workspace } = office.bench;
    await mkdir(join(workspace, "folder"), { recursive: true });
    await writeFile(join(workspace, "folder", "a.txt"), "a");
    await writeFile(join(workspace, "file.txt"), "first");
    await office.execute([{ op: "add", params: { path: "file.txt" } }]);
    await writeFile(join(workspace, "file.txt"), "second");
    const failed = await office.execute({
      atomic: true,
      operations: [{ op: "add", params: { path: "file.txt" } }, fail],
    });
    expect(failed.undone).toBe(true);
    expect((await document("file.txt")).content).toBe("first");
    expect(await readFile(join(workspace, "file.txt"), "utf8")).toBe("second");
    const folder = { op: "add", params: { path: "folder" } };
    const early = await office.execute({ atomic: true, operations: [folder, add("after-folder", "1")] });
    expect(early).toMatchObject({
      succeeded: 0,
      results: [{ error: { message: expect.stringContaining("snapshot") } }],
    });
    expect((await document("folder/a.txt")).error.code).toBe("NOT_FOUND");
    const late = await office.execute({ atomic: true, operations: [add("before-folder", "1"), folder] });
    expect(late).toMatchObject({ succeeded: 2 });
  });

  it.each<[string, unknown[]]>([
    ["an upstream tool", [add("never", "1"), { op: "github.create_issue", params: { title: "x" } }]],
    ["restore", [add("never", "1"), { op: "restore", params: { collection: "default", output_directory: "out" } }]],
    ["a snapshot that is not last", [{ op: "snapshot" }, add("never", "1")]],
    ["an unknown operation", [add("never", "1"), { op: "nothing.of_the_kind" }]],
  ])("rejects %s before doing anything", async (_, operations) => {
    const result = await office.call("execute", { operations, atomic: true });
    expect(result.isError).toBe(true);
    expect(answerIn(result).error).toMatchObject({ stepIndex: expect.any(Number), hint: expect.any(String) });
    expect((await document("never")).error.code).toBe("NOT_FOUND");
  });

  it("takes a snapshot at the end", async () => {
    const operations = [add("snapped", "1"), { op: "snapshot", params: { label: "atomic" } }];
    expect(await office.execute({ operations, atomic: true })).toMatchObject({ succeeded: 2 });
  });

  it("undoes its changes if the client cancels", async () => {
    const controller = new AbortController();
    const runner = createRunner({});
    let runs = 0;
    const tools = await openOffice({
      run: async (step) => {
        const outcome = await runner(step);
        if (++runs === 2) controller.abort();
        return outcome;
      },
    });
    try {
      const operations = [add("c-1", "1"), add("c-2", "2"), add("c-3", "3")];
      const answer = await tools.execute({ atomic: true, operations }, { ...exchangeOf(), signal: controller.signal });
      expect(answer).toMatchObject({ succeeded: 0, failed: 1, undone: true });
      expect(answer.results[2].error.code).toBe("ABORTED");
      expect(await tools.query(["list"])).toMatchObject({ total: 0 });
    } finally {
      await tools[Symbol.asyncDispose]();
    }
  });
});

describe("dry_run", () => {
  it("reports what would happen and does nothing", async () => {
    await office.execute([add("dry-1", "1"), add("dry-2", "2")]);
    const before = await office.query(["status"]);
    const answer = await office.execute({
      dry_run: true,
      operations: [
        add("dry-3", "three"),
        { op: "update", params: { name: "dry-*", tags: ["x"] } },
        { op: "delete", params: { name: "dry-*" } },
        { op: "restore", params: { collection: "default", output_directory: "out" } },
        { op: "slack.upload", params: { content: "x" } },
        { op: "update", params: { hash: "$steps[0].nothing", tags: ["x"] } },
        { op: "list", params: { pattern: "dry-*" } },
      ],
    });
    expect(answer).toMatchObject({ totalOps: 7, succeeded: 7, failed: 0 });
    expect(answer.results).toMatchObject([
      { op: "add", success: true, dry_run: true, would: "add", hash: contentIdOf("three"), size: 5 },
      { dry_run: true, matched: 2 },
      { dry_run: true, count: 2 },
      { dry_run: true, restored: expect.any(Number) },
      { dry_run: true, would: "call slack.upload" },
      { dry_run: true },
      { total: 2 },
    ]);
    expect((await office.query(["status"])).total_objects).toBe(before.total_objects);
    expect((await document("dry-3")).error.code).toBe("NOT_FOUND");
    expect((await document("dry-1")).tags).toEqual([]);
  });

  it("finds mistakes", async () => {
    const answer = await office.execute({
      dry_run: true,
      continueOnError: true,
      operations: [{ op: "add", params: { nam: "x" } }, fail, { op: "delete", params: { name: "nobody-has-this.md" } }],
    });
    expect(answer.results.map(({ error }: Answer) => error.code)).toEqual([
      "INVALID_ARGUMENT",
      "NOT_FOUND",
      "NOT_FOUND",
    ]);
  });
});

describe("an idempotency key", () => {
  const upload = { op: "slack.upload", params: { content: "once" } };
  const uploads = async () => (await office.query(["slack.uploads"])).uploads as number;

  it("answers a repeated batch from the first run, even after a restart", async () => {
    const before = await uploads();
    const args = { operations: [upload], idempotency_key: "k1" };
    const first = await office.execute(args);
    expect(await office.execute(args)).toEqual(first);
    expect(await office.restarted().execute(args)).toEqual(first);
    expect(await uploads()).toBe(before + 1);
  });

  it("waits for a batch that is still running", async () => {
    const before = await uploads();
    const args = { operations: [upload, upload], idempotency_key: "k2" };
    const answers = await Promise.all([office.execute(args), office.execute(args), office.execute(args)]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await uploads()).toBe(before + 2);
  });

  it("only applies to the same operations and principal", async () => {
    const args = { operations: [upload], idempotency_key: "k3" };
    await office.execute(args);
    for (const again of [office, office.restarted()]) {
      const other = await again.call("execute", { operations: [upload, upload], idempotency_key: "k3" });
      expect(other.isError).toBe(true);
      expect(answerIn(other).error).toMatchObject({ code: "INVALID_ARGUMENT", path: "idempotency_key" });
    }
    const before = await uploads();
    await office.execute(args, exchangeOf({ caller: { principal: "other" } }));
    expect(await uploads()).toBe(before + 1);
  });

  it("can be reused if nothing was started", async () => {
    const wrong = { operations: [{ op: "slack.uplod", params: {} }], idempotency_key: "k4" };
    expect((await office.execute(wrong)).failed).toBe(1);
    expect((await office.execute({ operations: [upload], idempotency_key: "k4" })).succeeded).toBe(1);
  });

  it("expires after a day", async () => {
    const now = Date.now();
    const tools = await openOffice();
    try {
      const args = { operations: [upload], idempotency_key: "k5" };
      await tools.execute(args);
      vi.setSystemTime(now + 23 * 3_600_000);
      await tools.execute(args);
      expect(await tools.query(["slack.uploads"])).toEqual({ uploads: 1 });
      vi.setSystemTime(now + 25 * 3_600_000);
      await tools.execute(args);
      expect(await tools.query(["slack.uploads"])).toEqual({ uploads: 2 });
    } finally {
      vi.useRealTimers();
      await tools[Symbol.asyncDispose]();
    }
  });

  it("of a batch cut short by a crash is rejected, since its effects are unknown", async () => {
    const tools = await openOffice({ run: () => new Promise(() => {}) });
    try {
      const args = { operations: [add("crash", "1")], idempotency_key: "k6" };
      const controller = new AbortController();
      void tools.execute(args, { ...exchangeOf(), signal: controller.signal });
      const store = await tools.bench.store();
      const isNoted = async () =>
        (await store.run("list", { collection: "results" }).catch(() => ({ total: 0 }))).total === 1;
      await expect.poll(isNoted).toBe(true);
      expect((await tools.restarted().execute(args)).error).toMatchObject({ path: "idempotency_key" });
    } finally {
      await tools[Symbol.asyncDispose]();
    }
  });
});
