// grep on PostgreSQL finds the lines that ripgrep finds, on the tree and with the patterns of the embedded store's tests.
import { readFileSync, rmSync } from "node:fs";
import { relative, sep } from "node:path";
import { isTrunklineError } from "@trunkline/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { CASES } from "../../grep/test/cases.js";
import { randomPattern } from "../../grep/test/random-patterns.js";
import { askRg, type Case, rgVersion, writeTree } from "../../grep/test/rg.js";
import { makeTree, random } from "../../grep/test/tree.js";
import { openPostgresStore, type PostgresStore } from "../src/index.js";
import { pgliteDatabase, pgliteDriver } from "./support/pglite-driver.js";

type Lines = Record<string, number[]>;

const recorded = JSON.parse(readFileSync(new URL("../../grep/test/ripgrep.json", import.meta.url), "utf8")) as {
  version: string;
  answers: { what: Case; lines: Lines | "error" }[];
};
const version = rgVersion();

describe("grep on PostgreSQL", () => {
  let folder: string;
  let store: PostgresStore;
  /** Both search only text; ripgrep decides by another rule which file is binary. */
  let texts: ReadonlySet<string>;

  beforeAll(async () => {
    folder = writeTree(makeTree());
    store = await openPostgresStore({ driver: pgliteDriver(await pgliteDatabase()), cwd: folder, folder });
    await store.add({ path: "." });
    await store.indexed();
    const listed = await store.list({ pathsOnly: true, type: "text", limit: 1000 });
    texts = new Set("paths" in listed ? listed.paths.map(nameOf) : []);
  });

  afterAll(async () => {
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const nameOf = (path: string) => relative(folder, path).split(sep).join("/");
  const onlyTexts = (lines: Lines) => Object.fromEntries(Object.entries(lines).filter(([name]) => texts.has(name)));

  async function ask({ maxCount, ...what }: Case): Promise<Lines | "error"> {
    try {
      const found: Lines = {};
      for (let cursor: string | undefined; ; ) {
        const page = await store.grep({ ...what, maxCount, cursor });
        for (const { path, line } of "matches" in page ? page.matches : []) {
          const name = nameOf(path);
          found[name] = [...(found[name] ?? []), line];
        }
        cursor = page.cursor;
        if (cursor === undefined) return found;
      }
    } catch (error) {
      if (isTrunklineError(error, "INVALID_ARGUMENT")) return "error";
      throw error;
    }
  }

  it(`finds the recorded lines of ${recorded.version}`, async () => {
    expect(texts.size).toBeGreaterThan(5);
    for (const { what, lines } of recorded.answers) {
      expect([what, await ask(what)]).toEqual([what, lines === "error" ? lines : onlyTexts(lines)]);
    }
  });

  it.skipIf(version === undefined)(
    `finds the lines of the real ripgrep for random patterns${needs("ripgrep", version !== undefined)}`,
    async () => {
      const below = random(23);
      const patterns = Array.from({ length: 40 }, () => ({
        pattern: randomPattern(below),
        ignoreCase: below(4) === 0,
      }));
      for (const what of [...CASES.slice(0, 10), ...patterns]) {
        const theirs = askRg(folder, what);
        expect([what, await ask(what)]).toEqual([what, theirs === "error" ? theirs : onlyTexts(theirs)]);
      }
    },
  );
});
