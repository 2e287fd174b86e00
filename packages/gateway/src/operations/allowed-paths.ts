// Files and folders named by clients, over every transport. After following links, a path has to be in a folder that the
// client may use; otherwise the user is asked, once for all paths of an operation. The program's own folders and Git's
// are off limits to all clients, because files written there decide what gets run. The person at the terminal is not
// confined.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  beginsPrivateKey,
  type FileLimits,
  hasReservedName,
  isAbsent,
  isInside,
  isSensitiveToRead,
  isSensitiveToWrite,
  isWithin,
  LOCAL_PRINCIPAL,
  printable,
  readRegularFile,
  systemCodeOf,
  TELLING_BYTES,
  TrunklineError,
} from "@trunkline/core";
import { DEFAULT_PRINCIPAL, type Exchange } from "../interfaces/exchange.js";
import type { OperationContext } from "../interfaces/operation.js";
import {
  AllowedFolders,
  below,
  type FileUse,
  type FolderOptions,
  folderAround,
  realPathOf,
} from "./allowed-folders.js";
import { askDecision, canAsk, type Decision } from "./ask-user.js";

export interface PlacesOptions extends FolderOptions {
  /** The program's own folders, such as the user's configuration and the store: clients never read or write there. */
  readonly ownFolders?: readonly string[];
  /** Additional files and folders that clients may not write, such as a configuration file given explicitly. */
  readonly unwritable?: readonly string[];
  /** Saves paths that the user has allowed for good. Without it, that answer is not offered. */
  readonly rememberPaths?: (use: FileUse, paths: readonly string[]) => Promise<void>;
  /** Added to the hint of a refusal, such as why there is no workspace. */
  readonly folderNote?: string;
}

/** A path in the parameters of an operation. */
export interface NamedPath {
  readonly path: string;
  /** For errors, such as `paths[2]`. */
  readonly parameter: string;
  /** `create`: a new file; a link with that name is not followed. */
  readonly use: FileUse | "create";
}

/** A path that was checked. */
interface CheckedPath extends NamedPath {
  readonly absolute: string;
  readonly real: string;
}

interface ResolvedPaths {
  /** The absolute path of each named path, in order. */
  readonly paths: readonly string[];
  /** For the person at the terminal only present if a file is created. */
  readonly limits?: FileLimits;
}

/** Why the user has to be asked about a path. */
type Concern = "outside" | "secret" | "obeyed";

const CONCERNS: Readonly<Record<Concern, string>> = {
  outside: "outside the allowed folders",
  secret: "may contain secrets",
  obeyed: "other programs execute or obey it",
};

