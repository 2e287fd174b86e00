// The same questions to both engines: the answers must be equal, apart from times and ids.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ContentStore, isTrunklineError } from "@trunkline/core";
import { asContentStore, openStore, type Store } from "@trunkline/store";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore, type PostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";
import { FILES, QUESTIONS } from "./support/same-questions.js";

const DIFFERENT = ["execution_time_ms", "created", "modified", "indexed", "added", "id"];
/** FTS5 goes on counting texts that were removed, so scores differ a little after a change; so does `snake_case`. */
const SCORES = ["score", "bm25"];

/** Removes what differs between two stores: times, ids and where they are. */
function comparable(value: unknown, folder: string, different: readonly string[] = [...DIFFERENT, ...SCORES]): unknown {
  const text = JSON.stringify(value, (key, field: unknown) =>
    different.includes(key) && !Array.isArray(field) ? undefined : field,
  );
  return text === undefined ? undefined : (JSON.parse(text.replaceAll(folder, "")) as unknown);
}

async function answerOf(store: ContentStore, [operation, params]: (typeof QUESTIONS)[number]): Promise<unknown> {
  try {
    return await store.run(operation, params);
  } catch (error) {
    if (!isTrunklineError(error)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
}

describe("both engines", () => {
  let folders: string[];
  let embedded: Store;
  let postgres: PostgresStore;

  async function fill(store: ContentStore, folder: string): Promise<void> {
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    await store.run("add", { path: "src", tags: ["code"], snapshot_label: "first" });
    await store.run("add", { paths: ["test", "docs", "data"], snapshot_label: "first" });
    await writeFile(join(folder, "docs/retries.md"), "# Retries\n\nAsked again, after a pause.\n");
    await rm(join(folder, "data/table.csv"));
    await store.run("add", { path: "docs" });
    await store.run("add", { path: "data", snapshot_label: "second" });
    await store.run("update", { name: "guide.md", metadata: { owner: "ada" }, tags: ["prose"] });
    await store.run("add", { content: "a note in another place", name: "note.md", collection: "notes" });
    await store.run("add", { content: "thrown away", name: "gone.md" });
    await store.run("delete", { name: "gone.md" });
    await store.run("delete", { name: "src/removed.ts" });
    await writeFile(join(folder, "data/table.csv"), FILES["data/table.csv"] as string);
    await store.run("add", { path: "data/table.csv" });
  }

  beforeAll(async () => {
    folders = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), "trunkline-same-"))));
    const [first = "", second = ""] = folders;
    embedded = await openStore({ path: ".store", cwd: first });
    postgres = await openPostgresStore({
      driver: pgliteDriver(await pgliteDatabase()),
      cwd: second,
      folder: join(second, ".own"),
    });
    await fill(asContentStore(embedded), first);
    await fill(asContentStore(postgres), second);
    await Promise.all([embedded.indexed(), postgres.indexed()]);
  });

  afterAll(async () => {
    await Promise.all([embedded?.close(), postgres?.close()]);
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  it.each(QUESTIONS.map((question) => [JSON.stringify(question), question] as const))(
    "answer %s alike",
    async (_, question) => {
      const [first = "", second = ""] = folders;
      const theirs = comparable(await answerOf(asContentStore(embedded), question), first);
      const ours = comparable(await answerOf(asContentStore(postgres), question), second);
      expect(ours).toEqual(theirs);
    },
  );

  it("rank alike after changes once FTS5 no longer counts texts that were removed", async () => {
    const question = ["search", { query: "getUserName timeoutMs", type: "keyword", explain: true }] as const;
    const [first = "", second = ""] = folders;
    const ask = async () => [
      comparable(await answerOf(asContentStore(postgres), question), second),
      comparable(await answerOf(asContentStore(embedded), question), first),
    ];
    const [ours, theirs] = await ask();
    expect(ours).not.toEqual(theirs);
    await embedded.repair();
    await embedded.indexed();
    const [still, rebuilt] = await ask();
    expect(still).toEqual(ours);
    expect(rebuilt).toEqual(ours);
  });

  it("hide the results of one principal from another", async () => {
    for (const store of [asContentStore(embedded), asContentStore(postgres)]) {
      const [ada, bob] = [store.viewedBy("ada"), store.viewedBy("bob")];
      const { hash } = await ada.run("add", { content: "zebra secret", name: "r.txt", collection: "results" });
      expect(await ada.run("list", { collection: "results", paths_only: true })).toEqual({
        paths: ["r.txt"],
        total: 1,
      });
      await expect(bob.run("list", { collection: "results" })).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(bob.run("get", { hash })).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(await bob.run("search", { query: "zebra", type: "keyword" })).toMatchObject({ total: 0 });
      expect(await bob.run("grep", { pattern: "zebra" })).toMatchObject({ total: 0 });
      expect(await ada.run("search", { query: "zebra", type: "keyword", collection: "results" })).toMatchObject({
        total: 1,
      });
      const { session_id: session } = await ada.run("start", {}, { client: "a" });
      await expect(bob.run("resume", { session_id: session }, { client: "b" })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    }
  });
});

describe("both engines, before anything was changed", () => {
  it("give the same scores", async () => {
    const folder = await mkdtemp(join(tmpdir(), "trunkline-scores-"));
    await using embedded = await openStore({ path: ".store", cwd: folder });
    await using postgres = await openPostgresStore({
      driver: pgliteDriver(await pgliteDatabase()),
      cwd: folder,
      folder: join(folder, ".own"),
    });
    for (const store of [embedded, postgres]) {
      for (const [name, content] of Object.entries(FILES)) await store.add({ name, content });
      await store.indexed();
    }
    for (const query of [
      "connection",
      "server timeout",
      "parseHTTPRequest",
      "open a hub",
      "conection",
      "size",
      "csv",
      "getUserName timeoutMs",
    ]) {
      const params = { query, type: "keyword", explain: true } as const;
      const [theirs, ours] = [await embedded.search(params), await postgres.search(params)];
      expect(comparable(ours, folder, ["executionTimeMs"])).toEqual(comparable(theirs, folder, ["executionTimeMs"]));
    }
    await embedded.close();
    await rm(folder, { recursive: true, force: true });
  });
});
