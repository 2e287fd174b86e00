// The process groups of a broker's servers, on disk: if the broker is killed, the next one, or the last relay to leave,
// ends what is left. Each broker has a file of its own, because an old one may finish its calls beside the next one.
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { bootId, processNumbers } from "./broker-place.js";
import { isAlive, startOf } from "./start-lock.js";

/** Writes down the groups of this process. */
export class ProcessGroups {
  readonly #path: string;
  readonly #onError: (error: unknown) => void;
  readonly #groups = new Map<number, string>();

  /** `onError` is called when they cannot be written, such as on a full disk: servers run all the same. */
  constructor(groups: string, onError: (error: unknown) => void) {
    this.#path = `${groups}.${process.pid}`;
    this.#onError = onError;
    this.#write();
  }

  add(leader: number): void {
    this.#groups.set(leader, startOf(leader));
    this.#write();
  }

  remove(leader: number): void {
    if (this.#groups.delete(leader)) this.#write();
  }

  #write(): void {
    const lines = [...this.#groups].map(([pid, start]) => `${pid} ${start}\n`);
    const next = `${this.#path}.new`;
    try {
      // Never follows a link that was put there.
      rm(next);
      writeFileSync(
        next,
        [`${process.pid} ${startOf(process.pid)} ${bootId()} ${processNumbers()}\n`, ...lines].join(""),
        {
          flag: "wx",
          mode: 0o600,
        },
      );
      renameSync(next, this.#path);
    } catch (error) {
      this.#onError(error);
    }
  }

  close(): void {
    this.#groups.clear();
    rm(this.#path);
    rm(`${this.#path}.new`);
  }
}

/** A broker that has written down its groups. */
interface RecordedBroker {
  readonly path: string;
  readonly pid: number;
  readonly isAlive: boolean;
  /** Lines of a process id and when it started. */
  readonly groups: readonly string[];
}

/** Returns the brokers of this place that run, and those that were killed. */
export function recordedBrokers(groups: string): readonly RecordedBroker[] {
  const prefix = `${basename(groups)}.`;
  let names: string[];
  try {
    names = readdirSync(dirname(groups));
  } catch {
    // Mostly there is no folder. If it cannot be read, this process cannot help it.
    return [];
  }
  return names.flatMap((name) => {
    if (!name.startsWith(prefix) || !/^\d+$/.test(name.slice(prefix.length))) return [];
    const path = join(dirname(groups), name);
    const text = readOwn(path);
    if (text === undefined) return [];
    const [broker = "", ...lines] = text.split("\n").filter((line) => line !== "");
    const [, , boot = "", numbers = ""] = broker.split(" ");
    // After a restart of the machine, the numbers belong to other processes.
    const isThisBoot = boot === bootId();
    // In a container with the same home folder they do as well, but the broker may be alive.
    if (isThisBoot && numbers !== processNumbers()) return [];
    return [
      {
        path,
        pid: Number.parseInt(broker, 10),
        isAlive: isThisBoot && isAlive(broker),
        groups: isThisBoot ? lines : [],
      },
    ];
  });
}

/** Kills the process groups of brokers that have ended. Returns how many there were. */
export function endLeftGroups(groups: string): number {
  let ended = 0;
  for (const broker of recordedBrokers(groups)) {
    if (broker.isAlive) continue;
    for (const leader of broker.groups) if (isLeaderOrGone(leader) && endGroup(leader)) ended += 1;
    rm(broker.path);
    rm(`${broker.path}.new`);
  }
  return ended;
}

function endGroup(leader: string): boolean {
  try {
    process.kill(-Number(leader.split(" ")[0]), "SIGKILL");
    return true;
  } catch (error) {
    // Gone already.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  }
}

/** Returns the text of a file; undefined if there is none, or a link. */
function readOwn(path: string): string | undefined {
  try {
    if (!lstatSync(path).isFile()) return undefined;
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return readFileSync(file, "utf8");
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Whether the group is still the one that was written down: its leader lives, or has ended and left others. A number
 * that now belongs to another process names another group.
 */
function isLeaderOrGone(leader: string): boolean {
  const [pid = "", start = ""] = leader.split(" ");
  if (!/^[1-9]\d*$/.test(pid) || Number(pid) < 2) return false;
  const now = startOf(Number(pid));
  return now === "" || now === start;
}

function rm(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
