import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { journalFolder, readJournal } from "@trunkline/gateway/journal";
import { describe, expect, it } from "vitest";
import { openOperations } from "../../src/console/operations-part.js";
import { openTestWorld, type TestWorld, WORKSPACE } from "./console-workspace.js";

function operations(test: TestWorld) {
  const { handlers } = openOperations(test.world);
  return {
    run: (op: string, params: Record<string, string | number | boolean> = {}, request = test.request()) =>
      handlers.operation({ workspace: WORKSPACE, op, params }, request),
  };
}

describe("an operation run by a page", () => {
  it("reads and changes the store, and answers with the result alone", async () => {
    await using test = openTestWorld({}, { files: { "note.md": "Retries use backoff." } });
    const { run } = operations(test);
    const added = await run("add", { path: "note.md" });
    expect(added).toMatchObject({ durationMs: expect.any(Number), result: { path: join(test.folder, "note.md") } });
    expect(added.result).not.toHaveProperty("op");
    expect(added.result).not.toHaveProperty("success");
    expect(await run("search", { query: "backoff" })).toMatchObject({
      result: { results: [{ path: join(test.folder, "note.md") }] },
    });
    expect(await run("start", { name: "review" })).toMatchObject({ result: { session_id: expect.any(String) } });
    expect(await run("describe")).toMatchObject({ result: { operations: expect.any(Array) } });
  });

  it("is an answer with the error if it fails", async () => {
    await using test = openTestWorld();
    const { run } = operations(test);
    expect(await run("get", { path: "absent.md" })).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(await run("delete", { path: "absent.md" })).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(await run("pin", { hash: "0" })).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
    expect(await run("serach", {})).toMatchObject({
      error: { code: "NOT_FOUND", message: expect.stringContaining("serach"), hint: expect.stringContaining("search") },
    });
  });

  it("gets a document of 2 MB whole", async () => {
    const text = `${"A line of a long document, with 漢字.\n".repeat(50_000)}the end`;
    await using test = openTestWorld({}, { files: { "long.txt": text } });
    const { run } = operations(test);
    await run("add", { path: "long.txt" });
    const { result } = await run("get", { path: "long.txt", include_content: true });
    expect((result as { content: string }).content === text).toBe(true);
  });

  it("asks before it reads a file outside the allowed folders, and goes on with the answer", async () => {
    await using test = openTestWorld();
    const outside = join(mkdtempSync(join(tmpdir(), "trunkline-outside-")), "secret.md");
    writeFileSync(outside, "Elsewhere.");
    const { run } = operations(test);
    const adding = run("add", { path: outside });
    await expect.poll(() => test.world.questions.waiting).toHaveLength(1);
    const [question] = test.world.questions.waiting;
    expect(question).toMatchObject({ caller: { name: "console", principal: "local" }, folder: test.folder });
    test.world.questions.answer(question?.id ?? "", { action: "decline" });
    expect(await adding).toMatchObject({ error: { code: "DENIED" } });
  });

  it("stops asking when the page goes away", async () => {
    await using test = openTestWorld();
    const outside = join(mkdtempSync(join(tmpdir(), "trunkline-outside-")), "secret.md");
    writeFileSync(outside, "Elsewhere.");
    const { run } = operations(test);
    const leaving = new AbortController();
    const adding = run("add", { path: outside }, test.request("tab", leaving.signal));
    await expect.poll(() => test.world.questions.waiting).toHaveLength(1);
    leaving.abort(new Error("the page is gone"));
    await expect(adding).rejects.toThrow("the page is gone");
    expect(test.world.questions.waiting).toHaveLength(0);
  });

  it("is in the journal under the name of the console, and costs no tokens", async () => {
    await using test = openTestWorld();
    await operations(test).run("status", { tokens: true });
    const { result } = await operations(test).run("status", { tokens: true });
    expect(result).toMatchObject({ tokens: { all: { answers: 0, results: 0 } } });
    await test.app.close();
    const folder = journalFolder(test.app.context.home, test.app.storeFolder);
    const { calls } = await readJournal({ folder, limit: 10 });
    expect(calls).toMatchObject([
      { operation: "status", client: "console" },
      { operation: "status", client: "console" },
    ]);
  });

  it("belongs to the session of its tab", async () => {
    await using test = openTestWorld({}, { files: { "a.md": "One." } });
    const { run } = operations(test);
    await run("start", { name: "mine" }, test.request("one"));
    await run("add", { path: "a.md" }, test.request("one"));
    const list = (tab: string) => run("list", { session: true }, test.request(tab));
    expect(await list("one")).toMatchObject({ result: { total: 1 } });
    expect(await list("two")).toHaveProperty("error");
  });
});
