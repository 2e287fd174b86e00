// Windows of a user: `trunkline serve` as processes that share one broker, in a HOME of their own.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { recordedBrokers } from "../../packages/daemon/src/relay/index.js";
import { startOf } from "../../packages/daemon/src/wire/start-lock.js";
import { bin, Place, root, seen } from "../e2e/command.js";

const HERE = join(root, "test", "broker");
const GONE_MS = 10_000;
const SERVE = ["serve", "--surface", "direct", "--names", "plain"];

export interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
  readonly error?: {
    readonly message: string;
    readonly data?: { readonly code?: string; readonly retryable?: boolean };
  };
}

interface OpenOptions {
  readonly cwd?: string;
  /** With a client process that can be killed, in front of the relay. */
  readonly asClient?: boolean;
  /** The command line of another version. */
  readonly entry?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A program that runs the relay, and its arguments. */
  readonly within?: readonly string[];
}

/** Whether a process runs; false for one that has ended and that its parent has not noticed. */
export function isRunning(pid: number): boolean {
  return startOf(pid) !== "";
}

/** One user. At the end every process of theirs must be gone. */
export class User implements AsyncDisposable {
  readonly place: Place;
  readonly home: string;
  readonly run: string;
  readonly journal: string;
  readonly #windows: Window[] = [];

  constructor(servers: Record<string, object> = {}, env: Record<string, string> = {}) {
    this.place = new Place({}, { TRUNKLINE_BROKER: "on", ...env });
    this.home = join(this.place.home, ".trunkline");
    this.run = join(this.home, "run");
    this.journal = join(this.place.base, "journal");
    mkdirSync(this.home);
    writeFileSync(this.journal, "");
    this.configure(Object.keys(servers).length > 0 ? servers : { ledger: this.ledger() });
  }

  /** The entry of the test server. */
  ledger(...args: string[]): { command: string; args: string[] } {
    return { command: process.execPath, args: [join(HERE, "ledger-server.js"), "--journal", this.journal, ...args] };
  }

  configure(mcpServers: Record<string, object>): void {
    writeFileSync(join(this.home, "settings.json"), JSON.stringify({ mcpServers }));
  }

  /** The process ids of the brokers that run. */
  get brokers(): number[] {
    return recordedBrokers(join(this.run, "broker.groups")).flatMap(({ pid, isAlive }) => (isAlive ? [pid] : []));
  }

  get broker(): number {
    const [pid, ...others] = this.brokers;
    if (pid === undefined || others.length > 0) throw new Error(`brokers: ${this.brokers.join(", ")}`);
    return pid;
  }

  /** How often a broker has started to listen. */
  get starts(): number {
    return readFileSync(join(this.run, "broker.log"), "utf8").split(" listening ").length - 1;
  }

  /** What calls have written, without the process ids. */
  get written(): string[] {
    return readFileSync(this.journal, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(/ \d+$/, ""));
  }

  /** Lets the calls of `look` and `spend` return. */
  go(): void {
    writeFileSync(`${this.journal}.go`, "");
  }

  /** Lets further calls of `look` and `spend` wait again. */
  stop(): void {
    rmSync(`${this.journal}.go`, { force: true });
  }

  /** Opens a window. */
  open({ cwd = this.place.cwd, asClient = false, entry = bin, env = {}, within = [] }: OpenOptions = {}): Window {
    const client = asClient ? [process.execPath, join(HERE, "window.js")] : [];
    const [command = "", ...args] = [...within, ...client, process.execPath, entry, ...SERVE];
    const child = spawn(command, args, {
      cwd,
      env: { PATH: process.env.PATH ?? "", HOME: this.place.home, ...this.place.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const window = new Window(child);
    this.#windows.push(window);
    return window;
  }

  /** Opens a window and performs the handshake. */
  async greet(options: OpenOptions = {}): Promise<Window> {
    const window = this.open(options);
    await window.initialize();
    return window;
  }

  /** The processes that were started for this user, by their environment. */
  get processes(): number[] {
    const own = `HOME=${this.place.home}\0`;
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "latin1").includes(own) && isRunning(pid);
        } catch {
          // It has ended meanwhile, or belongs to another user.
          return false;
        }
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.go();
    await Promise.all(this.#windows.map((window) => window.close()));
    this.place[Symbol.dispose]();
    // Those that were killed with the broker may take a moment.
    const endMs = performance.now() + GONE_MS;
    while (this.processes.length > 0 && performance.now() < endMs) await sleep(10);
    const left = this.processes;
    for (const pid of left) process.kill(pid, "SIGKILL");
    if (left.length > 0) throw new Error(`${left.length} processes were left: ${left.join(", ")}`);
  }
}

/** An MCP client with its relay. */
export class Window {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #answered = new Set<number>();
  readonly #closed: Promise<number | null>;
  /** The methods of the notifications that have come. */
  readonly notifications: string[] = [];
  /** Answers that no request asked for, or that came twice. */
  readonly strange: Answer[] = [];
  stderr = "";
  #lastId = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    this.#closed = new Promise((resolve) => child.once("close", (code) => resolve(code)));
    child.stdin?.on("error", () => {});
    child.stderr?.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString("utf8");
    });
    if (child.stdout === null) throw new Error("no output");
    createInterface({ input: child.stdout }).on("line", (line) => this.#onLine(JSON.parse(line) as Answer));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The relay behind a client process. */
  async relay(): Promise<number> {
    const pattern = /^relay (\d+)$/m;
    const match = pattern.exec(this.stderr) ?? (await seen(this.child.stderr, pattern));
    return Number(match[1]);
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: "window", version: "1.0" };
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#send({ method: "notifications/initialized" });
  }

  request(method: string, params: Record<string, unknown> = {}): Promise<Answer> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  call(name: string, args: Record<string, unknown> = {}): Promise<Answer> {
    return this.request("tools/call", { name, arguments: args });
  }

  /** Calls a tool and returns its text; throws if the call fails. */
  async text(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.call(name, args);
    const text = answer.result?.content?.[0]?.text;
    if (text === undefined || answer.result?.isError) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return text;
  }

  /** The process of the server that answers this window. */
  async server(): Promise<number> {
    return Number((await this.text("echo", { text: "pid" })).split(" ")[1]);
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Closes the input and waits for the end. Returns the exit code. */
  async close(): Promise<number | null> {
    this.child.stdin?.end();
    return await this.#closed;
  }

  #send(message: object): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #onLine(answer: Answer): void {
    const { id, method } = answer;
    if (method !== undefined) {
      this.notifications.push(method);
      return;
    }
    if (id === undefined || !this.#waiting.has(id) || this.#answered.has(id)) this.strange.push(answer);
    else {
      this.#answered.add(id);
      this.#waiting.get(id)?.(answer);
    }
  }
}
