// Changes a folder and a store at random, in two processes, and checks every reader after every acknowledged step.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect } from "vitest";
import { type Random, seededRandom } from "../../../../test/support/seed.js";
import { temporaryFolder } from "../support/temporary.js";
import { StoreProcess } from "./store-process.js";
import { checkGraph, checkReaders, some } from "./truth-checks.js";
import { TruthModel } from "./truth-model.js";

const TAGS = ["tagalpha", "tagbravo", "tagdelta"];
const LETTERS = [..."bcdfghjklmnpqrtvwxz"];
const FOLDERS = ["", "src", "src/deep", "docs"];

/** Runs this many steps with the seed of the test. On failure, the last steps are part of the message. */
export async function runSteps(count: number): Promise<void> {
  const run = await TruthRun.start(seededRandom());
  for (let step = 0; step < count; step++) await run.step();
  await run.end();
}

class TruthRun {
  readonly #random: Random;
  readonly #home: string;
  readonly #root: string;
  readonly #model = new TruthModel();
  /** Every word that was ever written. The first two are in many texts. */
  readonly #words = ["zqcommonword", "zqsharedword"];
  readonly #done: string[] = [];
  #processes: [StoreProcess, StoreProcess];
  #files = 0;

  private constructor(random: Random, home: string, processes: [StoreProcess, StoreProcess]) {
    this.#random = random;
    this.#home = home;
    this.#root = join(home, "project");
    this.#processes = processes;
  }

  static async start(random: Random): Promise<TruthRun> {
    const home = await temporaryFolder();
    mkdirSync(join(home, "project"));
    const start = (name: string) => StoreProcess.start(name, { store: join(home, "store"), cwd: home, lazy: false });
    return new TruthRun(random, home, [await start("A"), await start("B")]);
  }

