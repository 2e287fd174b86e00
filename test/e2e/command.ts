// Runs the command in its own HOME and folder: in this process by default, or as a real process if that is the point.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { brokerUseOf } from "../../packages/cli/src/commands/broker/broker-commands.js";
import { runProgram } from "../../packages/cli/src/program.js";
import { Interrupts, type StopSignal } from "../../packages/cli/src/terminal/interrupts.js";
import { endLeftGroups, recordedBrokers } from "../../packages/daemon/src/relay/index.js";
import { startOf } from "../../packages/daemon/src/wire/start-lock.js";
import { leftProcesses } from "../support/left-processes.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export const bin = join(root, "packages", "cli", "bin", "trunkline.cjs");

/** Whether commands use a broker of their HOME: `off`, except in the run that repeats these tests with one. */
export const { TRUNKLINE_BROKER = "off" } = process.env;

/** Kills the brokers of a home, if there are any, and their servers. */
export function endBroker(home: string): void {
  const groups = join(home, "run", "broker.groups");
  for (const { pid, isAlive: isRunning } of recordedBrokers(groups)) if (isRunning) endProcess(pid);
  endLeftGroups(groups);
}

/**
 * Kills the commands whose HOME is below a folder: relays first, because they start another broker when theirs is
 * killed, then brokers, even those that are not recorded yet.
 */
export function endCommands(folder: string): void {
  if (process.platform !== "linux") return;
  for (;;) {
    const commands = leftProcesses(folder).filter(({ command }) => command.includes(`${basename(bin)} `));
    const brokers = commands.filter(({ command }) => command.endsWith(" broker run"));
    if (commands.length === 0) return;
    for (const { pid } of commands) if (!brokers.some((broker) => broker.pid === pid)) endProcess(pid);
    for (const { pid } of brokers) endProcess(pid);
  }
}

/** Kills a process and waits until it runs no more. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  while (startOf(pid) !== "") execFileSync("sleep", ["0.01"]);
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
}

/** A started command: the common interface of a `ChildProcess` and an in-process run. */
export interface Running {
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  kill(signal?: StopSignal): boolean;
  once(event: "close", listener: (code: number | null) => void): unknown;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A folder with an empty HOME next to it, both removed at the end. */
export class Place implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), "trunkline-e2e-"));
  readonly cwd = join(this.base, "project");
  readonly home = join(this.base, "home");

  readonly env: Readonly<Record<string, string>>;

  /** `env` is set for every run in this place, in addition to PATH and HOME. */
  constructor(files: Record<string, unknown> = {}, env: Readonly<Record<string, string>> = {}) {
    this.env = env;
    mkdirSync(this.cwd);
    mkdirSync(this.home);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** Writes a file below the project folder, as JSON unless it is a string. */
  write(path: string, content: unknown): string {
    const file = join(this.cwd, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return file;
  }

  /** Starts the command and leaves it running: in this process, or as one that relays it if the broker is on. */
  start(args: readonly string[], options: RunOptions = {}): Running {
    const env = this.#envOf(options);
    const isRelayed = env.TRUNKLINE_BROKER === "on" && brokerUseOf(args, env, process.platform) !== undefined;
    if (isRelayed) return this.startProcess(args, options);
    return new RunInProcess(args, { cwd: options.cwd ?? this.cwd, env, userHome: this.home });
  }

  /** Runs the command to completion, as {@link start} does. */
  async run(args: readonly string[], options: RunOptions & { input?: string } = {}): Promise<Outcome> {
    const running = this.start(args, options);
    running.stdin?.end(options.input ?? "");
    return await outcomeOf(running);
  }

  /**
   * Starts the built command as a separate process: for signals, exits, crashes, scripts and the process's own output.
   */
  startProcess(args: readonly string[], options: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [bin, ...args], {
      cwd: options.cwd ?? this.cwd,
      env: this.#envOf(options),
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** Runs the built command to completion as a separate process. */
  async runProcess(args: readonly string[], options: RunOptions & { input?: string } = {}): Promise<Outcome> {
    const child = this.startProcess(args, options);
    child.stdin?.end(options.input ?? "");
    return await outcomeOf(child);
  }

  #envOf({ env }: RunOptions): Record<string, string> {
    const off = { TRUNKLINE_BROKER, TRUNKLINE_NO_UPDATE_NOTICE: "1" };
    return { PATH: process.env.PATH ?? "", HOME: this.home, ...off, ...this.env, ...env };
  }

  [Symbol.dispose](): void {
    if (this.#envOf({}).TRUNKLINE_BROKER !== "off") endCommands(this.base);
    endBroker(join(this.home, ".trunkline"));
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** An in-process run of the command with its own streams. */
class RunInProcess extends EventEmitter implements Running {
  readonly stdin = new PassThrough();
  // The size of a pipe buffer, so a command waits for its reader as in a shell.
  readonly stdout = new PassThrough({ highWaterMark: 65_536 });
  readonly stderr = new PassThrough({ highWaterMark: 65_536 });
  readonly #interrupts = new Interrupts();

  constructor(args: readonly string[], place: { cwd: string; env: Record<string, string>; userHome: string }) {
    super();
    const { stdin, stdout, stderr } = this;
    void runProgram(args, { ...place, stdin, stdout, stderr, interrupts: this.#interrupts }).then((code) =>
      this.#end(code),
    );
  }

  kill(signal: StopSignal = "SIGTERM"): boolean {
    this.#interrupts.press(signal);
    return true;
  }

  #end(code: number): void {
    let open = 2;
    const onEnd = () => {
      open -= 1;
      if (open === 0) this.emit("close", code);
    };
    // Unread output is dropped, as when a process exits.
    for (const stream of [this.stdout, this.stderr]) stream.once("end", onEnd).resume().end();
  }
}

/** Collects a command's output and exit code. */
export async function outcomeOf(child: ChildProcess | Running): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", (exitCode) => resolve(exitCode)));
  return { code, stdout, stderr };
}

/** Waits until a stream has shown a match; rejects if the stream ends first. */
export async function seen(stream: NodeJS.ReadableStream | null, pattern: RegExp): Promise<RegExpMatchArray> {
  if (stream === null) throw new Error("no stream");
  let text = "";
  return await new Promise((resolve, reject) => {
    const onData = (chunk: Buffer | string) => {
      text += chunk.toString();
      const match = text.match(pattern);
      if (!match) return;
      stream.off("data", onData);
      resolve(match);
    };
    stream.on("data", onData);
    stream.once("end", () => reject(new Error(`ended without ${pattern}: ${text}`)));
  });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Finds a port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
