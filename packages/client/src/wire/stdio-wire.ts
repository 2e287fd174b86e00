// The wire to a server's process: lines of JSON on its standard input and output. The whole process tree ends with the
// wire, and noise on stdout does not break it.
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { atMost, isFolderSync, messageOf, systemCodeOf, TrunklineError } from "@trunkline/core";
import {
  answeredId,
  DEFAULT_MAX_MESSAGE_BYTES,
  ID_WINDOW_BYTES,
  type OutgoingMessage,
  type RpcId,
  refusedAnswer,
  unreadAnswer,
} from "@trunkline/protocol";
import spawn from "cross-spawn";
import { LARGE_MESSAGE_BYTES, type LargeMessages, messagesIn } from "../results/large-messages.js";
import { LineSplitter } from "./line-splitter.js";
import type { Wire, WireListener, WireMessage } from "./message-wire.js";
import { Pace } from "./pace.js";
import {
  forgetProcessTree,
  isProcessTreeAlive,
  signalProcessTree,
  trackProcessTree,
  USES_PROCESS_GROUPS,
} from "./process-tree.js";

interface StdioWireOptions {
  command: string;
  args: readonly string[];
  /** The child's whole environment: nothing of ours is added. */
  env: Readonly<Record<string, string>>;
  cwd?: string;
  /** A longer answer is skipped and fails its request. Default 64 MB. */
  maxMessageBytes?: number;
  /** Reads large messages. Without it, they are read like all others. */
  large?: LargeMessages;
  /** Receives stdout lines that are not protocol messages. */
  onNoise?: (line: string) => void;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const STDERR_TAIL_LINES = 40;
const STDERR_LINE_CHARS = 2_000;
const NOISE_CHARS = 200;
/** How long a server may take to exit once its input is closed, and again after SIGTERM. */
const GRACE_MS = 1_000;
const POLL_MS = 20;
/** While this many large messages are being read, no more output is read. */
const MOST_READING = 4;

/** One server process that exchanges lines of JSON. */
export class StdioWire implements Wire {
  /** Everything arrives on one pipe. */
  readonly hasOwnStreams = false;
  readonly hasSession = false;
  readonly #options: StdioWireOptions;
  readonly #stderrTail: string[] = [];
  #listener: WireListener | undefined;
  #child: ChildProcess | undefined;
  #firstNoise: string | undefined;
  #running = false;
  #exit: ProcessExit | undefined;
  #ended: Promise<void> = Promise.resolve();
  /** Resolves when the output of an ended process has been read. */
  #drained: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #closeReported = false;
  /** Lines that wait to be written together. */
  #unwritten = "";
  readonly #pace = new Pace();
  /** Large messages that are being read. */
  #reading = 0;

  constructor(options: StdioWireOptions) {
    this.#options = options;
  }

  /** The id of the process, once it has started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get stderrTail(): readonly string[] {
    return this.#stderrTail;
  }

  /** The first stdout line that was not a protocol message. */
  get firstNoise(): string | undefined {
    return this.#firstNoise;
  }