/** Resolves and checks paths given by clients. */
export class Places {
  readonly folders: AllowedFolders;
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.folders = new AllowedFolders(options);
  }

  /** Resolves all paths of an operation. Rejects with `DENIED` if this client may not use one of them. */
  async resolve(named: readonly NamedPath[], operation: string, context: OperationContext): Promise<ResolvedPaths> {
    const { workspace } = this.#options;
    const absolute = named.map(({ path, parameter, use }) => {
      if (use !== "read" && /^~(?:[\\/]|$)/.test(path)) {
        throw new TrunklineError("INVALID_ARGUMENT", `"~" is not expanded in ${path}.`, {
          hint: "Use an absolute path, or one relative to the workspace.",
          data: { parameter },
        });
      }
      if (!path.includes("\0")) return resolve(workspace, path);
      throw new TrunklineError("INVALID_ARGUMENT", "A path contains a NUL character.", { data: { parameter } });
    });
    if (context.exchange.caller.trusted === true) return { paths: absolute, ...(await createdPaths(named, absolute)) };
    const checked = await Promise.all(
      named.map(async (each, at) => {
        const path = absolute[at] as string;
        const real = await (each.use === "create" ? realTargetOf(path) : realPathOf(path));
        const found: CheckedPath = { ...each, absolute: path, real };
        await this.#keepOff(found);
        return found;
      }),
    );
    await this.#requireAllowed(checked, operation, context);
    const [output] = checked.filter(({ use }) => use === "write");
    const outputRoot = output === undefined ? undefined : await this.#rootOf(output, context);
    return {
      paths: absolute,
      limits: {
        realPaths: Object.fromEntries(checked.map((each) => [each.absolute, each.real])),
        ...(outputRoot === undefined ? {} : { outputRoot }),
        ...(output === undefined || outputRoot === undefined
          ? {}
          : { obeyed: await hookFolders(output.real, outputRoot) }),
      },
    };
  }

  /**
   * Asks for permission to write these files, which `restore` has found to need it. Returns whether all are allowed;
   * false if the client cannot ask.
   */
  async approveFiles(files: readonly string[], operation: string, context: OperationContext): Promise<boolean> {
    const granted = new Set(await this.folders.known(context.exchange.caller, "write"));
    const open = files.filter((file) => !granted.has(file));
    if (open.length === 0) return true;
    if (!mayAsk(context.exchange) || open.length > MOST_ASKED) return false;
    const message = `Allow ${operation} to write these files? Other programs execute or obey them, or what they would replace is not in the store: ${open.map(shownPath).join(", ")}`;
    return await this.#ask({ message, operation, context, paths: { read: [], write: open } });
  }

  async #requireAllowed(checked: readonly CheckedPath[], operation: string, context: OperationContext): Promise<void> {
    const concerns = new Map<CheckedPath, Concern>();
    for (const path of checked) {
      const concern = await this.#concernAbout(path, context);
      if (concern !== undefined) concerns.set(path, concern);
    }
    const [first] = concerns;
    if (first === undefined) return;
    const [path, concern] = first;
    const isDenied = [...concerns.values()].includes("outside") && (await this.folders.outside()) === "deny";
    if (isDenied || !mayAsk(context.exchange) || concerns.size > MOST_ASKED) throw this.#refusal(path, concern);
    const list = [...concerns].map(([{ real }, why]) => `${shownPath(real)} (${CONCERNS[why]})`).join(", ");
    const verbs = new Set([...concerns.keys()].map(({ use }) => (use === "read" ? "read" : "write")));
    const message = `Allow ${operation} to ${[...verbs].join(" and ")} ${list}?`;
    const of = (use: FileUse) =>
      [...concerns.keys()].filter((each) => (each.use === "read") === (use === "read")).map(({ real }) => real);
    if (await this.#ask({ message, operation, context, paths: { read: of("read"), write: of("write") } })) return;
    throw new TrunklineError("DENIED", `The user did not allow ${operation} to use ${path.path}.`, {
      hint: "Do something else, or ask the user what to do.",
      data: { parameter: path.parameter },
    });
  }

  async #concernAbout({ real, use }: CheckedPath, context: OperationContext): Promise<Concern | undefined> {
    const fileUse = use === "read" ? "read" : "write";
    const isSensitive = use === "read" ? isSensitiveToRead : isSensitiveToWrite;
    const concernIn = async (folders: readonly string[]): Promise<Concern | undefined> => {
      const around = folders.filter((folder) => folderAround(real, [folder]) !== undefined);
      if (around.length === 0) return "outside";
      const [outer = ""] = around;
      if (use === "create" && (await hookFolders(dirname(real), outer)).some((hooks) => isWithin(real, hooks)))
        return around.includes(real) ? undefined : "obeyed";
      // The files in an output folder are judged one by one when they are written.
      if (use === "write") return undefined;
      const isNamedSensitive = around.every((folder) => isSensitive(below(real, folder)));
      if (use === "create") return isNamedSensitive ? "obeyed" : undefined;
      return isNamedSensitive || (!around.includes(real) && (await isPrivateKeyFile(real))) ? "secret" : undefined;
    };
    const concern = await concernIn(await this.folders.known(context.exchange.caller, fileUse));
    if (concern !== "outside") return concern;
    return await concernIn(await this.folders.roots(context.exchange));
  }

  /** Returns the allowed folder around an output folder; undefined if the user allowed it just this once. */
  async #rootOf({ real }: CheckedPath, { exchange }: OperationContext): Promise<string | undefined> {
    const known = folderAround(real, await this.folders.known(exchange.caller, "write"));
    return known ?? folderAround(real, await this.folders.roots(exchange));
  }

  /** Asks about these paths, and remembers the answer for as long as it says. */
  async #ask({
    message,
    operation,
    context,
    paths,
  }: {
    message: string;
    operation: string;
    context: OperationContext;
    paths: Readonly<Record<FileUse, readonly string[]>>;
  }): Promise<boolean> {
    const { caller } = context.exchange;
    const { rememberPaths } = this.#options;
    const offered: Exclude<Decision, "no">[] = ["once"];
    if (caller.lasting) offered.push("session");
    // The user's settings count for every client, so only the user's own client may change them.
    if (rememberPaths !== undefined && caller.endpoint === "stdio") offered.push("always");
    const decision = await askDecision({ message, operation, context }, offered);
    if (decision === "no") return false;
    if (decision === "once") return true;
    for (const use of ["read", "write"] as const) {
      if (paths[use].length === 0) continue;
      this.folders.grant(caller, use, paths[use]);
      if (decision === "always") await rememberPaths?.(use, paths[use]);
    }
    return true;
  }

  #refusal({ path, parameter, use }: CheckedPath, concern: Concern): TrunklineError {
    const { folderNote } = this.#options;
    const setting = use === "read" ? "paths.read" : "paths.write";
    const message =
      concern === "outside"
        ? `${path} is outside the folders that clients may use.`
        : concern === "secret"
          ? `${path} may contain secrets, so clients need the user's permission to read it.`
          : `Other programs execute or obey ${path}, so clients need the user's permission to write it.`;
    const hint =
      concern === "outside"
        ? `Use a path inside the workspace, start the server with --allow-path <folder>, or add the folder to ${setting} in your own settings.json.`
        : `Use a client that supports elicitation, or add the file to ${setting} in your own settings.json.`;
    return new TrunklineError("DENIED", message, {
      hint: folderNote === undefined || concern !== "outside" ? hint : `${hint} ${folderNote}`,
      data: { parameter },
    });
  }

  /**
   * Rejects with `DENIED` for the program's own files and for folders where Git keeps hooks and other files it runs.
   */
  async #keepOff({ path, absolute, real, parameter, use }: CheckedPath): Promise<void> {
    const { ownFolders = [], unwritable = [] } = this.#options;
    const data = { parameter };
    for (const folder of ownFolders) {
      if (![absolute, real].some((each) => isWithin(each, folder)) && !isWithin(real, await realPathOf(folder)))
        continue;
      throw new TrunklineError("DENIED", `${path} is in Trunkline's own folder, which clients may not read or write.`, {
        hint: "Use another folder.",
        data,
      });
    }
    if (use === "read") return;
    // Check the name itself too: a link with that name can lead anywhere.
    if (hasReservedName(absolute) || hasReservedName(real)) {
      throw new TrunklineError(
        "DENIED",
        `${path} is in a folder of Git or Trunkline, which clients may not write to.`,
        {
          hint: "Use another folder.",
          data,
        },
      );
    }
    for (const file of unwritable) {
      if (!isWithin(absolute, file) && !isWithin(real, await realPathOf(file))) continue;
      throw new TrunklineError("DENIED", `${path} is part of Trunkline's configuration, which clients may not write.`, {
        hint: "Use another name.",
        data,
      });
    }
  }
}

