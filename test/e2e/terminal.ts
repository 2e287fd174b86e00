// The built command at a real terminal, which `script` (part of every Debian and Fedora) makes. What the terminal shows is
// stdin and stderr; stdout goes to a file, so that the result is seen apart from the conversation.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HANG_MS } from "../support/hang.js";
import { needs } from "../support/needs.js";
import { bin, type Outcome, outcomeOf, type Place } from "./command.js";

/** Where `script` is; empty where there is none that takes a command as util-linux has it. */
const script =
  process.platform === "linux" && spawnSync("script", ["--version"]).status === 0
    ? spawnSync("sh", ["-c", "command -v script"], { encoding: "utf8" }).stdout.trim()
    : "";

/** Whether there can be a terminal on this machine. */
export const hasTerminal = script !== "";

/** For the names of tests, which have to say so where they cannot run. */
export const atTerminal = `at a terminal${needs("`script` of util-linux", hasTerminal)}`;

/** The keys that have no letter. */
export const KEY = { enter: "\r", interrupt: "\u0003", endOfInput: "\u0004" } as const;

/** A run of the command at a terminal of its own. */
export class Terminal {
  readonly #child: ChildProcess;
  readonly #stdoutFile: string;
  readonly #outcome: Promise<Outcome>;
  #screen = "";
  #seenChars = 0;
  #ended = false;
  #onChange = () => {};

  constructor(place: Place, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#stdoutFile = join(place.base, `stdout-${randomUUID()}`);
    const words = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    this.#child = spawn(script, ["-qec", `stty cols 80 rows 24; exec ${words} > '${this.#stdoutFile}'`, "/dev/null"], {
      cwd: place.cwd,
      env: { PATH: process.env.PATH, HOME: place.home, TERM: "xterm", SHELL: "/bin/sh", ...place.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#screen += text;
      this.#onChange();
    });
    this.#outcome = outcomeOf(this.#child).then((outcome) => {
      this.#ended = true;
      this.#onChange();
      return outcome;
    });
  }

  /** Everything that the terminal was sent so far. */
  get screen(): string {
    return this.#screen;
  }

  /** Waits until this is shown, after what was waited for before. */
  async sees(text: string): Promise<void> {
    const missing = (why: string) => new Error(`${why} without showing ${JSON.stringify(text)}:\n${this.#screen}`);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(missing("Time went by")), HANG_MS);
      this.#onChange = () => {
        const at = this.#screen.indexOf(text, this.#seenChars);
        if (at === -1 && !this.#ended) return;
        clearTimeout(timer);
        this.#onChange = () => {};
        if (at === -1) return reject(missing("The command ended"));
        this.#seenChars = at + text.length;
        resolve();
      };
      this.#onChange();
    });
  }

  /** Presses keys. */
  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Waits for a question and answers it with a line. */
  async answer(question: string, line: string): Promise<void> {
    await this.sees(question);
    this.press(`${line}${KEY.enter}`);
  }

  /** Waits for the end of the command. */
  async end(): Promise<{ code: number | null; stdout: string; screen: string }> {
    const { code } = await this.#outcome;
    return { code, stdout: readFileSync(this.#stdoutFile, "utf8"), screen: this.#screen };
  }

  /** Ends the command, where a test left it running. */
  async close(): Promise<void> {
    if (!this.#ended) this.#child.kill();
    await this.#outcome;
  }
}
