import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@trunkline/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PromptFolders } from "../../src/prompts/prompt-folders.js";

let base: string;
let changes: number;
let waiting: (() => void)[];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "trunkline-prompts-"));
  changes = 0;
  waiting = [];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const onChanged = () => {
  changes++;
  for (const resolve of waiting.splice(0)) resolve();
};

/** Resolves at the next change notification. */
function changed(): Promise<void> {
  return new Promise((resolve) => waiting.push(resolve));
}

function folders(...names: string[]): PromptFolders {
  return new PromptFolders(
    names.map((name) => join(base, name)),
    { logger: silentLogger, onChanged },
  );
}

function write(path: string, text: string): void {
  mkdirSync(join(base, path, ".."), { recursive: true });
  writeFileSync(join(base, path), text);
}

const namesOf = async (prompts: PromptFolders) => (await prompts.prompts()).map(({ name }) => name);

describe("prompt folders", () => {
  it("list the current files, with the first folder winning", async () => {
    using prompts = folders("one", "two", "missing");
    expect(await namesOf(prompts)).toEqual([]);
    write("two/PROMPT-b.md", "# From two");
    write("two/PROMPT-a.md", "# From two");
    write("one/PROMPT-b.md", "# From one");
    write("one/README.md", "# No prompt");
    mkdirSync(join(base, "one", "PROMPT-folder.md"));
    expect((await prompts.prompts()).map(({ description }) => description)).toEqual([
      "From two (PROMPT-a.md)",
      "From one (PROMPT-b.md)",
    ]);
    write("two/PROMPT-a.md", "# Changed");
    expect((await prompts.prompts())[0]?.description).toBe("Changed (PROMPT-a.md)");
  });

  it("report new, changed, renamed and removed files", async () => {
    mkdirSync(join(base, "one"));
    using prompts = folders("one");
    await prompts.watch();
    const steps = [
      () => write("one/PROMPT-a.md", "# A"),
      () => write("one/PROMPT-a.md", "# A, longer"),
      // Saves like an editor: write a new file next to the old one, then replace it.
      () => {
        write("one/.PROMPT-a.md.tmp", "# A, by an editor");
        renameSync(join(base, "one/.PROMPT-a.md.tmp"), join(base, "one/PROMPT-a.md"));
      },
      () => renameSync(join(base, "one/PROMPT-a.md"), join(base, "one/PROMPT-b.md")),
      () => rmSync(join(base, "one/PROMPT-b.md")),
    ];
    for (const step of steps) {
      const told = changed();
      step();
      await told;
    }
    expect(await namesOf(prompts)).toEqual([]);
  });

  it("report folders that appear, disappear and reappear", async () => {
    using prompts = folders("deep/down");
    await prompts.watch();
    for (const name of ["a", "b"]) {
      const came = changed();
      write(`deep/down/PROMPT-${name}.md`, "# Here");
      await came;
      expect(await namesOf(prompts)).toEqual([name]);
      const went = changed();
      rmSync(join(base, "deep"), { recursive: true });
      await went;
      expect(await namesOf(prompts)).toEqual([]);
    }
  });

  it("ignore other files", async () => {
    mkdirSync(join(base, "one"));
    using prompts = folders("one");
    await prompts.watch();
    write("one/notes.md", "x");
    const told = changed();
    write("one/PROMPT-a.md", "# A");
    await told;
    expect(changes).toBe(1);
  });
});
