// Gives a project a store of its own and takes the project in. Run again, it takes in what has changed.
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isFolder, printable, systemCodeOf, TrunklineError } from "@trunkline/core";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import { isWholeHome, wholeHomeReason } from "../../app/folders.js";
import type { CommandContext } from "../../terminal/context.js";
import { counted, shownBytes } from "../../terminal/output.js";

/** Options of `trunkline init`. */
export interface InitOptions {
  folder: string | undefined;
  /** Take the project in. */
  add: boolean;
  force?: boolean;
}

/** What Git is told: the store is of this machine. */
const IGNORED = ["/store/"];
const SHOWN_PROBLEMS = 5;

/** Makes the project's folder and its store, and takes the project in. */
export async function init(context: CommandContext, options: InitOptions): Promise<number> {
  const folder = await projectFolder(context, options);
  const own = join(folder, ".trunkline");
  if (!options.force && isWholeHome(folder, context.userHome)) {
    throw new TrunklineError(
      "USAGE",
      `${folder} is no project: ${wholeHomeReason(folder, context.userHome)}, and all of it would be taken in.`,
      {
        hint: "Go to the project's folder first, or say --force.",
      },
    );
  }
  const isNew = !(await isFolder(join(own, "store")));
  await making(own, async () => {
    await mkdir(own, { recursive: true });
    await ignoreStore(join(own, ".gitignore"));
  });
  await using opened = await openCommandStore(context, { store: join(own, "store") });
  context.out(`${isNew ? "Made" : "There is"} a store for ${folder} in ${join(own, "store")}.`);
  if (options.add) {
    const result = await opened.store.add({ path: folder }, opened.calling("taking in"));
    await opened.indexed();
    opened.clearProgress();
    const problems = result.problems ?? [];
    for (const { path, message } of problems.slice(0, SHOWN_PROBLEMS))
      context.note(`not added: ${printable(path)}: ${printable(message)}`);
    if (problems.length > SHOWN_PROBLEMS) context.note(`not added: ${problems.length - SHOWN_PROBLEMS} more`);
    const unchanged = result.skipped - problems.length;
    const removed = result.removed ? `, ${counted(result.removed, "file")} gone` : "";
    context.out(
      `Took in ${counted(result.files, "file")} (${shownBytes(result.newBytes)} new), ${unchanged} unchanged${removed}. What .gitignore names stays out.`,
    );
  }
  context.note("Next:");
  context.note("  trunkline store search <words>                         find something in it");
  // For this project only: for the user, `--watch .` would take in every folder that the agent is ever started in.
  context.note(
    "  trunkline install claude-code --project -- --watch .   give it to your agent; `trunkline install` lists others",
  );
  return EXIT.success;
}

/** The folder that is named; else the project that this folder belongs to already; else this one. */
async function projectFolder({ cwd, home }: CommandContext, options: InitOptions): Promise<string> {
  if (options.folder !== undefined) {
    const folder = resolve(cwd, options.folder);
    if (await isFolder(folder)) return folder;
    throw new TrunklineError("USAGE", `${folder} is not a folder.`);
  }
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const own = join(folder, ".trunkline");
    if (own !== home && (await isFolder(own))) return folder;
    if (dirname(folder) === folder || (await exists(join(folder, ".git")))) return resolve(cwd);
  }
}

async function ignoreStore(path: string): Promise<void> {
  const text = await readOrEmpty(path);
  const lines = text.split(/\r?\n/);
  const missing = IGNORED.filter(
    (line) => !lines.includes(line) && !lines.includes(line.replace(/^\//, "")) && !lines.includes("*"),
  );
  if (missing.length === 0) return;
  const comment = text === "" ? "# The store is of this machine; mcp.json and settings.json may be shared.\n" : "";
  const head = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  await writeFile(path, `${head}${comment}${missing.join("\n")}\n`);
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return "";
    throw error;
  }
}

async function making(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new TrunklineError("IO", `${path} cannot be made (${code}).`, {
      cause: error,
      hint: "Check the permissions of the folder, and that there is no file of that name.",
    });
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
