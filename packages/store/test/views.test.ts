import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "../src/index.js";

let base: string;
let store: Store;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "trunkline-views-"));
  for (const project of ["a", "b"]) {
    mkdirSync(join(base, project));
    writeFileSync(join(base, project, "note.txt"), `about ${project} trains`);
  }
  store = await openStore({ path: join(base, "store"), cwd: base });
});
afterEach(async () => {
  await store.close();
  rmSync(base, { recursive: true, force: true });
});

describe("views of one store", () => {
  it("resolve relative paths in their own folder", async () => {
    const [a, b] = [store.from(join(base, "a")), store.from(join(base, "b"))];
    await a.add({ path: "note.txt" });
    await b.add({ path: "note.txt" });
    expect(await a.get({ path: "note.txt", includeContent: true })).toMatchObject({ content: "about a trains" });
    expect(await b.get({ path: "note.txt", includeContent: true })).toMatchObject({ content: "about b trains" });
    expect(await b.grep({ pattern: "trains", paths: ["."] })).toMatchObject({
      matches: [{ path: join(base, "b", "note.txt") }],
    });
  });

  it("keep their sessions apart", async () => {
    const [a, b] = [store.from(base), store.from(base)];
    const { sessionId } = await a.start({ label: "one" });
    await expect(b.stop()).rejects.toThrow("No session is open");
    expect(await a.stop()).toMatchObject({ sessionId });
  });

  it("guard their own paths", async () => {
    const guarded = store.from(base, { ownFolders: ["a"] });
    await guarded.add({ path: "." });
    expect(await store.list()).toMatchObject({ total: 1, documents: [{ path: join(base, "b", "note.txt") }] });
  });

  it("close on their own, and the store goes on", async () => {
    const view = store.from(base);
    await view.add({ path: "a/note.txt" });
    await view.close();
    await expect(view.grep({ pattern: "trains" })).rejects.toMatchObject({ code: "CLOSED" });
    expect(await store.list()).toMatchObject({ total: 1 });
  });
});
