// Where the broker of a user is found, and who may be there: only the user themselves.
import { chmodSync, lstatSync, mkdirSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** The files of one broker. */
export interface BrokerPlace {
  readonly folder: string;
  readonly socket: string;
  /** Held by the process that is starting a broker. */
  readonly lock: string;
  /** The process groups of a broker's servers: `<groups>.<pid of the broker>`. */
  readonly groups: string;
  readonly log: string;
}

/** Why the broker cannot be used. Its message is shown to the user. */
export class BrokerUnavailableError extends Error {}

/** There is a broker, but it is stopped or hangs. */
export class BrokerSilentError extends BrokerUnavailableError {
  constructor() {
    super("it does not answer");
  }
}

/** A longer path is cut off silently: 104 bytes on macOS and the BSDs, 108 on Linux, with the end. */
const MAX_SOCKET_PATH_BYTES = process.platform === "linux" ? 107 : 103;

/** The longest name of a socket in the folder: a broker binds `b<pid>.sock` first. */
const LONGEST_NAME = "b9999999.sock";

/**
 * Returns the place of the broker for Trunkline's home, and creates its folder, unless `create` is false. Throws
 * {@link BrokerUnavailableError} if the folder is not the user's alone.
 */
export function brokerPlace({
  home,
  runtimeFolder,
  create = true,
}: {
  home: string;
  runtimeFolder?: string;
  create?: boolean;
}): BrokerPlace {
  if (isConfined()) throw new BrokerUnavailableError("this process runs in a sandbox");
  const shared = runtimeFolder !== undefined && isDefaultHome(home) && isOwnFolder(runtimeFolder);
  const folder = shared ? join(runtimeFolder, "trunkline") : join(home, "run");
  const socketBytes = Buffer.byteLength(join(folder, LONGEST_NAME));
  if (socketBytes > MAX_SOCKET_PATH_BYTES) {
    throw new BrokerUnavailableError(`the path of its socket would be too long: ${folder}`);
  }
  if (create || lstatSync(folder, { throwIfNoEntry: false }) !== undefined) prepareFolder(folder);
  return {
    folder,
    socket: join(folder, "broker.sock"),
    lock: join(folder, "broker.lock"),
    groups: join(folder, "broker.groups"),
    log: join(folder, "broker.log"),
  };
}

/** A home that was named by a variable has a broker of its own, inside it. */
function isDefaultHome(home: string): boolean {
  return home === join(userInfo().homedir, ".trunkline");
}

function isOwnFolder(folder: string): boolean {
  if (!isAbsolute(folder)) return false;
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === ownUser() && (stats.mode & 0o077) === 0;
}

function ownUser(): number {
  return process.getuid?.() ?? 0;
}

/** Creates a folder that only the user can enter. A link is refused: its target may be anyone's. */
export function prepareFolder(folder: string): void {
  const stats = found(folder) ?? made(folder);
  if (!stats.isDirectory()) throw new BrokerUnavailableError(`${folder} is not a folder`);
  if (stats.uid !== ownUser()) throw new BrokerUnavailableError(`${folder} belongs to another user`);
  if ((stats.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Usually it is there. Trying to create it instead takes longer. */
function found(folder: string): Stats | undefined {
  try {
    return lstatSync(folder, { throwIfNoEntry: false });
  } catch {
    // Creating it says why it cannot be used.
    return undefined;
  }
}

function made(folder: string): Stats {
  try {
    make(folder);
    return lstatSync(folder);
  } catch (error) {
    throw new BrokerUnavailableError(`${folder} cannot be created: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Not `recursive`: Node loops forever if a file system such as /proc answers ENOENT for something else. */
function make(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(folder) === folder) throw error;
    make(dirname(folder));
    mkdirSync(folder, { mode: 0o700 });
  }
}

/** Whether there is a socket of this user; false for a link or a file that was put there. */
export function isOwnSocket(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSocket() === true && stats.uid === ownUser();
}

/** The kinds of namespaces that separate a sandbox or a container from the rest of the machine. */
const NAMESPACES = ["mnt", "pid", "net", "user", "ipc"];

/** Lines of a process's status that say what it may do. */
const RIGHTS = ["Uid", "Gid", "Groups", "CapEff", "NoNewPrivs", "Seccomp", "Seccomp_filters"];

/**
 * Identifies where a process runs: machine, boot, namespaces, root, rights and restrictions. A client in a sandbox must
 * not get a broker outside of it to act for it, so the broker compares. Empty on systems without these files. With
 * `umask`, how files that the process creates are protected is a part of it.
 */
export function executionPlace(pid: number | "self" = "self", { umask = true } = {}): string {
  const rights = statusLines(pid);
  const facts = [
    bootId(),
    ...NAMESPACES.map((name) => linkText(`/proc/${pid}/ns/${name}`)),
    ...RIGHTS.map((name) => rights.get(name)),
    umask ? rights.get("Umask") : undefined,
    profileOf(pid),
    rootOf(pid),
  ];
  return facts.map((fact) => fact ?? "").join("|");
}

/** The lines of a process's status, by name. */
function statusLines(pid: number | "self" | "1"): ReadonlyMap<string, string> {
  const lines = (fileText(`/proc/${pid}/status`) ?? "").split("\n");
  return new Map(
    lines.map((line) => {
      const end = line.indexOf(":");
      return [line.slice(0, end), line.slice(end + 1).trim()];
    }),
  );
}

function profileOf(pid: number | "self"): string {
  return restrictingProfile(fileText(`/proc/${pid}/attr/current`) ?? "");
}

/** The security profile of a process, if it restricts anything. Some desktops give editors one that does not. */
export function restrictingProfile(text: string): string {
  const profile = text.replace(/[\0\s]+$/, "");
  return /^unconfined$|\((?:unconfined|complain)\)$/.test(profile) ? "" : profile;
}

/**
 * Whether this process is confined in a way that cannot be compared, such as by Landlock: it has given up gaining rights,
 * unlike the rest of the system. It must not share a broker with anyone.
 */
function isConfined(): boolean {
  const [own, first] = (["self", "1"] as const).map((pid) => statusLines(pid).get("NoNewPrivs"));
  return own === "1" && first !== "1";
}

/** Differs after each start of the machine. Empty on systems that do not say. */
export function bootId(): string {
  return fileText("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

/** Differs where processes have other numbers, as in a container. Empty on systems that do not say. */
export function processNumbers(): string {
  return linkText("/proc/self/ns/pid") ?? "";
}

function rootOf(pid: number | "self"): string | undefined {
  try {
    const root = statSync(`/proc/${pid}/root/`);
    return `${root.dev}:${root.ino}`;
  } catch {
    return undefined;
  }
}

function fileText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not Linux, or hidden by a sandbox: both count as "unknown", which differs from any value.
    return undefined;
  }
}

function linkText(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
