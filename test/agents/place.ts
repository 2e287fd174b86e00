// A home of its own for one agent: workspace, servers, the agent's settings, a clean environment. Everything that was
// started in it is killed at the end.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { recordedBrokers } from "../../packages/daemon/src/relay/index.js";
import { bin, endBroker, endCommands, type Outcome, outcomeOf, root } from "../e2e/command.js";
import { leftProcesses } from "../support/left-processes.js";

/** A stdio server, as every agent's settings can express it. */
export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const serverFile = (name: string): string =>
  join(root, "node_modules", "@modelcontextprotocol", `server-${name}`, "dist", "index.js");

/** About 2 MB, and more lines than any agent shows. */
const LOG_LINES = 52_000;

export class Place implements AsyncDisposable {
  readonly #base = mkdtempSync(join(tmpdir(), "agent-"));
  readonly home = join(this.#base, "home");
  readonly workspace = join(this.home, "project");
  readonly servers: Readonly<Record<string, StdioServer>>;
  readonly #env: Readonly<Record<string, string>>;

  constructor() {
    const bins = join(this.#base, "bin");
    const temporary = join(this.#base, "tmp");
    for (const folder of [bins, temporary, this.workspace]) mkdirSync(folder, { recursive: true });
    symlinkSync(bin, join(bins, "trunkline"));
    spawnSync("git", ["init", "-q"], { cwd: this.workspace });
    this.write("project/hello.txt", "hello from a file\nsecond line\n");
    const lines = Array.from({ length: LOG_LINES }, (_, index) => `line ${index} of a long log: some words here ok\n`);
    this.write("project/big.txt", lines.join(""));
    this.servers = {
      everything: { command: "node", args: [serverFile("everything"), "stdio"] },
      files: { command: "node", args: [serverFile("filesystem"), this.workspace] },
      memory: {
        command: "node",
        args: [serverFile("memory")],
        env: { MEMORY_FILE_PATH: join(this.home, "memory.json") },
      },
    };
    this.#env = {
      HOME: this.home,
      PATH: [bins, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
      // Codex refuses a home below the folder for temporary files.
      TMPDIR: temporary,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      DO_NOT_TRACK: "1",
      NO_UPDATE_NOTIFIER: "1",
      TRUNKLINE_NO_UPDATE_NOTICE: "1",
    };
  }

  /** Writes a file below the home. */
  write(path: string, content: string): void {
    const file = join(this.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  writeAll(files: Readonly<Record<string, string>>): void {
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** Reads a file below the home. */
  read(path: string): string {
    return readFileSync(join(this.home, path), "utf8");
  }

  /** Runs a program in the workspace until it ends. */
  async run(
    [program = "", ...args]: readonly string[],
    options: { env?: Readonly<Record<string, string>>; limitMs?: number } = {},
  ): Promise<Outcome> {
    const child = spawn(program, args, {
      cwd: this.workspace,
      env: { ...this.#env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), options.limitMs ?? 120_000);
    try {
      return await outcomeOf(child);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs the built command until it ends. */
  async trunkline(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(["trunkline", ...args]);
    if (code !== 0) throw new Error(`trunkline ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }

  /** Kills the daemon of this home as a crash would: without a word to anyone. */
  killDaemon(): void {
    const daemons = recordedBrokers(join(this.home, ".trunkline", "run", "broker.groups")).filter(
      (each) => each.isAlive,
    );
    if (daemons.length === 0) throw new Error("no daemon runs");
    for (const { pid } of daemons) process.kill(pid, "SIGKILL");
  }

  [Symbol.asyncDispose](): Promise<void> {
    endCommands(this.#base);
    endBroker(join(this.home, ".trunkline"));
    for (const { pid } of leftProcesses(this.#base)) process.kill(pid, "SIGKILL");
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 5 });
    return Promise.resolve();
  }
}
