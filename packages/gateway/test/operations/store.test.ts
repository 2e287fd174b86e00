import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, exchangeOf, openBench } from "./support.js";

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
  await mkdir(join(bench.workspace, "src"));
  await writeFile(join(bench.workspace, "src/open.ts"), "export function openStore() {\n  return retry();\n}\n");
  await writeFile(join(bench.workspace, "src/close.ts"), "export function closeStore() {}\n// deprecated\n");
  await writeFile(join(bench.workspace, "minutes.md"), "# Minutes\n\nWe retry with backoff.\n");
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

describe("store operations", () => {
  it("add accepts a file relative to the workspace, a folder and inline content", async () => {
    const params = { path: "minutes.md", tags: ["minutes"], metadata: { team: "core" } };
    expect(await bench.run("add", params)).toMatchObject({ files: 1, path: join(bench.workspace, "minutes.md") });
    expect(await bench.run("add", { path: "src", snapshot_label: "first" })).toMatchObject({ files: 2 });
    expect(await bench.run("add", { content: "a plan", path: "notes/plan.md" })).toMatchObject({
      path: "notes/plan.md",
    });
    await expect(bench.run("add", { content: "a plan" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      data: { parameter: "name" },
    });
  });

  it("search, list, get, grep and graph return what the contract specifies", async () => {
    expect(await bench.run("search", { query: "retry with backoff", type: "keyword" })).toMatchObject({
      type: "keyword",
      results: [{ path: join(bench.workspace, "minutes.md") }, {}],
    });
    const listed = (await bench.run("list", { extension: ".ts", sort_by: "size", sort_order: "desc" })) as {
      documents: { path: string; hash: string }[];
    };
    expect(listed.documents.map(({ path }) => path)).toEqual([
      join(bench.workspace, "src/open.ts"),
      join(bench.workspace, "src/close.ts"),
    ]);
    const hash = listed.documents[0]?.hash ?? "";
    expect(await bench.run("get", { hash: hash.slice(0, 8), lines: "2" })).toMatchObject({
      content: "  return retry();\n",
    });
    expect(await bench.run("get", { path: hash, include_content: true })).toMatchObject({ hash });
    expect(await bench.run("get", { hash: "src/open.ts" })).toMatchObject({ hash });
    expect(await bench.run("grep", { pattern: "function\\s+open\\w+" })).toMatchObject({
      total: 1,
      matches: [{ line: 1 }],
    });
    expect(await bench.run("graph", { path: "src/open.ts" })).toMatchObject({ origin: { hash } });
    expect(await bench.run("list_collections")).toMatchObject({ collections: [{ name: "default" }] });
    expect(await bench.run("list_snapshots")).toMatchObject({ snapshots: [{ label: "first" }] });
  });

  it("get says how to get the content if it is not included, and what limits it", async () => {
    const hint = expect.stringMatching(/include_content.*max_tokens, default 8000.*outputPath/);
    expect(await bench.run("get", { path: "minutes.md" })).toMatchObject({ hint });
    expect(await bench.run("get", { path: "minutes.md", include_content: false })).toMatchObject({ hint });
    expect(await bench.run("get", { documents: [{ path: "minutes.md" }] })).toMatchObject({ hint });
    for (const more of [{ include_content: true }, { lines: "1" }, { bytes: "0-3" }])
      expect(await bench.run("get", { path: "minutes.md", ...more })).not.toHaveProperty("hint");
  });

  it("grep and get work on documents from an earlier result", async () => {
    const listed = (await bench.run("list", { extension: "ts" })) as { documents: object[] };
    const found = await bench.run("grep", { pattern: "deprecated", documents: listed.documents });
    expect(found).toMatchObject({ total: 1, matches: [{ path: join(bench.workspace, "src/close.ts"), line: 2 }] });
    expect(await bench.run("grep", { pattern: "retry", documents: [{ path: "minutes.md" }] })).toMatchObject({
      total: 1,
    });
    expect(await bench.run("grep", { pattern: "x", documents: [] })).toMatchObject({ matches: [], total: 0 });
    expect(
      await bench.run("grep", { pattern: "retry|deprecated", documents: listed.documents, tags: "minutes" }),
    ).toMatchObject({ total: 0 });
    expect(await bench.run("get", { documents: listed.documents, lines: "1" })).toMatchObject({
      total: 2,
      documents: [{ content: "export function closeStore() {}\n" }, { content: "export function openStore() {\n" }],
    });
  });

  it("get with several documents reports each problem, and fails if none is available", async () => {
    const missing = { hash: "0".repeat(64), path: "nowhere.md" };
    expect(await bench.run("get", { documents: [{ path: "minutes.md" }, missing] })).toMatchObject({
      documents: [{ path: join(bench.workspace, "minutes.md") }, { error: { code: "NOT_FOUND" } }],
    });
    await expect(bench.run("get", { documents: [missing] })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("grep, search and get work on content without a document", async () => {
    const store = await bench.store();
    const rows = Array.from({ length: 5000 }, (_, row) => `row ${row}: ${row === 4321 ? "the needle" : "hay"}`);
    const hash = await store.put(Buffer.from(rows.join("\n")));
    expect(await bench.run("grep", { pattern: "needle", hash: hash.slice(0, 10) })).toMatchObject({
      total: 1,
      matches: [{ hash, line: 4322 }],
    });
    const found = (await bench.run("search", { query: "where are the needles", hash })) as {
      total: number;
      results: { line: number; snippet: string }[];
    };
    expect(found.total).toBe(1);
    expect(found.results[0]?.snippet).toContain("row 4321: the needle");
    const first = found.results[0]?.line ?? 0;
    expect(await bench.run("get", { hash, lines: `${first}` })).toMatchObject({
      content: `${found.results[0]?.snippet.split("\n")[0]}\n`,
    });
    await expect(bench.run("grep", { pattern: "x", hash, paths: ["src"] })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      data: { parameter: "paths" },
    });
  });

  it("that find nothing say so if no document could have matched", async () => {
    expect(await bench.run("grep", { pattern: "retry", include: ["*.nope", "x/**"] })).toMatchObject({
      total: 0,
      notice: "No document matches *.nope or x/**.",
    });
    expect(await bench.run("grep", { pattern: "no such text", include: ["*.md"] })).not.toHaveProperty("notice");
    await using empty = await openBench();
    const notice = expect.stringContaining('The store has no documents. add {"path"');
    expect(await empty.run("grep", { pattern: "x" })).toMatchObject({ total: 0, notice });
    expect(await empty.run("grep", { pattern: "x", files_with_matches: true })).toMatchObject({ files: [], notice });
    expect(await empty.run("list", {})).toMatchObject({ total: 0, notice });
    expect(await empty.run("add", { path: empty.workspace, include: ["*.nope"] })).toMatchObject({
      files: 0,
      notice: "Nothing was added: no file there matches.",
    });
  });

  it("search needs a query that is not empty", async () => {
    await expect(bench.run("search", { query: " " })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      hint: expect.stringContaining("list"),
    });
  });

  it("search and list take include as the glob that it is for grep", async () => {
    const found = (await bench.run("search", { query: "retry", include: "*.md" })) as { total: number };
    expect(found.total).toBe(1);
    expect(await bench.run("list", { include: "minutes.*" })).toMatchObject({ total: 1 });
  });

  it("graph says that neither a document nor a symbol has the name", async () => {
    await expect(bench.run("graph", { name: "nowhere" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: 'The store has no document or symbol "nowhere".',
      hint: expect.stringContaining("grep"),
    });
  });

  it("search finds stored results only if their collection is named", async () => {
    await bench.run("add", { content: "a zebra crossing", name: "zebra.txt", collection: "results" });
    const found = async (more: object) => [
      (await bench.run("search", { query: "zebra", type: "keyword", ...more })) as { total: number },
      (await bench.run("grep", { pattern: "zebra", ...more })) as { total: number },
      (await bench.run("list", { pattern: "zebra.txt", ...more })) as { total: number },
    ];
    expect((await found({})).map(({ total }) => total)).toEqual([0, 0, 0]);
    expect((await found({ collection: "results" })).map(({ total }) => total)).toEqual([1, 1, 1]);
    const { hash } = (await bench.run("get", { path: "zebra.txt" })) as { hash: string };
    expect(await bench.run("grep", { pattern: "zebra", hash })).toMatchObject({ total: 1 });
    expect(await bench.run("search", { query: "zebras", hash })).toMatchObject({ total: 1, results: [{ line: 1 }] });
  });

  it("search with a document's hash returns that document", async () => {
    const { hash } = (await bench.run("get", { path: "minutes.md" })) as { hash: string };
    expect(await bench.run("search", { query: "backoff", hash: hash.slice(0, 8) })).toMatchObject({
      total: 1,
      results: [{ path: join(bench.workspace, "minutes.md") }],
    });
  });

  it("update, delete, undelete, snapshot, diff and restore work", async () => {
    expect(await bench.run("update", { path: "minutes.md", metadata: ["state=final"] })).toEqual({ matched: 1 });
    expect(await bench.run("delete", { path: "plan.md" })).toMatchObject({ count: 1 });
    expect(await bench.run("undelete", { path: "plan.md" })).toMatchObject({ count: 1 });
    await bench.run("snapshot", { name: "second" });
    expect(await bench.run("diff", { before: "first", after: "second" })).toMatchObject({ added: ["notes/plan.md"] });
    expect(await bench.run("restore", { snapshot: "first", to: "out" })).toMatchObject({ conflicts: [] });
    expect(await readFile(join(bench.workspace, "out/close.ts"), "utf8")).toContain("closeStore");
  });

  it("status includes the token account on request", async () => {
    await using other = await openBench({ tokens: () => ({ results: 12 }) });
    expect(await other.run("status", { tokens: "true" })).toMatchObject({ total_objects: 0, tokens: { results: 12 } });
    expect(await other.run("status")).not.toHaveProperty("tokens");
  });
});

describe("sessions", () => {
  it("a client with a lasting connection has a current session that other clients cannot stop", async () => {
    const mine = exchangeOf({ caller: { id: "mine" } });
    const others = exchangeOf({ caller: { id: "others" } });
    await expect(bench.run("add", { content: "x", name: "x.md", session: true }, mine)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "No session is open.",
    });
    const { session_id } = (await bench.session("start", { name: "release-42" }, mine)) as { session_id: string };
    await bench.run("add", { content: "mine", name: "mine.md", session: true }, mine);
    await bench.run("add", { content: "theirs", name: "theirs.md" }, others);
    expect(await bench.run("list", { session: true, paths_only: true }, mine)).toMatchObject({ paths: ["mine.md"] });
    expect(await bench.run("list", { session: session_id, paths_only: true }, others)).toMatchObject({
      paths: ["mine.md"],
    });
    await expect(bench.session("stop", {}, others)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await bench.session("pin", { path: "mine.md" }, mine);
    expect(await bench.session("stop", {}, mine)).toMatchObject({
      label: "release-42",
      added: ["mine.md"],
      pinned: [expect.any(String)],
    });
  });

  it("a client without a lasting connection passes its session id", async () => {
    const once = () => exchangeOf({ caller: { id: "web", lasting: false, endpoint: "http" } });
    const { session_id } = (await bench.session("start", {}, once())) as { session_id: string };
    const other = (await bench.session("start", {}, once())) as { session_id: string };
    await bench.run("add", { content: "one", name: "one.md", session: session_id }, once());
    await bench.run("add", { content: "two", name: "two.md", session: other.session_id }, once());
    await expect(bench.run("list", { session: true }, once())).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      hint: expect.stringContaining("id"),
    });
    await expect(bench.session("stop", {}, once())).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await bench.session("stop", { session: session_id }, once())).toMatchObject({ added: ["one.md"] });
    expect(await bench.session("stop", { session_id: other.session_id }, once())).toMatchObject({ added: ["two.md"] });
    await expect(bench.run("add", { content: "x", name: "x.md", session: session_id }, once())).rejects.toMatchObject({
      message: expect.stringContaining(session_id),
    });
    await expect(bench.run("add", { content: "x", name: "x.md", session: "ses-0" }, once())).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("a session from an earlier process can be continued by id", async () => {
    const once = () => exchangeOf({ caller: { id: "web", lasting: false, endpoint: "http" } });
    const store = await bench.store();
    const { session_id } = (await store.run("start", {}, { client: "another process" })) as { session_id: string };
    await bench.run("add", { content: "later", name: "later.md", session: session_id }, once());
    await bench.session("pin", { path: "later.md", session: session_id }, once());
    expect(await bench.session("stop", { session: session_id }, once())).toMatchObject({
      added: ["later.md"],
      pinned: [expect.any(String)],
    });
  });

  it("a session ends when its client disconnects", async () => {
    const mine = exchangeOf({ caller: { id: "leaving" } });
    await bench.session("start", {}, mine);
    await bench.registry.release(mine.caller);
    await expect(bench.session("stop", {}, mine)).rejects.toMatchObject({ message: "No session is open." });
    await bench.registry.release(mine.caller);
  });

  it("watch accepts paths relative to the workspace", async () => {
    const mine = exchangeOf({ caller: { id: "watching" } });
    await bench.session("start", {}, mine);
    expect(await bench.session("watch", { path: "src" }, mine)).toEqual({ watching: [join(bench.workspace, "src")] });
    await bench.session("stop", {}, mine);
  });

  it("session actions are not operations, but are suggested when used as one", async () => {
    await expect(bench.registry.find("start")).rejects.toMatchObject({
      hint: 'Call session with {"action": "start"}.',
    });
    await expect(bench.registry.findAction("strat")).rejects.toMatchObject({
      code: "NOT_FOUND",
      hint: expect.stringContaining("start"),
    });
  });
});

describe("paths over HTTP", () => {
  const web = exchangeOf({ caller: { id: "web", endpoint: "http" } });

  it.each([
    ["add", { path: "/etc/hostname" }, "path"],
    ["add", { paths: ["minutes.md", "../outside"] }, "paths[1]"],
    ["add", { path: "link/hostname" }, "path"],
    ["add", { path: "dangling" }, "path"],
    ["restore", { collection: "default", output_directory: "/tmp/elsewhere" }, "output_directory"],
    ["restore", { collection: "default", output_directory: "link/new/folder" }, "output_directory"],
    ["get", { path: "minutes.md", outputPath: "../minutes.md" }, "outputPath"],
  ])("%s rejects %j", async (operation, params, parameter) => {
    await symlink("/etc", join(bench.workspace, "link")).catch(() => {});
    await symlink("/etc/nothing-there", join(bench.workspace, "dangling")).catch(() => {});
    await expect(bench.run(operation, params, web)).rejects.toMatchObject({
      code: "DENIED",
      data: { parameter },
      hint: expect.stringContaining("--allow-path"),
    });
  });

  it("watch also rejects paths outside the workspace", async () => {
    await bench.session("start", {}, web);
    await expect(bench.session("watch", { paths: ["/etc"] }, web)).rejects.toMatchObject({ code: "DENIED" });
    await bench.session("stop", {}, web);
  });

  it("operations can access the workspace and allowed folders, but not a folder that shares their prefix", async () => {
    await using other = await openBench({ allowedFolders: [bench.workspace] });
    expect(await other.run("add", { path: join(bench.workspace, "minutes.md") }, web)).toMatchObject({ files: 1 });
    expect(await bench.run("add", { path: "minutes.md" }, web)).toMatchObject({ path: expect.any(String) });
    await expect(other.run("add", { path: `${bench.workspace}-beside` }, web)).rejects.toMatchObject({
      code: "DENIED",
    });
  });

  it("the same rule applies over stdio, but not to the person at the terminal", async () => {
    await using other = await openBench();
    const params = { path: join(bench.workspace, "minutes.md") };
    await expect(other.run("add", params)).rejects.toMatchObject({ code: "DENIED" });
    const person = exchangeOf({ caller: { trusted: true } });
    expect(await other.run("add", params, person)).toMatchObject({ files: 1 });
  });

  it("get creates files in allowed folders and never replaces one", async () => {
    await using other = await openBench();
    await other.run("add", { content: "to write", name: "a.md" });
    const get = () => other.run("get", { path: "a.md", outputPath: "copy.md" });
    const { outputPath } = (await get()) as { outputPath: string };
    expect(await readFile(outputPath, "utf8")).toBe("to write");
    await expect(get()).rejects.toMatchObject({ code: "INVALID_ARGUMENT", hint: expect.stringContaining("restore") });
    const person = exchangeOf({ caller: { trusted: true } });
    await expect(other.run("get", { path: "a.md", outputPath: "copy.md" }, person)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("already exists"),
    });
  });

  it.each([
    ["a client", {}],
    ["the person at the terminal", { trusted: true }],
  ])("get creates missing folders for %s", async (_, caller) => {
    await using other = await openBench();
    await other.run("add", { content: "to write", name: "a.md" });
    const exchange = exchangeOf({ caller });
    const { outputPath } = (await other.run("get", { path: "a.md", outputPath: "reports/2026/copy.md" }, exchange)) as {
      outputPath: string;
    };
    expect(outputPath).toBe(join(other.workspace, "reports", "2026", "copy.md"));
    expect(await readFile(outputPath, "utf8")).toBe("to write");
    await expect(
      other.run("get", { path: "a.md", outputPath: "reports/2026/copy.md/x" }, exchange),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("not a folder") });
    await expect(other.run("get", { path: "a.md", outputPath: "reports" }, exchange)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("already exists"),
    });
    // Otherwise it would create a folder named "~".
    await expect(other.run("get", { path: "a.md", outputPath: "~/copy.md" }, exchange)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      hint: expect.stringContaining("absolute path"),
    });
  });

  it("get writes the whole content to outputPath, so it rejects a part", async () => {
    await using other = await openBench();
    await other.run("add", { content: "one\ntwo\n", name: "a.md" });
    await expect(other.run("get", { path: "a.md", outputPath: "copy.md", lines: "2" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "outputPath writes the whole content and cannot be combined with lines, bytes or symbol.",
    });
  });
});