  /** How the process ended by itself; undefined while it runs, or if we ended it. */
  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  async start(listener: WireListener): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    this.#listener = listener;
    let child: ChildProcess;
    try {
      child = spawn(command, [...args], {
        env: { ...env },
        cwd,
        stdio: ["pipe", "pipe", "pipe"],
        detached: USES_PROCESS_GROUPS,
        windowsHide: true,
      });
    } catch (error) {
      throw this.#spawnError(error);
    }
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once("exit", () => resolve()));
    // Attached in the same tick as the spawn, so that no line is lost.
    this.#readLines(child);
    child.stdin?.on("error", (error) => listener.onError(error));
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", () => {
        this.#running = true;
        trackProcessTree(child);
        resolve();
      });
      child.once("error", (error) => reject(this.#spawnError(error)));
    });
  }

  send(request: OutgoingMessage): void {
    if (this.#isWritable) {
      this.#write(request);
      return;
    }
    // The error of a call includes what the server wrote last.
    void this.#drained.then(() => this.#listener?.onFailure(request.id as RpcId, this.#notRunning()));
  }

  async post(message: OutgoingMessage): Promise<void> {
    if (!this.#isWritable) throw this.#notRunning();
    this.#write(message);
  }

  /** Nothing is open for a single request: its answer is ignored when it comes. */
  drop(): void {}

  setRevision(): void {}

  listen(): void {}

  get #isWritable(): boolean {
    const stdin = this.#child?.stdin;
    return this.#running && stdin?.writable === true;
  }

  #notRunning(): TrunklineError {
    return new TrunklineError("SERVER_EXITED", `${this.#options.command} is not running.`);
  }

  /** Messages sent in one turn of the event loop share one write, because a write costs more than a message. */
  #write(message: OutgoingMessage): void {
    if (this.#unwritten === "") setImmediate(() => this.#flush());
    this.#unwritten += `${JSON.stringify(message)}\n`;
  }

  #flush(): void {
    const text = this.#unwritten;
    this.#unwritten = "";
    if (text !== "" && this.#isWritable) this.#child?.stdin?.write(text);
  }

  close(): Promise<void> {
    this.#closing ??= this.#terminate();
    return this.#closing;
  }

  /** Closes the input, then asks the whole tree to end, then kills it. */
  async #terminate(): Promise<void> {
    const child = this.#child;
    const pid = child?.pid;
    if (!child || pid === undefined) {
      this.#reportClose();
      return;
    }
    this.#flush();
    child.stdin?.end();
    if (!(await this.#treeEndsWithin(pid, GRACE_MS))) {
      signalProcessTree(pid, "SIGTERM");
      if (!(await this.#treeEndsWithin(pid, GRACE_MS))) {
        signalProcessTree(pid, "SIGKILL");
        await this.#treeEndsWithin(pid, GRACE_MS);
      }
    }
    forgetProcessTree(pid);
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.stderr?.destroy();
    this.#reportClose();
  }

  async #treeEndsWithin(pid: number, ms: number): Promise<boolean> {
    const until = performance.now() + ms;
    if (!(await endsWithin(this.#ended, ms))) return false;
    // The leader is gone. Its children may take a moment longer, and there is no event to wait for.
    while (isProcessTreeAlive(pid)) {
      if (performance.now() >= until) return false;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return true;
  }

  #readLines(child: ChildProcess): void {
    const { maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = this.#options;
    const splitter = new LineSplitter(
      {
        onLine: (bytes) => this.#takeLine(bytes),
        onTooLarge: (id) => {
          if (id === undefined) this.#refuseOutput(`a message of more than ${maxMessageBytes} bytes`);
          else this.#listener?.onMessage(refusedAnswer(id, "tooLarge", maxMessageBytes) as WireMessage, undefined);
        },
        onEndless: () => this.#refuseOutput("a message that does not end"),
      },
      { maxBytes: maxMessageBytes },
    );
    child.stdout?.on("data", (chunk: Buffer) => {
      splitter.push(chunk);
      if (!this.#pace.isTooFast || child.stdout?.isPaused()) return;
      child.stdout?.pause();
      void this.#pace.slowDown().then(() => child.stdout?.resume());
    });

    let partial = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (partial + text).split(/\r?\n/);
      partial = lastWords(lines.pop() ?? "");
      for (const line of lines) this.#takeStderr(line);
    });

    child.once("exit", (code, signal) => {
      this.#running = false;
      if (this.#closing === undefined) this.#exit = { code, signal };
      // Output from before the end is still in the pipe. A grandchild may hold the pipe open, so don't wait forever.
      const drained = Promise.all([streamEnd(child.stdout), streamEnd(child.stderr)]).then(() => {});
      this.#drained = endsWithin(drained, GRACE_MS).then(() => {
        if (partial !== "") this.#takeStderr(partial);
        partial = "";
        if (this.#closing === undefined) void this.close();
      });
    });
  }

  /** Ends the connection: without an id, it is unknown which requests would never be answered. */
  #refuseOutput(what: string): void {
    this.#listener?.onError(new TrunklineError("RESULT_TOO_LARGE", `The server sent ${what}.`));
    this.#child?.stdout?.destroy();
    void this.close();
  }

  #takeStderr(line: string): void {
    if (line.trim() === "") return;
    this.#stderrTail.push(firstWords(line));
    if (this.#stderrTail.length > STDERR_TAIL_LINES) this.#stderrTail.shift();
  }

  #takeLine(bytes: Buffer): void {
    if (bytes.length > LARGE_MESSAGE_BYTES && this.#options.large !== undefined) {
      void this.#takeLarge(bytes, this.#options.large);
      return;
    }
    const line = bytes.toString("utf8");
    if (line.trim() === "") return;
    let parsed: unknown;
    try {
      parsed = JSON.parse(line);
    } catch {
      this.#noise(line);
      return;
    }
    // Revision 2025-03-26 has batches: several messages on one line.
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) {
      if (!isMessage(message)) {
        this.#noise(line);
        continue;
      }
      if ("method" in message) this.#pace.count();
      this.#listener?.onMessage(message, undefined);
    }
  }

  /** Reads a large message on another thread. Meanwhile, the messages after it arrive. */
  async #takeLarge(bytes: Buffer, large: LargeMessages): Promise<void> {
    const { stdout } = this.#child ?? {};
    const start = bytes.toString("utf8", 0, ID_WINDOW_BYTES);
    const end = bytes.toString("utf8", Math.max(0, bytes.length - ID_WINDOW_BYTES));
    this.#reading++;
    if (this.#reading >= MOST_READING) stdout?.pause();
    try {
      for (const message of await messagesIn(large, bytes))
        if (isMessage(message)) this.#listener?.onMessage(message, undefined);
    } catch (error) {
      const id = answeredId(start, end);
      if (id === undefined) this.#listener?.onError(error);
      else this.#listener?.onMessage(unreadAnswer(id, messageOf(error)) as WireMessage, undefined);
    } finally {
      this.#reading--;
      if (this.#reading < MOST_READING) stdout?.resume();
    }
  }

  #noise(line: string): void {
    this.#firstNoise ??= line.slice(0, NOISE_CHARS);
    this.#options.onNoise?.(line);
  }

  #reportClose(): void {
    if (this.#closeReported) return;
    this.#closeReported = true;
    this.#listener?.onClose();
  }

  #spawnError(error: unknown): TrunklineError {
    const { command, cwd } = this.#options;
    const code = systemCodeOf(error);
    if (code === "ENOENT" && cwd !== undefined && !existsSync(cwd)) {
      return new TrunklineError("SPAWN_FAILED", `The working directory ${cwd} of "${command}" does not exist.`, {
        cause: error,
        hint: 'Create it, or fix "cwd" in the entry.',
      });
    }
    if (code === "ENOENT") {
      return new TrunklineError("SPAWN_FAILED", `Program "${command}" not found.`, {
        cause: error,
        hint: "Install it, or use its full path. Is it on the PATH?",
      });
    }
    if (code === "EACCES" && isFolderSync(command)) {
      return new TrunklineError("SPAWN_FAILED", `"${command}" is a folder, not a program.`, {
        cause: error,
        hint: 'Put the program in "command".',
      });
    }
    if (code === "EACCES") {
      return new TrunklineError("SPAWN_FAILED", `Program "${command}" is not executable.`, {
        cause: error,
        hint: `Make it executable: chmod +x ${command}`,
      });
    }
    return new TrunklineError("SPAWN_FAILED", `Cannot start program "${command}": ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function isMessage(value: unknown): value is WireMessage {
  return typeof value === "object" && value !== null && (value as { jsonrpc?: unknown }).jsonrpc === "2.0";
}

function streamEnd(stream: Readable | null): Promise<void> {
  if (!stream || stream.readableEnded || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("end", resolve);
    stream.once("close", resolve);
  });
}

async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  return (
    (await atMost(
      ms,
      work.then(() => true),
    )) === true
  );
}

/** Cuts a long line between words: half a secret would not be recognised. */
function firstWords(line: string): string {
  return line.length <= STDERR_LINE_CHARS ? line : line.slice(0, STDERR_LINE_CHARS).replace(/\S*$/, "…");
}

function lastWords(line: string): string {
  return line.length <= STDERR_LINE_CHARS ? line : line.slice(-STDERR_LINE_CHARS).replace(/^\S*/, "…");
}
