// The folders with `PROMPT-*.md` files. They are read on every request, so correctness does not depend on file system
// events; watching only serves to notify clients.
import { type FSWatcher, type Stats, statSync, watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Logger, messageOf, normalized, printable, readRegularFile, systemCodeOf } from "@trunkline/core";
import { type ProjectPromptFolder, readProjectPrompts } from "./project-prompts.js";
import type { OwnPrompt } from "./prompt.js";
import { MAX_PROMPT_BYTES, promptNameOf, readPromptFile } from "./prompt-file.js";

const QUIET_MS = 100;
/** Error codes that mean there is nothing to read. */
const ABSENT: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM"]);

interface FoundFile {
  readonly name: string;
  readonly fileName: string;
  readonly path: string;
  /** Changes whenever the file changes. */
  readonly version: string;
}

/**
 * The prompts of several folders. If names collide, earlier folders win, and those of the project come last: it must not
 * replace a prompt that the user knows.
 */
export class PromptFolders implements Disposable {
  readonly #folders: readonly string[];
  readonly #project: ProjectPromptFolder | undefined;
  readonly #taken: ReadonlySet<string>;
  /** What has been noted about the project's prompts, so that it is noted once. */
  readonly #noted = new Set<string>();
  readonly #logger: Logger;
  readonly #onChanged: () => void;
  readonly #read = new Map<string, { version: string; prompt: OwnPrompt | undefined }>();
  readonly #watches = new Map<string, { watcher: FSWatcher; inode: number }>();
  #seen: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(
    folders: readonly string[],
    options: {
      logger: Logger;
      onChanged: () => void;
      project?: ProjectPromptFolder;
      /** Names that the project cannot use. */
      taken?: readonly string[];
    },
  ) {
    this.#folders = [...new Set(folders.map((folder) => resolve(folder)))];
    this.#project = options.project;
    this.#taken = new Set((options.taken ?? []).map(looks));
    this.#logger = options.logger;
    this.#onChanged = options.onChanged;
  }

  /** All prompts, sorted by name. */
  async prompts(): Promise<OwnPrompt[]> {
    const files = await this.#files();
    const prompts = (await Promise.all(files.map((file) => this.#prompt(file)))).filter((each) => each !== undefined);
    const added = await this.#projectPrompts(new Set(prompts.map(({ name }) => looks(name))));
    return [...prompts, ...added].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Reads the project's prompts: the very bytes that were approved. */
  async #projectPrompts(known: ReadonlySet<string>): Promise<OwnPrompt[]> {
    if (this.#project === undefined) return [];
    const { path } = this.#project;
    const { files, fingerprint } = await readProjectPrompts(path);
    if (files.length === 0) return [];
    if (!(await this.#project.isTrusted({ path, fingerprint }))) {
      const count = files.length === 1 ? "A prompt" : `${files.length} prompts`;
      this.#note(
        fingerprint,
        `${count} of this project (${printable(path)}) ${files.length === 1 ? "is" : "are"} not offered, because you have not approved ${files.length === 1 ? "it" : "them"}. Run \`trunkline trust\` to review and approve.`,
      );
      return [];
    }
    const prompts: OwnPrompt[] = [];
    for (const { fileName, text } of files) {
      const name = promptNameOf(fileName) ?? "";
      // With a dot it could pass for the prompt of a server.
      if (known.has(looks(name)) || this.#taken.has(looks(name)) || name.includes(".")) {
        this.#note(fileName, `${printable(join(path, fileName))} is not offered: its name is taken.`);
        continue;
      }
      const read = await readPromptFile(fileName, text);
      if (read !== undefined) prompts.push(read.prompt);
    }
    return prompts;
  }

  #note(key: string, message: string): void {
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    this.#project?.note(message);
  }

  /** Starts watching from the current state. Idempotent. */
  async watch(): Promise<void> {
    if (this.#closed || this.#watched.length === 0 || this.#seen !== undefined) return;
    this.#seen = "";
    this.#arm();
    this.#seen = await this.#state();
  }

  /** Every folder, whether its prompts are offered or not. */
  get #watched(): readonly string[] {
    return this.#project === undefined ? this.#folders : [...this.#folders, resolve(this.#project.path)];
  }

  async #state(): Promise<string> {
    const project = this.#project === undefined ? "" : (await readProjectPrompts(this.#project.path)).fingerprint;
    return `${fingerprint(await this.#files())}\n${project}`;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watches.values()) watcher.close();
    this.#watches.clear();
  }

  async #files(): Promise<FoundFile[]> {
    const found = new Map<string, FoundFile>();
    for (const folder of this.#folders) {
      const names = await readdir(folder).catch((error: unknown) => {
        if (!ABSENT.has(systemCodeOf(error)))
          this.#logger.warn("cannot read prompts", { folder, error: messageOf(error) });
        return [];
      });
      for (const fileName of names.sort()) {
        const name = promptNameOf(fileName);
        if (name === undefined || found.has(name)) continue;
        const path = join(folder, fileName);
        const stats = await stat(path).catch(() => undefined);
        if (stats?.isFile() !== true || stats.size > MAX_PROMPT_BYTES) continue;
        found.set(name, { name, fileName, path, version: `${stats.ino}:${stats.size}:${stats.mtimeMs}` });
      }
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #prompt({ path, fileName, version }: FoundFile): Promise<OwnPrompt | undefined> {
    const known = this.#read.get(path);
    if (known?.version === version) return known.prompt;
    // The file was deleted after the listing.
    const source = await readRegularFile(path, { maxBytes: MAX_PROMPT_BYTES }).catch(() => undefined);
    if (source === undefined) return undefined;
    const read = await readPromptFile(fileName, source.toString("utf8"));
    if (read?.problem !== undefined)
      this.#logger.warn("ignoring invalid front matter", { file: path, problem: read.problem });
    this.#read.set(path, { version, prompt: read?.prompt });
    return read?.prompt;
  }

  /** Watches every folder, or its nearest existing ancestor. */
  #arm(): void {
    const wanted = new Map(
      this.#watched.flatMap((folder) => nearest(folder) ?? []).map(({ at, inode }) => [at, inode]),
    );
    for (const [folder, { watcher, inode }] of this.#watches) {
      // The watcher of a folder that was removed and recreated receives no more events.
      if (wanted.get(folder) === inode) continue;
      this.#watches.delete(folder);
      watcher.close();
    }
    for (const [folder, inode] of wanted) {
      if (this.#watches.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, (_event, fileName) => this.#noticed(folder, fileName));
        watcher.on("error", () => this.#lost(folder, watcher));
        watcher.on("close", () => this.#lost(folder, watcher));
        this.#watches.set(folder, { watcher, inode });
      } catch (error) {
        this.#logger.debug("cannot watch prompts", { folder, error: messageOf(error) });
      }
    }
  }

  #noticed(folder: string, fileName: string | null): void {
    const isOurs = this.#watched.includes(folder);
    // Editors write to a temporary name and then rename; the last event always has the prompt's name.
    if (isOurs && fileName !== null && promptNameOf(fileName) === undefined && fileName !== folderName(folder)) return;
    this.#soon();
  }

  #lost(folder: string, watcher: FSWatcher): void {
    if (this.#watches.get(folder)?.watcher !== watcher) return;
    this.#watches.delete(folder);
    watcher.close();
    if (!this.#closed) this.#soon();
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#looking = (this.#looking ?? Promise.resolve())
        .then(() => this.#look())
        .catch((error: unknown) => this.#logger.warn("cannot read prompts", { error: messageOf(error) }));
    }, QUIET_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (this.#closed) return;
    this.#arm();
    const seen = await this.#state();
    if (seen === this.#seen || this.#closed) return;
    this.#seen = seen;
    this.#onChanged();
  }
}

/** Names that look the same are the same to a person. */
function looks(name: string): string {
  return normalized(name, "NFKC")
    .toLowerCase()
    .replace(/[\s_-]/g, "");
}

function fingerprint(files: readonly FoundFile[]): string {
  return files.map(({ path, version }) => `${path} ${version}`).join("\n");
}

function folderName(folder: string): string {
  return folder.slice(dirname(folder).length).replace(/^[\\/]/, "");
}

/** Returns the folder itself or its nearest existing ancestor. */
function nearest(folder: string): { at: string; inode: number } | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const stats = statsOf(at);
    if (stats?.isDirectory() === true) return { at, inode: stats.ino };
    if (at === dirname(at)) return undefined;
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (ABSENT.has(systemCodeOf(error))) return undefined;
    throw error;
  }
}
