// Runs every example of the contract as written, with a real store and real servers that have the names in the
// examples.
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentIdOf } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Office, openOffice } from "./support.js";

let office: Office;
let hash: string;

const FILES: Record<string, string> = {
  "src/server.ts": 'import { openStore } from "./open.js";\n\nexport function serve() {\n  return openStore();\n}\n',
  "src/open.ts": "// retry with backoff\nexport function openStore() {\n  return 1;\n}\n\nfunction openDoor() {}\n",
  "notes/slow.md": "# Slow queries\n\nSlow queries are deprecated.\nA timeout number 1 was seen.\n",
  "notes/backoff.md": "# Retry\n\nRetry with backoff, twice.\n",
};

beforeAll(async () => {
  office = await openOffice();
  const { workspace } = office.bench;
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(join(workspace, path, ".."), { recursive: true });
    await writeFile(join(workspace, path), text);
  }
  await office.execute([
    { op: "add", params: { path: "src" } },
    { op: "add", params: { path: "notes" } },
    { op: "add", params: { path: "notes", collection: "manual" } },
  ]);
  hash = contentIdOf(FILES["notes/slow.md"] ?? "");
  const store = (await office.bench.store()) as unknown as { indexed?: () => Promise<void> };
  await store.indexed?.();
});

afterAll(() => office[Symbol.asyncDispose]());

describe("query", () => {
  it.each<[string, Record<string, unknown>, (answer: Answer) => void]>([
    ["describe", { op: "describe" }, (answer) => expect(JSON.stringify(answer)).toContain("search")],
    [
      "describe of an operation",
      { op: "describe", params: { target: "search" } },
      (answer) => expect(JSON.stringify(answer)).toContain("similarity"),
    ],
    [
      "search",
      { op: "search", params: { query: "slow queries", limit: 5 } },
      (answer) => {
        expect(answer).toMatchObject({ total: expect.any(Number), type: expect.any(String) });
        expect(answer.execution_time_ms).toEqual(expect.any(Number));
        expect(answer.results[0]).toMatchObject({
          id: expect.any(Number),
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          title: expect.any(String),
          path: expect.any(String),
          score: expect.any(Number),
          snippet: expect.any(String),
        });
      },
    ],
    [
      "grep",
      { op: "grep", params: { pattern: "function\\s+open\\w+", line_numbers: true, context: 2 } },
      (answer) => expect(answer).toMatchObject({ total: 2, matches: [{ line: 2 }, { line: 6 }] }),
    ],
    [
      "list",
      { op: "list", params: { extension: ".ts", recent: 20, sort_by: "size", sort_order: "desc" } },
      (answer) => expect(answer).toMatchObject({ total: 2, documents: [{ type: "text" }, {}] }),
    ],
    [
      "graph",
      { op: "graph", params: { name: "src/server.ts", depth: 2, relation: "CALLS", limit: 30 } },
      (answer) => expect(answer).toMatchObject({ origin: {}, nodes: expect.any(Array), edges: expect.any(Array) }),
    ],
    ["list_collections", { op: "list_collections" }, (answer) => expect(answer.total).toBe(2)],
    ["list_snapshots", { op: "list_snapshots" }, (answer) => expect(answer.total).toBe(3)],
    [
      "status",
      { op: "status", params: { detailed: true, file_types: true } },
      (answer) =>
        expect(answer).toMatchObject({
          total_objects: expect.any(Number),
          total_bytes: expect.any(Number),
          unique_blocks: expect.any(Number),
          deduplicated_bytes: expect.any(Number),
          dedup_ratio: expect.any(Number),
        }),
    ],
  ])("%s returns its own result", async (_, step, check) => {
    const answer = await office.query([step]);
    expect(answer).not.toHaveProperty("steps");
    expect(answer).not.toHaveProperty("error");
    check(answer);
  });

  it("get by the first digits of a hash", async () => {
    const answer = await office.query([{ op: "get", params: { hash: hash.slice(0, 8), include_content: true } }]);
    expect(answer).toMatchObject({ hash, content: FILES["notes/slow.md"] });
  });

  it("search, then get the first result", async () => {
    const answer = await office.query([
      { op: "search", params: { query: "retry with backoff", limit: 1 } },
      { op: "get", params: { hash: "$prev.results[0].hash", include_content: true } },
    ]);
    expect(answer).toMatchObject({
      steps: [
        { stepIndex: 0, op: "search", isError: false },
        { stepIndex: 1, op: "get", isError: false, result: { content: expect.stringMatching(/backoff/i) } },
      ],
      totalSteps: 2,
      completedSteps: 2,
    });
    expect(Object.keys(answer).sort()).toEqual(["completedSteps", "steps", "totalSteps"]);
    expect(Object.keys(answer.steps[0]).sort()).toEqual(["isError", "op", "result", "stepIndex"]);
  });

  it("list, then grep in the listed documents", async () => {
    const answer = await office.query([
      { op: "list", params: { limit: 40, sort_by: "modified", sort_order: "desc" } },
      { op: "grep", params: { pattern: "deprecated|obsolete" } },
    ]);
    expect(answer.steps[1].result.matches[0]).toMatchObject({ hash, line: 3 });
  });

  it("graph, then get a node", async () => {
    const answer = await office.query([
      { op: "graph", params: { name: "src/server.ts", relation: "IMPORTS", depth: 2 } },
      { op: "get", params: { hash: "$prev.nodes[0].hash" } },
    ]);
    expect(answer.steps[1].result.path).toMatch(/src\/open\.ts$/);
  });

  it("an upstream search, a store search by its title, and get for each of the first results", async () => {
    const answer = await office.query([
      { op: "github.search_issues", params: { q: "timeout" }, as: "issues" },
      { op: "search", params: { query: "{{$issues.items[0].title}}" } },
      {
        op: "get",
        for_each: "$prev.results[0:3]",
        params: { hash: "$item.hash", lines: "1-40", include_content: true },
      },
    ]);
    expect(answer.completedSteps).toBe(3);
    expect(answer.steps[0].result.items[0].title).toBe("timeout number 1");
    const { results } = answer.steps[1].result;
    expect(answer.steps[2].result.map((document: Answer) => document.hash)).toEqual(
      results.slice(0, 3).map((found: Answer) => found.hash),
    );
    expect(answer.steps[2].result[0].content).toEqual(expect.any(String));
  });
});

