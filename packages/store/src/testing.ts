// The conformance suite for the ContentStore port. The cases only use the port, so any store can run them. A test
// runner turns each case into a separate test.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ContentId, type ContentStore, contentIdOf, isTrunklineError } from "@trunkline/core";

/** The input of a case. */
export interface StoreCase {
  /** Opens a store that only this case uses. Opening it again returns the same store. */
  open(): Promise<ContentStore>;
  /** An empty folder for files; relative paths in operations are resolved against it. */
  readonly folder: string;
}

/** One guarantee of the port. */
export interface ConformanceCase {
  readonly name: string;
  run(context: StoreCase): Promise<void>;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array) => new TextDecoder().decode(content);
// Results are checked by the assertions that follow.
// biome-ignore lint/suspicious/noExplicitAny: answers are read as the contract describes them.
type Answer = any;

async function rejects(work: Promise<unknown>, code: Parameters<typeof isTrunklineError>[1]): Promise<void> {
  await assert.rejects(work, (error) => isTrunklineError(error, code));
}

export const contentStoreCases: readonly ConformanceCase[] = [
  {
    name: "returns stored bytes by their SHA-256",
    async run({ open }) {
      await using store = await open();
      for (const content of [new Uint8Array(0), bytes("hello"), randomBytes(1_000_000)]) {
        const id = await store.put(content);
        assert.equal(id, contentIdOf(content));
        assert.ok(await store.has(id));
        assert.deepEqual(Buffer.from(await store.get(id)), Buffer.from(content));
      }
    },
  },
  {
    name: "names parameters of the wrong type and missing ones",
    async run({ open }) {
      await using store = await open();
      await rejects(store.run("search", { query: 3 }), "INVALID_ARGUMENT");
      await rejects(store.run("search", {}), "INVALID_ARGUMENT");
      await rejects(store.run("add", { content: "x", name: "a.md", tags: "decision" }), "INVALID_ARGUMENT");
      await rejects(store.run("list_snapshots", { limit: "3" }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "returns part of a content",
    async run({ open }) {
      await using store = await open();
      const content = randomBytes(300_000);
      const id = await store.put(content);
      for (const [start, end] of [
        [0, 10],
        [99_990, 200_010],
        [299_999, 400_000],
      ] as const) {
        assert.deepEqual(Buffer.from(await store.get(id, { start, end })), content.subarray(start, end));
      }
    },
  },
  {
    name: "rejects with NOT_FOUND for unknown content",
    async run({ open }) {
      await using store = await open();
      const id = contentIdOf("nobody put this");
      assert.equal(await store.has(id), false);
      await rejects(store.get(id), "NOT_FOUND");
    },
  },
  {
    name: "resolves a prefix of eight digits to every id that starts with it, and rejects seven",
    async run({ open }) {
      await using store = await open();
      const id = await store.put(bytes("abbreviated"));
      assert.deepEqual(await store.resolve(id.slice(0, 8)), [id]);
      assert.deepEqual(await store.resolve(`sha256-${id.slice(0, 9)}`), [id]);
      assert.deepEqual(await store.resolve(contentIdOf("not there").slice(0, 20)), []);
      await rejects(store.resolve(id.slice(0, 7)), "INVALID_ARGUMENT");
    },
  },
  {
    name: "still has acknowledged writes after reopening",
    async run({ open }) {
      let id: ContentId;
      {
        await using store = await open();
        id = await store.put(bytes("kept"));
        await store.run("add", { content: "a note on durability", name: "note.md" });
      }
      await using again = await open();
      assert.equal(text(await again.get(id)), "kept");
      const found: Answer = await again.run("search", { query: "durability", type: "keyword" });
      assert.equal(found.total, 1);
    },
  },
  {
    name: "keeps every path of the same content and stores the content once",
    async run({ open }) {
      await using store = await open();
      await store.run("add", { content: "the same", name: "one.txt" });
      const second: Answer = await store.run("add", { content: "the same", name: "two.txt" });
      assert.equal(second.new_bytes, 0);
      const list: Answer = await store.run("list", { paths_only: true });
      assert.deepEqual(list, { paths: ["one.txt", "two.txt"], total: 2 });
      const status: Answer = await store.run("status", {});
      assert.equal(status.dedup_ratio, 0.5);
    },
  },
  {
    name: "keeps the versions of a document",
    async run({ open }) {
      await using store = await open();
      await store.run("add", { content: "first", name: "a.txt" });
      await store.run("add", { content: "second", name: "a.txt" });
      const now: Answer = await store.run("get", { path: "a.txt", include_content: true });
      assert.equal(now.content, "second");
      assert.deepEqual(
        now.versions.map((version: Answer) => version.hash),
        [contentIdOf("first"), contentIdOf("second")],
      );
      const old: Answer = await store.run("get", { path: "a.txt", version: 1, include_content: true });
      assert.equal(old.content, "first");
    },
  },
  {
    name: "finds identifiers whole and by their parts, and tags and metadata as words",
    async run({ open }) {
      await using store = await open();
      const content = "export function parseHTTPRequest() {}\n";
      await store.run("add", { content, name: "http.ts", tags: ["wire"], metadata: ["owner=ada"] });
      for (const query of ["parse http request", "parseHTTPRequest", "wire", "ada"]) {
        const found: Answer = await store.run("search", { query, type: "keyword" });
        assert.equal(found.total, 1, query);
        assert.equal(found.results[0].path, "http.ts");
      }
    },
  },
  {
    name: "no longer finds text that a new version or a deletion removed",
    async run({ open }) {
      await using store = await open();
      await store.run("add", { content: "aardvark", name: "a.txt" });
      await store.run("add", { content: "badger", name: "a.txt" });
      const total = async (query: string) => ((await store.run("search", { query, type: "keyword" })) as Answer).total;
      assert.equal(await total("aardvark"), 0);
      assert.equal(await total("badger"), 1);
      await store.run("delete", { name: "a.txt" });
      assert.equal(await total("badger"), 0);
      await store.run("undelete", { name: "a.txt" });
      assert.equal(await total("badger"), 1);
    },
  },
  {
    name: "restores a folder byte for byte, as it was at each snapshot",
    async run({ open, folder }) {
      await using store = await open();
      await mkdir(join(folder, "tree", "inner"), { recursive: true });
      const image = randomBytes(200_000);
      await writeFile(join(folder, "tree", "image.bin"), image);
      await writeFile(join(folder, "tree", "inner", "run.sh"), "#!/bin/sh\necho one\n", { mode: 0o755 });
      await store.run("add", { path: "tree", snapshot_label: "first" });
      await writeFile(join(folder, "tree", "inner", "run.sh"), "#!/bin/sh\necho changed\n");
      await writeFile(join(folder, "tree", "new.txt"), "new");
      await store.run("add", { path: "tree", snapshot_label: "second" });
      const first: Answer = await store.run("restore", { snapshot_id: "first", output_directory: "out-1" });
      assert.deepEqual(first, { restored: 2, skipped: 0, conflicts: [] });
      assert.deepEqual(await readFile(join(folder, "out-1", "image.bin")), image);
      assert.equal(await readFile(join(folder, "out-1", "inner", "run.sh"), "utf8"), "#!/bin/sh\necho one\n");
      assert.equal((await stat(join(folder, "out-1", "inner", "run.sh"))).mode & 0o777, 0o755);
      const second: Answer = await store.run("restore", { snapshot_id: "second", output_directory: "out-2" });
      assert.equal(second.restored, 3);
      const diff: Answer = await store.run("diff", { from: "first", to: "second" });
      assert.deepEqual(diff.added, [join(folder, "tree", "new.txt")]);
      assert.deepEqual(diff.modified, [join(folder, "tree", "inner", "run.sh")]);
    },
  },
  {
    name: "writes nothing outside the output folder, not even through links",
    async run({ open, folder }) {
      await using store = await open();
      await store.run("add", { content: "escaped", name: "../escape.txt", collection: "odd" });
      await store.run("add", { content: "linked", name: "link/inside.txt", collection: "odd" });
      await mkdir(join(folder, "elsewhere"));
      await mkdir(join(folder, "out"));
      await symlink(join(folder, "elsewhere"), join(folder, "out", "link"));
      const answer: Answer = await store.run("restore", { collection: "odd", output_directory: "out" });
      assert.equal(answer.restored, 0);
      assert.equal(answer.conflicts.length, 2);
      await assert.rejects(stat(join(folder, "escape.txt")), { code: "ENOENT" });
      await assert.rejects(stat(join(folder, "elsewhere", "inside.txt")), { code: "ENOENT" });
    },
  },
  {
    name: "filters by session, collection, tags and metadata",
    async run({ open }) {
      await using store = await open();
      await store.run("add", { content: "before", name: "before.txt" });
      for (const content of ["a kept answer", "another answer"])
        await store.run("add", { content, name: `${content}.txt`, collection: "results" });
      await store.run("start", { label: "work" });
      await store.run("add", {
        content: "during",
        name: "during.txt",
        collection: "c",
        tags: ["t"],
        metadata: { k: 1 },
      });
      const paths = async (filter: Record<string, unknown>) =>
        ((await store.run("list", { ...filter, paths_only: true })) as Answer).paths;
      for (const filter of [{ session: true }, { collection: "c" }, { tags: ["t", "u"] }, { metadata: { k: 1 } }]) {
        assert.deepEqual(await paths(filter), ["during.txt"]);
      }
      assert.deepEqual(await paths({ tags: ["t", "u"], match_all_tags: true }), []);
      for (const pinned of ["before", "a kept answer"]) await store.run("pin", { hash: contentIdOf(pinned) });
      assert.deepEqual((await paths({ session: true })).sort(), ["a kept answer.txt", "before.txt", "during.txt"]);
      const summary: Answer = await store.run("stop", {});
      assert.deepEqual(summary.added, ["during.txt"]);
      await rejects(store.run("list", { session: true }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "keeps the open session if another one is to be started or resumed",
    async run({ open }) {
      await using store = await open();
      const other: Answer = await store.run("start", { label: "other" }, { client: "other" });
      const { session_id }: Answer = await store.run("start", { label: "first" });
      const refused = (error: unknown) =>
        isTrunklineError(error, "INVALID_ARGUMENT") && error.message.includes(session_id);
      await assert.rejects(async () => await store.run("start", { label: "second" }), refused);
      await assert.rejects(async () => await store.run("resume", { session_id: other.session_id }), refused);
      await store.run("add", { content: "kept", name: "kept.txt" });
      const summary: Answer = await store.run("stop", {});
      assert.deepEqual([summary.session_id, summary.added], [session_id, ["kept.txt"]]);
    },
  },
  {
    name: "shows a document in the graph right after it was added",
    async run({ open }) {
      await using store = await open();
      for (const [name, content] of [
        ["retry.ts", "export function retry() {}"],
        ["use.ts", 'import { retry } from "./retry.js";\nexport const used = () => retry();'],
      ])
        await store.run("add", { content, name });
      const { nodes }: Answer = await store.run("graph", { name: "retry.ts" });
      assert.ok(
        nodes.some(({ name }: Answer) => name === "retry"),
        JSON.stringify(nodes),
      );
    },
  },
  {
    name: "lists pages that together contain every document once",
    async run({ open }) {
      await using store = await open();
      for (let number = 0; number < 25; number++) {
        await store.run("add", { content: `content ${number % 5}`, name: `file-${number}.txt` });
      }
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page: Answer = await store.run("list", { limit: 7, sort_by: "size", cursor });
        assert.equal(page.total, 25);
        seen.push(...page.documents.map((document: Answer) => document.path));
        cursor = page.cursor;
      } while (cursor !== undefined);
      assert.equal(seen.length, 25);
      assert.equal(new Set(seen).size, 25);
    },
  },
  {
    name: "lists the documents that an ambiguous name matches",
    async run({ open }) {
      await using store = await open();
      await store.run("add", { content: "1", name: "a/readme.md" });
      await store.run("add", { content: "2", name: "b/readme.md" });
      await assert.rejects(
        store.run("update", { name: "readme.md", tags: ["x"] }),
        (error) => isTrunklineError(error, "AMBIGUOUS") && /a\/readme\.md.*b\/readme\.md/.test(error.message),
      );
      assert.deepEqual(await store.run("update", { name: "b/readme.md", tags: ["x"] }), { matched: 1 });
      assert.deepEqual(await store.run("update", { pattern: "*.md", tags: ["y"] }), { matched: 2 });
      await rejects(store.run("update", { name: "nothing.md", tags: ["x"] }), "NOT_FOUND");
    },
  },
  {
    name: "says that a hash is too short if a name looks like one",
    async run({ open }) {
      await using store = await open();
      const { hash } = (await store.run("add", { content: "1", name: "a.md" })) as { hash: string };
      await assert.rejects(
        store.run("get", { path: hash.slice(0, 5) }),
        (error) => isTrunklineError(error, "NOT_FOUND") && error.hint?.includes("at least 8") === true,
      );
    },
  },
  {
    name: "stops within 100 ms of an abort and stays usable",
    async run({ open }) {
      await using store = await open();
      // The fastest counts: on a busy machine, a single stop may have to wait for a processor.
      let fastestMs = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < 10 && fastestMs >= 100; attempt++) {
        const controller = new AbortController();
        const content = randomBytes(30_000_000);
        const work = store.run("add", { content, name: "large" }, { signal: controller.signal });
        const started = performance.now();
        controller.abort();
        await rejects(work, "ABORTED");
        fastestMs = Math.min(fastestMs, performance.now() - started);
      }
      assert.ok(fastestMs < 100);
      await rejects(store.put(bytes("x"), { signal: AbortSignal.abort() }), "ABORTED");
      assert.ok(await store.has(await store.put(bytes("afterwards"))));
    },
  },
];
