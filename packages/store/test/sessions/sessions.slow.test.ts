import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/index.js";
import { temporaryStore } from "../support/temporary.js";

/** Calls `act` once watching has started and resolves when everything it did is indexed. */
async function watched(store: Store, paths: string[], count: number, act: () => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onProgress = ({ progress }: { progress: number }) => void (progress >= count && resolve());
    store.watch({ paths }, { onProgress }).then(act).catch(reject);
  });
}

describe("sessions", () => {
  it("belong to one client each", async () => {
    const { store } = await temporaryStore();
    const [ada, ben] = [{ client: "ada" }, { client: "ben" }];
    const first = await store.start({ label: "release" }, ada);
    const second = await store.start({ label: "review" }, ben);
    expect(first.sessionId).not.toBe(second.sessionId);
    await store.add({ content: "a", name: "of-ada" }, ada);
    await store.add({ content: "b", name: "of-ben" }, ben);
    await store.add({ content: "c", name: "of-nobody" });
    expect(await store.list({ session: true, pathsOnly: true }, ada)).toMatchObject({ paths: ["of-ada"] });
    expect(await store.list({ session: second.sessionId, pathsOnly: true })).toMatchObject({ paths: ["of-ben"] });
    await expect(store.list({ session: true })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await store.stop({}, ada)).toMatchObject({ label: "release", added: ["of-ada"] });
    await expect(store.stop({}, ada)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await store.stop({}, ben)).toMatchObject({ label: "review", added: ["of-ben"] });
  });

  it("rank pinned content first, and keep it from gc until it is unpinned", async () => {
    const { store } = await temporaryStore();
    await store.add({ content: "heron heron heron heron", name: "best" });
    const { hash } = await store.add({ content: "one heron among many other words in this text", name: "pinned" });
    await store.start();
    await store.pin({ path: "pinned" });
    const order = async () => {
      const found = await store.search({ query: "heron", type: "keyword", pathsOnly: true });
      return "paths" in found ? found.paths : [];
    };
    expect(await order()).toEqual(["pinned", "best"]);
    await store.delete({ name: "pinned" });
    await store.gc();
    expect((await store.get({ hash: hash as string, includeContent: true })).content).toContain("one heron");
    await store.unpin({ hash: hash as string });
    await store.gc();
    await expect(store.get({ hash: hash as string })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("watch", () => {
  it("indexes new, changed, renamed and removed files, and summarises them at the end", async () => {
    const { store, folder } = await temporaryStore();
    const src = join(folder, "src");
    mkdirSync(src);
    writeFileSync(join(src, "old.ts"), "before");
    writeFileSync(join(src, "gone.ts"), "soon gone");
    writeFileSync(join(src, ".gitignore"), "*.tmp\n");
    await store.add({ path: "src", snapshotLabel: "start" });
    await store.start({ label: "editing" });
    await watched(store, ["src"], 3, () => {
      writeFileSync(join(src, "new.ts"), "fresh");
      // Like an editor: write a new file that replaces the old one.
      writeFileSync(join(src, "old.ts.tmp"), "after");
      renameSync(join(src, "old.ts.tmp"), join(src, "old.ts"));
      rmSync(join(src, "gone.ts"));
    });
    const summary = await store.stop();
    expect(summary).toMatchObject({
      added: [join(src, "new.ts")],
      changed: [join(src, "old.ts")],
      removed: [join(src, "gone.ts")],
    });
    expect((await store.get({ path: "old.ts", includeContent: true })).content).toBe("after");
    expect(await store.list({ pattern: "gone.ts" })).toMatchObject({ total: 0 });
    expect(await store.list({ pattern: "gone.ts", snapshot: "start" })).toMatchObject({ total: 1 });
  });

  it("tells listeners which documents changed", async () => {
    const { store, folder } = await temporaryStore();
    const src = join(folder, "src");
    mkdirSync(src);
    writeFileSync(join(src, "gone.ts"), "soon gone");
    await store.add({ path: "src" });
    await store.start();
    const told: string[] = [];
    const stop = store.onDocumentChanged((path) => told.push(path));
    store.onDocumentChanged(() => {
      throw new Error("a listener of its own kind");
    });
    await watched(store, ["src"], 2, () => {
      writeFileSync(join(src, "new.ts"), "fresh");
      rmSync(join(src, "gone.ts"));
    });
    expect(told.sort()).toEqual([join(src, "gone.ts"), join(src, "new.ts")]);
    stop();
    writeFileSync(join(src, "late.ts"), "late");
    await store.stop();
    expect(told).toHaveLength(2);
  });

  it("keeps up with a burst", async () => {
    const { store, folder } = await temporaryStore();
    mkdirSync(join(folder, "many"));
    await store.start();
    await watched(store, ["many"], 200, () => {
      for (let number = 0; number < 200; number++)
        writeFileSync(join(folder, "many", `${number}.txt`), `text ${number}`);
    });
    expect(await store.list({ session: true })).toMatchObject({ total: 200 });
  });

  it("indexes pending changes before it stops", async () => {
    const { store, folder } = await temporaryStore();
    mkdirSync(join(folder, "w"));
    await store.start();
    await watched(store, ["w"], 1, () => writeFileSync(join(folder, "w", "a.txt"), "a"));
    await expect(store.watch({ paths: ["not-there"] })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await store.stop()).added).toEqual([join(folder, "w", "a.txt")]);
    await expect(store.watch({ paths: ["w"] })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
