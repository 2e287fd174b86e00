// Creates a store for the project and indexes the project. Running it again indexes only the changes.
import { writeFileSync } from "node:fs";
import { lstat, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  fileReason,
  isFolder,
  placeFileSync,
  printable,
  readRegularFile,
  systemCodeOf,
  TrunklineError,
} from "@trunkline/core";
import { openCommandStore } from "../../app/command-store.js";
import { EXIT } from "../../app/exit-codes.js";
import { isEmptyFolder, isWholeHome, wholeHomeReason } from "../../app/folders.js";
import { leftOutLine } from "../../app/left-out-line.js";
import { KnownStores, rejectStoreLinks, requireKnownStore } from "../../app/project-store.js";
import { programStates } from "../../install/program-states.js";
import type { CommandContext } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { counted, shownBytes } from "../../terminal/output.js";
import { offerModel } from "../models/offer.js";

export interface InitOptions {
  folder: string | undefined;
  /** Whether to index the project. */
  add: boolean;
  /** Globs of files not to index. */
  exclude?: readonly string[];
  force?: boolean;
  json?: boolean;
}

/** For .gitignore: the store belongs to this machine. */
const IGNORED = ["/store/"];
const SHOWN_PROBLEMS = 5;

export async function init(context: CommandContext, options: InitOptions): Promise<number> {
  const outcome = {};
  return await reporting(context, { json: options.json, outcome }, (shown) => initProject(shown, options, outcome));
}

async function initProject(
  context: CommandContext,
  options: InitOptions,
  outcome: Record<string, unknown>,
): Promise<number> {
  const folder = await projectFolder(context, options);
  const own = join(folder, ".trunkline");
  if (!options.force && isWholeHome(folder, context.userHome)) {
    throw new TrunklineError(
      "USAGE",
      `${folder} is not a project: ${wholeHomeReason(folder, context.userHome)}, and all of it would be indexed.`,
      {
        hint: "Go to the project folder first, or use --force.",
      },
    );
  }
  const place = join(own, "store");
  await rejectStoreLinks(place);
  // An empty folder is left by an `init` that failed, and holds nothing to approve.
  const isNew = !(await exists(place)) || isEmptyFolder(place);
  // A store that the project brought needs the user's approval.
  const approval = isNew ? undefined : await requireKnownStore(context, place, { mayAsk: true });
  await making(own, async () => {
    await mkdir(own, { recursive: true });
    await ignoreStore(join(own, ".gitignore"));
  });
  await using opened = await openCommandStore(context, { store: place, storeId: approval?.id });
  if (isNew) await new KnownStores(context.home).remember(place, opened.store.id);
  await approval?.onOpened?.(opened.store.id);
  Object.assign(outcome, { folder, store: place, created: isNew });
  context.out(`${isNew ? "Created" : "Found"} a store for ${folder} in ${join(own, "store")}.`);
  if (options.add) {
    const { exclude } = options;
    const result = await opened.store.add({ path: folder, exclude, skipGenerated: true }, opened.calling("indexing"));
    await opened.indexed();
    opened.clearProgress();
    const problems = result.problems ?? [];
    for (const { path, message } of problems.slice(0, SHOWN_PROBLEMS))
      context.note(`not added: ${printable(path)}: ${printable(message)}`);
    if (problems.length > SHOWN_PROBLEMS) context.note(`not added: ${problems.length - SHOWN_PROBLEMS} more`);
    const { sensitive = 0, large = 0 } = result.leftOut ?? {};
    const unchanged = result.skipped - problems.length - sensitive - large;
    const removed = result.removed ? `, ${result.removed} removed` : "";
    const { files, newBytes, leftOut: skipped } = result;
    Object.assign(outcome, { files, newBytes, unchanged, removed: result.removed ?? 0, leftOut: skipped, problems });
    context.out(
      `Indexed ${counted(result.files, "file")} (${shownBytes(result.newBytes)} new), ${unchanged} unchanged${removed}. Files in .gitignore are skipped.`,
    );
    const leftOut = leftOutLine(result.leftOut);
    if (leftOut !== undefined) context.note(leftOut);
  }
  // Later runs only index changes, and should not ask again.
  if (isNew && !options.json) await offerModel(context);
  context.note("Next:");
  context.note("  trunkline store search <words>                         search it");
  await noteAgents(context);
  return EXIT.success;
}

/** Says how to give the store to an agent, or which ones have it already. */
async function noteAgents(context: CommandContext): Promise<void> {
  const { env, userHome } = context;
  const states = await programStates({ env, userHome, platform: process.platform });
  const titles = states.filter(({ state }) => state === "installed").map(({ program: { title } }) => title);
  if (titles.length > 0) {
    const have = titles.length === 1 ? "has" : "have";
    context.note(`${titles.join(", ")} ${have} Trunkline. A new session in this project uses this store.`);
    return;
  }
  // For this project only: in the user's settings, `--watch .` would index every folder the agent is ever started in.
  context.note(
    "  trunkline install claude-code --project -- --watch .   give it to your agent; `trunkline install` lists others",
  );
}

/** Returns the named folder, or else the project this folder belongs to, or else this folder. */
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
  // A rule counts only if no later one takes it back.
  const lastException = lines.findLastIndex((line) => line.startsWith("!"));
  const isThere = (rule: string) => lines.lastIndexOf(rule) > lastException;
  const missing = IGNORED.filter((line) => ![line, line.replace(/^\//, ""), "*"].some(isThere));
  if (missing.length === 0) return;
  const comment = text === "" ? "# The store belongs to this machine; mcp.json and settings.json can be shared.\n" : "";
  const head = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  // Replaces the file instead of writing to it: it may be a link.
  placeFileSync(path, (fd) => writeFileSync(fd, `${head}${comment}${missing.join("\n")}\n`));
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    if ((await lstat(path)).isSymbolicLink()) return "";
    return (await readRegularFile(path)).toString("utf8");
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
    throw new TrunklineError("IO", `Cannot create ${path}: ${fileReason(error) ?? code}.`, {
      cause: error,
      hint: "Check the folder's permissions, and that there is no file with that name.",
    });
  }
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