  async step(): Promise<void> {
    const steps: [number, string, (store: StoreProcess) => Promise<void>][] = [
      [4, "add inline content", (store) => this.#addInline(store)],
      [6, "write a file and add it", (store) => this.#writeAndAdd(store)],
      [6, "change files and add the folder", (store) => this.#changeFolder(store)],
      [3, "move a file", (store) => this.#moveFile(store)],
      [2, "move a folder", (store) => this.#moveFolder(store)],
      [3, "remove files", (store) => this.#removeFiles(store)],
      [3, "delete a document", (store) => this.#deleteDocument(store)],
      [1, "delete by pattern", (store) => this.#deletePattern(store)],
      [3, "undelete a document", (store) => this.#undelete(store)],
      [3, "update tags", (store) => this.#updateTags(store)],
      [2, "take a snapshot", (store) => this.#snapshot(store)],
      [2, "restore a snapshot over the folder", (store) => this.#restore(store)],
      [1, "gc", (store) => this.#gc(store)],
      [3, "write in both processes at once", () => this.#writeInBoth()],
      [2, "kill a process", () => this.#restart(this.#random.below(2))],
      [2, "kill a process after an add", () => this.#killAfterAdd()],
      [2, "kill a process during an add", () => this.#killDuringAdd()],
    ];
    const weighted = steps.flatMap((step) => Array.from({ length: step[0] }, () => step));
    const [, name, run] = this.#random.pick(weighted);
    const store = this.#processes[this.#random.below(2)] as StoreProcess;
    this.#done.push(`${store.name}: ${name}`);
    try {
      await run(store);
      await this.#check();
    } catch (error) {
      const message = `Step ${this.#done.length} failed. Last steps:\n${this.#done.slice(-12).join("\n")}`;
      throw new Error(`${message}\n${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }

  async end(): Promise<void> {
    for (const store of this.#processes) {
      expect((await store.call("verify")).problems).toEqual([]);
      await store.close();
    }
  }

  async #check(): Promise<void> {
    const options = { random: this.#random, words: this.#words, tags: TAGS };
    // Half of the time, while indexing is still going on in the background.
    const isComplete = this.#random.below(2) === 0;
    for (const store of this.#processes) {
      if (isComplete) await Promise.all(this.#processes.map((each) => each.call("indexed")));
      await checkReaders(store, this.#model, options);
      if (isComplete) await checkGraph(store, this.#model, options);
    }
  }

  #note(text: string): void {
    this.#done[this.#done.length - 1] += `; ${text}`;
  }

  #word(): string {
    const word = `zq${Array.from({ length: 8 }, () => this.#random.pick(LETTERS)).join("")}`;
    this.#words.push(word);
    return word;
  }

  /** Makes a text for a path: with a new word, and in code with a new function and an import. */
  #text(path: string): string {
    if (this.#random.below(12) === 0) return "shared text with zqsharedword\n";
    if (!path.endsWith(".ts")) return `# Notes\n\nabout ${this.#word()} and zqcommonword\n`;
    const others = [...this.#filesIn(this.#root).keys()].filter((file) => file.endsWith(".ts") && file !== path);
    const imports = some(this.#random, others, this.#random.below(3)).map((other) => {
      const target = relative(dirname(path), other).replace(/\.ts$/, ".js");
      return `import { x } from "${target.startsWith(".") ? target : `./${target}`}";\n`;
    });
    return `${[...new Set(imports)].join("")}// zqcommonword\nexport function ${this.#word()}() {}\n`;
  }

  #filesIn(folder: string): Map<string, string> {
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
    const files = paths.filter((path) => statSync(path).isFile());
    return new Map(files.map((path) => [path, readFileSync(path, "utf8")]));
  }

  #write(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  #newPath(): string {
    const name = `f${++this.#files}.${this.#random.pick(["ts", "ts", "md", "txt"])}`;
    return join(this.#root, this.#random.pick(FOLDERS), name);
  }

  /** Picks an existing file, or the path of a new one. */
  #somePath(): string {
    const known = [...this.#filesIn(this.#root).keys()];
    return known.length > 0 && this.#random.below(3) > 0 ? this.#random.pick(known) : this.#newPath();
  }

  #someTags(): string[] {
    return this.#random.below(4) === 0 ? [this.#random.pick(TAGS)] : [];
  }

  #collection(): string {
    return this.#random.below(5) === 0 ? "second" : "default";
  }

  async #addInline(store: StoreProcess): Promise<void> {
    const name = `note-${this.#random.below(12)}.md`;
    const [content, tags, collection] = [this.#text(name), this.#someTags(), this.#collection()];
    this.#note(name);
    await store.call("add", { name, content, tags, collection });
    this.#model.put({ collection, path: name, isFile: false }, content, tags);
  }

  async #writeAndAdd(store: StoreProcess): Promise<void> {
    const path = this.#somePath();
    const text = this.#text(path);
    this.#write(path, text);
    this.#note(path);
    const [tags, collection] = [this.#someTags(), this.#collection()];
    await store.call("add", { path, tags, collection });
    this.#model.put({ collection, path, isFile: true }, text, tags);
  }

  /** Adds a folder as it is on disk. */
  async #addFolder(store: StoreProcess, folder = this.#root, collection = this.#collection()): Promise<void> {
    const files = this.#filesIn(folder);
    const tags = this.#random.below(10) === 0 ? [this.#random.pick(TAGS)] : [];
    this.#note(`add ${relative(this.#home, folder)} to ${collection}`);
    const { snapshotId } = await store.call("add", { path: folder, tags, collection });
    this.#model.putFolder({ collection, folder }, files, tags);
    this.#model.snapshot(snapshotId ?? "", collection);
  }

  async #changeFolder(store: StoreProcess, collection = this.#collection()): Promise<void> {
    for (let change = this.#random.below(5); change >= 0; change--) {
      const path = this.#somePath();
      this.#write(path, this.#text(path));
      this.#note(path);
    }
    const folder = join(this.#root, this.#random.pick(FOLDERS));
    mkdirSync(folder, { recursive: true });
    await this.#addFolder(store, folder.replace(/\/$/, ""), collection);
  }

  async #moveFile(store: StoreProcess): Promise<void> {
    const known = [...this.#filesIn(this.#root).keys()];
    if (known.length === 0) return;
    const from = this.#random.pick(known);
    const to = this.#random.below(3) === 0 ? this.#random.pick(known) : this.#newPath();
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
    this.#note(`${from} to ${to}`);
    await this.#addFolder(store);
  }

  async #moveFolder(store: StoreProcess): Promise<void> {
    const from = join(this.#root, "src", "deep");
    const to = join(this.#root, `moved-${++this.#files}`);
    mkdirSync(from, { recursive: true });
    renameSync(from, this.#random.below(2) === 0 ? to : join(dirname(from), `moved-${this.#files}`));
    await this.#addFolder(store);
  }

  async #removeFiles(store: StoreProcess): Promise<void> {
    for (const path of some(this.#random, [...this.#filesIn(this.#root).keys()], 1 + this.#random.below(3))) {
      rmSync(path, { force: true });
      this.#note(path);
    }
    await this.#addFolder(store);
  }

  async #deleteDocument(store: StoreProcess): Promise<void> {
    const live = this.#model.documents("live");
    if (live.length === 0) return;
    const document = this.#random.pick(live);
    this.#note(document.path);
    await store.call("delete", { name: document.path, collection: document.collection });
    document.state = "trash";
  }

  async #deletePattern(store: StoreProcess): Promise<void> {
    const digit = this.#random.below(10);
    const found = await store.call("delete", { pattern: `*${digit}.md` });
    const meant = this.#model.documents("live").filter(({ path }) => path.endsWith(`${digit}.md`));
    expect(found.count).toBe(meant.length);
    for (const document of meant) document.state = "trash";
  }

  async #undelete(store: StoreProcess): Promise<void> {
    const trash = this.#model.documents("trash");
    if (trash.length === 0) return;
    const document = this.#random.pick(trash);
    this.#note(document.path);
    await store.call("undelete", { name: document.path, collection: document.collection });
    document.state = "live";
  }

  async #updateTags(store: StoreProcess): Promise<void> {
    const live = this.#model.documents("live");
    if (live.length === 0) return;
    const { path: name, collection, tags } = this.#random.pick(live);
    const [more, fewer] = [this.#random.pick(TAGS), this.#random.pick(TAGS)];
    this.#note(`${name} +${more} -${fewer}`);
    await store.call("update", { name, collection, tags: [more], removeTags: [fewer] });
    tags.delete(fewer);
    tags.add(more);
  }

  async #snapshot(store: StoreProcess): Promise<void> {
    const { id } = await store.call("snapshot", {});
    this.#model.snapshot(id, "default");
  }

  /** Brings older versions back, with the times they had. */
  async #restore(store: StoreProcess): Promise<void> {
    const own = this.#model.snapshots.filter(({ texts }) => [...texts.keys()].some((path) => path.startsWith("/")));
    if (own.length === 0) return;
    const { id } = this.#random.pick(own);
    this.#note(id);
    // Inline documents have no place in the folder.
    const excludePatterns = ["note-*", "both-*"];
    await store.call("restore", { snapshotId: id, outputDirectory: this.#root, overwrite: true, excludePatterns });
    await this.#addFolder(store, this.#root, "default");
  }

  async #gc(store: StoreProcess): Promise<void> {
    await store.call("gc");
    this.#model.gc();
  }

  async #writeInBoth(): Promise<void> {
    const adds = this.#processes.map(async (store, number) => {
      const name = `both-${number}-${this.#random.below(5)}.md`;
      const content = this.#text(name);
      await store.call("add", { name, content });
      this.#model.put({ collection: "default", path: name, isFile: false }, content);
    });
    // Not the collection of the other two: its snapshot may or may not contain them.
    const files = this.#random.below(2) === 0 ? [] : [this.#changeFolder(this.#processes[0], "second")];
    await Promise.all([...adds, ...files]);
  }

  async #restart(number: number): Promise<void> {
    const name = (this.#processes[number] as StoreProcess).name;
    this.#note(name);
    await this.#processes[number]?.kill();
    const lazy = this.#random.below(2) === 0;
    this.#processes[number] = await StoreProcess.start(name, {
      store: join(this.#home, "store"),
      cwd: this.#home,
      lazy,
    });
  }

  /** Kills a process before it can index in the background. */
  async #killAfterAdd(): Promise<void> {
    const killed = this.#random.below(2);
    await this.#changeFolder(this.#processes[killed] as StoreProcess);
    await this.#restart(killed);
  }

  /** Kills a process while it adds the folder; the other one repeats the call, which must leave nothing behind. */
  async #killDuringAdd(): Promise<void> {
    for (let change = 0; change < 20; change++) {
      const path = this.#somePath();
      this.#write(path, this.#text(path));
    }
    const killed = this.#random.below(2);
    const added = this.#processes[killed]?.call("add", { path: this.#root }).catch(() => undefined);
    const afterMs = this.#random.next() * 60;
    // The test is about the moment of the kill; nothing waits for it.
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await this.#restart(killed);
    await added;
    const survivor = this.#processes[1 - killed] as StoreProcess;
    const { snapshots } = await survivor.call("listSnapshots", {});
    this.#model.putFolder({ collection: "default", folder: this.#root }, this.#filesIn(this.#root));
    // The snapshot is the last part of an add.
    const known = new Set(this.#model.snapshots.map(({ id }) => id));
    for (const { id } of snapshots) if (!known.has(id)) this.#model.snapshot(id, "default");
    await this.#addFolder(survivor, this.#root, "default");
  }
}