describe("execute", () => {
  it("adds, updates, deletes and previews a restore", async () => {
    const { workspace } = office.bench;
    for (const name of ["minutes.md", "draft-1.md", "draft-2.md", "plan.md"]) {
      await writeFile(join(workspace, name), `# ${name}\n`);
    }
    const added = await office.execute([
      { op: "add", params: { path: "minutes.md", tags: ["minutes", "2026-11"], metadata: { team: "core" } } },
    ]);
    expect(added).toMatchObject({
      results: [{ op: "add", success: true, hash: contentIdOf("# minutes.md\n") }],
      totalOps: 1,
      succeeded: 1,
      failed: 0,
    });
    expect(Object.keys(added).sort()).toEqual(["failed", "results", "succeeded", "totalOps"]);
    expect(
      await office.execute([{ op: "update", params: { name: "minutes.md", metadata: ["state=final", "owner=ada"] } }]),
    ).toMatchObject({ results: [{ op: "update", success: true, matched: 1 }] });
    await office.execute([{ op: "add", params: { paths: ["draft-1.md", "draft-2.md"] } }]);
    expect(await office.execute([{ op: "delete", params: { name: "draft-*.md" } }])).toMatchObject({
      results: [{ op: "delete", success: true, count: 2 }],
    });
    expect(
      await office.execute([
        { op: "restore", params: { collection: "manual", output_directory: "out", dry_run: true } },
      ]),
    ).toMatchObject({ results: [{ op: "restore", success: true, restored: 2, conflicts: [] }] });
    expect(
      await office.execute([
        { op: "add", params: { path: "plan.md" } },
        { op: "update", params: { name: "plan.md", metadata: ["state=draft"] } },
      ]),
    ).toMatchObject({
      results: [
        { op: "add", success: true, hash: contentIdOf("# plan.md\n") },
        { op: "update", success: true, matched: 1 },
      ],
      totalOps: 2,
      succeeded: 2,
      failed: 0,
    });
  });

  it("passes on a large upstream value by its hash, bypassing the model", async () => {
    const call = await office.call("execute", {
      operations: [
        { op: "filesystem.read_text_file", params: { path: "big.log" } },
        { op: "slack.upload", params: { content: "$hash:$prev.hash" } },
      ],
    });
    const answer: Answer = call.structuredContent;
    expect(answer).toMatchObject({ succeeded: 2, failed: 0, results: [{ success: true }, { success: true }] });
    const { truncated, size, hash: id } = answer.results[0].result;
    expect(truncated).toBe(true);
    expect(answer.results[1].result).toEqual({ ok: true, bytes: size, sha256: id });
    const bytes = await (await office.bench.store()).get(id);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(id);
  });

  it("refuses to download from an address where nothing listens", async () => {
    const answer = await office.execute([
      { op: "download", params: { url: "https://files.example/report.pdf", checksum: `sha256:${"0".repeat(64)}` } },
    ]);
    expect(answer).toMatchObject({
      results: [{ op: "download", success: false, error: { code: expect.any(String), hint: expect.any(String) } }],
      totalOps: 1,
      succeeded: 0,
      failed: 1,
    });
  });
});

describe("session", () => {
  it("starts, pins, watches and stops", async () => {
    const started = await office.session({ action: "start", params: { label: "release-42" } });
    expect(started).toEqual({ session_id: expect.any(String) });
    expect(await office.session({ action: "pin", params: { hash: hash.slice(0, 8) } })).toMatchObject({
      hash,
      pinned: true,
    });
    expect(await office.session({ action: "watch", params: { paths: ["src"] } })).toMatchObject({
      watching: [join(office.bench.workspace, "src")],
    });
    expect(await office.session({ action: "stop" })).toMatchObject({
      session_id: started.session_id,
      label: "release-42",
      pinned: [hash],
    });
  });

  it("says what is wrong with an action", async () => {
    expect(await office.call("session", { action: "begin" })).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "NOT_FOUND" } },
    });
    expect(await office.call("session", {})).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "INVALID_ARGUMENT", path: "action" } },
    });
  });
});
