// Runs the command at a terminal, either emulated in this process or created by `script` (part of every Debian and
// Fedora). The terminal shows stdin and stderr; stdout is kept separate, so tests can tell the result from the
// conversation.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { runProgram } from "../../packages/cli/src/program.js";
import { Interrupts } from "../../packages/cli/src/terminal/interrupts.js";
import { HANG_MS } from "../support/hang.js";
import { needs } from "../support/needs.js";
import { bin, type Outcome, outcomeOf, type Place, TRUNKLINE_BROKER } from "./command.js";

/** The path of `script`; empty if it is missing or does not take a command like util-linux's. */
const script =
  process.platform === "linux" && spawnSync("script", ["--version"]).status === 0
    ? spawnSync("sh", ["-c", "command -v script"], { encoding: "utf8" }).stdout.trim()
    : "";

/** Whether this machine can create a real terminal. */
export const hasTerminal = script !== "";

/** For test names, which have to say why they cannot run. */
export const atTerminal = `at a real terminal${needs("`script` of util-linux", hasTerminal)}`;

export const KEY = { enter: "\r", interrupt: "\u0003", endOfInput: "\u0004" } as const;

/** A test's view of the command at a terminal: what it shows, and the keys to press. */
abstract class Screen {
  #screen = "";
  #seenChars = 0;
  #ended = false;
  #onChange = () => {};

  /** Everything sent to the terminal so far. */
  get screen(): string {
    return this.#screen;
  }

  /** Waits until this text appears, after the text of the previous wait. */
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

  abstract press(keys: string): void;

  /** Waits for a question and answers it with a line. */
  async answer(question: string, line: string): Promise<void> {
    await this.sees(question);
    this.press(`${line}${KEY.enter}`);
  }

  /** Waits for the command to exit. */
  abstract end(): Promise<{ code: number | null; stdout: string; screen: string }>;

  /** Stops the command if a test left it running. */
  abstract close(): Promise<void>;

  protected get ended(): boolean {
    return this.#ended;
  }

  protected show(text: string): void {
    this.#screen += text;
    this.#onChange();
  }

  protected finish(): void {
    this.#ended = true;
    this.#onChange();
  }
}

/**
 * Standard input at a terminal: single keys while a prompt reads them, otherwise whole lines, as the kernel edits them.
 */
class TerminalInput extends PassThrough {
  readonly isTTY = true;
  isRaw = false;
  /** Called when a prompt starts to read single keys: the kernel then hands over the line that is being edited. */
  onRaw = () => {};

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    if (isRaw) this.onRaw();
    return this;
  }
}

interface TerminalOptions {
  /** Whether stdout is shown on the terminal too. Default: it is kept apart. */
  readonly showsAnswer?: boolean;
  readonly columns?: number;
}

/** Runs the command in this process, at an emulated terminal, by default of 80 columns. */
export class Terminal extends Screen {
  readonly #stdin = new TerminalInput();
  readonly #interrupts = new Interrupts();
  readonly #outcome: Promise<number>;
  #line = "";
  #stdout = "";

  constructor(
    place: Place,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    { showsAnswer = false, columns = 80 }: TerminalOptions = {},
  ) {
    super();
    // As with a real terminal, the reader gets it after it has been set up.
    this.#stdin.onRaw = () => process.nextTick(() => this.#flush(""));
    const keep = (take: (text: string) => void) => {
      const decoder = new StringDecoder();
      return new Writable({
        write: (chunk, _encoding, done) => {
          take(decoder.write(chunk));
          done();
        },
      });
    };
    // The kernel's terminals show a line feed as carriage return and line feed.
    const stderr = keep((text) => this.show(text.replaceAll("\n", "\r\n")));
    const stdout = keep((text) => {
      this.#stdout += text;
      if (showsAnswer) this.show(text.replaceAll("\n", "\r\n"));
    });
    this.#outcome = runProgram(args, {
      stdin: this.#stdin,
      stdout: showsAnswer ? Object.assign(stdout, { isTTY: true as const, columns, rows: 24 }) : stdout,
      stderr: Object.assign(stderr, { isTTY: true as const, columns, rows: 24 }),
      env: { PATH: process.env.PATH, HOME: place.home, TERM: "xterm", SHELL: "/bin/sh", ...place.env, ...env },
      cwd: place.cwd,
      userHome: place.home,
      interrupts: this.#interrupts,
    }).finally(() => this.finish());
  }

  press(keys: string): void {
    for (const key of keys) {
      if (this.#stdin.isRaw) this.#stdin.write(key);
      else this.#edit(key);
    }
  }

  async end(): Promise<{ code: number; stdout: string; screen: string }> {
    const code = await this.#outcome;
    return { code, stdout: this.#stdout, screen: this.screen };
  }

  async close(): Promise<void> {
    if (!this.ended) this.#interrupts.press("SIGTERM");
    await this.#outcome;
  }

  /** Handles a key as the kernel does when no prompt reads single keys. */
  #edit(key: string): void {
    if (key === KEY.interrupt) {
      this.show("^C");
      this.#interrupts.press("SIGINT");
    } else if (key === KEY.endOfInput) {
      if (this.#line === "") this.#stdin.end();
      else this.#flush("");
    } else if (key === KEY.enter) {
      this.show("\r\n");
      this.#flush("\n");
    } else {
      this.show(key);
      this.#line += key;
    }
  }

  #flush(ending: string): void {
    const text = `${this.#line}${ending}`;
    if (text !== "") this.#stdin.write(text);
    this.#line = "";
  }
}

/** The built command at a real terminal, for tests that involve both the kernel and the process. */
export class RealTerminal extends Screen {
  readonly #child: ChildProcess;
  readonly #stdoutFile: string;
  readonly #outcome: Promise<Outcome>;

  constructor(place: Place, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    super();
    this.#stdoutFile = join(place.base, `stdout-${randomUUID()}`);
    const words = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    this.#child = spawn(script, ["-qec", `stty cols 80 rows 24; exec ${words} > '${this.#stdoutFile}'`, "/dev/null"], {
      cwd: place.cwd,
      env: {
        PATH: process.env.PATH,
        HOME: place.home,
        TERM: "xterm",
        SHELL: "/bin/sh",
        TRUNKLINE_BROKER,
        TRUNKLINE_NO_UPDATE_NOTICE: "1",
        ...place.env,
        ...env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.show(text));
    this.#outcome = outcomeOf(this.#child).then((outcome) => {
      this.finish();
      return outcome;
    });
  }

  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  async end(): Promise<{ code: number | null; stdout: string; screen: string }> {
    const { code } = await this.#outcome;
    return { code, stdout: readFileSync(this.#stdoutFile, "utf8"), screen: this.screen };
  }

  async close(): Promise<void> {
    if (!this.ended) this.#child.kill();
    await this.#outcome;
  }
}