/** A file is only created, never replaced, even for the person at the terminal: `query` only reads. */
async function createdPaths(named: readonly NamedPath[], absolute: readonly string[]): Promise<Partial<ResolvedPaths>> {
  const created = absolute.filter((_, at) => named[at]?.use === "create");
  if (created.length === 0) return {};
  const real = await Promise.all(created.map((path) => realTargetOf(path)));
  return { limits: { realPaths: Object.fromEntries(created.map((path, at) => [path, real[at] ?? path])) } };
}

/** The real path of a file to be created; a link with that name is not followed. */
async function realTargetOf(path: string): Promise<string> {
  return join(await realPathOf(dirname(path)), basename(path));
}

/** Whether a file is a private key, whatever its name. False for anything that cannot be read: using it reports why. */
async function isPrivateKeyFile(path: string): Promise<boolean> {
  try {
    // Non-blocking, so that a pipe cannot keep the call waiting.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!(await file.stat()).isFile()) return false;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TELLING_BYTES), 0, TELLING_BYTES, 0);
    return beginsPrivateKey(buffer.subarray(0, bytesRead));
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}

/**
 * Whether a question about files reaches the user: a client of somebody else, with a token of its own or without one,
 * would only approve its own request.
 */
function mayAsk(exchange: Exchange): boolean {
  const { principal } = exchange.caller;
  return (principal === LOCAL_PRINCIPAL || principal === DEFAULT_PRINCIPAL) && canAsk(exchange);
}

/** The user has to see every path that a question is about, so longer lists are refused. */
const MOST_ASKED = 40;

/** Quoted, so that a name cannot look like part of the question. */
function shownPath(path: string): string {
  return printable(JSON.stringify(path));
}

// Where Git looks for hooks if a repository's configuration names another folder than `.git/hooks`, which is reserved.

/** Returns the hook folders of the repositories around a path, up to an allowed folder. */
async function hookFolders(path: string, root: string): Promise<string[]> {
  const found: string[] = [];
  for (let folder = path; isInside(folder, root); folder = dirname(folder)) {
    const hooks = await hooksOf(folder);
    // A setting that covers the whole repository would make every file in it a hook.
    if (hooks !== undefined && !isWithin(folder, hooks)) found.push(hooks);
    if (folder === dirname(folder)) break;
  }
  return found;
}

async function hooksOf(repository: string): Promise<string | undefined> {
  const config = (await configOf(join(repository, ".git"))) ?? "";
  let isCore = false;
  let hooks: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (section !== undefined) isCore = section.trim().toLowerCase() === "core";
    const value = /\bhookspath\s*=\s*"?([^"#;]*)/i.exec(line)?.[1]?.trim();
    if (isCore && value) hooks = resolve(repository, value);
  }
  return hooks;
}

/** Reads the configuration of a repository. The `.git` of a worktree is a file that names the repository's folder. */
async function configOf(git: string): Promise<string | undefined> {
  const own = await textOf(join(git, "config"));
  if (own !== undefined) return own;
  const target = /^gitdir:\s*(.+)$/m.exec((await textOf(git)) ?? "")?.[1]?.trim();
  if (target === undefined) return undefined;
  const folder = resolve(dirname(git), target);
  const common = (await textOf(join(folder, "commondir")))?.trim();
  return await textOf(join(common === undefined ? folder : resolve(folder, common), "config"));
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return (await readRegularFile(path)).toString("utf8");
  } catch (error) {
    if (isAbsent(error) || ["EISDIR", "EFTYPE", "EFBIG", "EACCES", "EPERM"].includes(systemCodeOf(error) ?? ""))
      return undefined;
    throw error;
  }
}
