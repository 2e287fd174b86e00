// What a console leaves for the one that replaces it: its port, and the hashes of the tokens of open pages. It counts
// only for a moment: a program that takes the port of a console that ended long ago must not get its pages.
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { SavedToken } from "@trunkline/console";
import { isAbsent, isRecord, makeFolder, parseJson, placeFileSync } from "@trunkline/core";

export interface KeptConsole {
  /** The console that wrote it. Two can run at once, while one replaces the other. */
  readonly owner: string;
  readonly port: number;
  readonly tokens: readonly SavedToken[];
}

/** How often a running console says that it is there, and for how long that counts. */
const BEAT_MS = 5_000;
const FRESH_MS = 20_000;

function fileIn(home: string): string {
  return join(home, "console.json");
}

/** Reads what a console has just left; undefined if there was none, or not just now. */
export function readKeptConsole(home: string, nowMs: number = Date.now()): KeptConsole | undefined {
  let file: number;
  try {
    file = openSync(fileIn(home), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (isAbsent(error) || (error as NodeJS.ErrnoException).code === "ELOOP") return undefined;
    throw error;
  }
  try {
    const { mtimeMs, uid, mode } = fstatSync(file);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
    if (!isOwn || Math.abs(nowMs - mtimeMs) > FRESH_MS) return undefined;
    return keptIn(parseJson(readFileSync(file, "utf8")));
  } finally {
    closeSync(file);
  }
}

function keptIn(value: unknown): KeptConsole | undefined {
  if (!isRecord(value) || typeof value.owner !== "string") return undefined;
  if (!Number.isInteger(value.port) || !Array.isArray(value.tokens)) return undefined;
  const isToken = (token: unknown): token is SavedToken =>
    isRecord(token) &&
    typeof token.id === "string" &&
    typeof token.hash === "string" &&
    /^[0-9a-f]{64}$/.test(token.hash) &&
    typeof token.expiresMs === "number";
  return { owner: value.owner, port: value.port as number, tokens: value.tokens.filter(isToken) };
}

/** Keeps the file of a running console, until another console writes it. */
export class KeptConsoleFile {
  readonly #home: string;
  readonly #owner = randomBytes(8).toString("hex");
  readonly #onProblem: (error: unknown) => void;
  #port = 0;
  #beating: NodeJS.Timeout | undefined;

  constructor(home: string, onProblem: (error: unknown) => void) {
    this.#home = home;
    this.#onProblem = onProblem;
  }

  begin(port: number, tokens: readonly SavedToken[]): void {
    this.#port = port;
    this.#try(() => makeFolder(this.#home, 0o700));
    this.#write(tokens);
    this.#beating = setInterval(() => this.beat(), BEAT_MS).unref();
  }

  setTokens(tokens: readonly SavedToken[]): void {
    if (this.#isOwn()) this.#write(tokens);
  }

  /** Says that this console is still there. */
  beat(): void {
    if (!this.#isOwn()) {
      clearInterval(this.#beating);
      return;
    }
    const now = new Date();
    this.#try(() => utimesSync(fileIn(this.#home), now, now));
  }

  /** Stops saying that the console is there. */
  end(): void {
    clearInterval(this.#beating);
  }

  /** Tokens of another console must not stay valid because this one runs. */
  #isOwn(): boolean {
    try {
      return readKeptConsole(this.#home)?.owner === this.#owner;
    } catch (error) {
      this.#onProblem(error);
      return false;
    }
  }

  #write(tokens: readonly SavedToken[]): void {
    const text = `${JSON.stringify({ owner: this.#owner, port: this.#port, tokens })}\n`;
    this.#try(() =>
      placeFileSync(fileIn(this.#home), (file) => void writeSync(file, text), { mode: 0o600, flush: false }),
    );
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onProblem(error);
    }
  }
}
