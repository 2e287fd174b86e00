// Runs the built command as a user does: its own process, its own HOME, its own folder.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The built command. */
export const bin = join(root, "packages", "cli", "bin", "trunkline.cjs");

/** How a run differs from the usual one. */
export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** What is run in place of the command. */
  program?: string;
}

/** How a run ended. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A folder with an empty HOME beside it, both gone at the end. */
export class Place implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), "trunkline-e2e-"));
  readonly cwd = join(this.base, "project");
  readonly home = join(this.base, "home");

  readonly env: Readonly<Record<string, string>>;

  /** `env` is what every run in this place has besides PATH and HOME. */
  constructor(files: Record<string, unknown> = {}, env: Readonly<Record<string, string>> = {}) {
    this.env = env;
    mkdirSync(this.cwd);
    mkdirSync(this.home);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** Writes a file below the project's folder; what is not text becomes JSON. */
  write(path: string, content: unknown): string {
    const file = join(this.cwd, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return file;
  }

  /** Starts the command and leaves it running. */
  start(args: readonly string[], options: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [options.program ?? bin, ...args], {
      cwd: options.cwd ?? this.cwd,
      env: { PATH: process.env.PATH, HOME: this.home, ...this.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** Runs the command to its end. */
  async run(args: readonly string[], options: RunOptions & { input?: string } = {}): Promise<Outcome> {
    const child = this.start(args, options);
    child.stdin?.end(options.input ?? "");
    return await outcomeOf(child);
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** Everything a process writes, and how it ends. */
export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
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

/** Waits until a stream has shown something that matches; rejects if it ends first. */
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

/** Whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
