// Programs that record how they were started and then serve the tools of hello.js.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Place, root } from "../e2e/command.js";

const HELLO = pathToFileURL(join(root, "test", "servers", "hello.js")).href;

/** How a program was started. */
export interface Start {
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A user with a home, a folder of programs on the PATH, and a repository that they opened. */
export class OpenedRepository extends Place {
  /** The user's own programs, first on the PATH. */
  readonly bin = join(this.base, "bin");
  readonly trunklineHome = join(this.home, ".trunkline");

  constructor(options: { settings?: Record<string, unknown>; files?: Record<string, unknown>; git?: boolean } = {}) {
    super(options.files);
    if (options.git !== false) mkdirSync(join(this.cwd, ".git"), { recursive: true });
    mkdirSync(this.bin);
    if (options.settings !== undefined) this.settings(options.settings);
  }

  get path(): string {
    return `${this.bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  }

  /** Writes the user's own servers. */
  settings(mcpServers: Record<string, unknown>): string {
    return this.outside(join(this.trunklineHome, "settings.json"), JSON.stringify({ mcpServers }));
  }

  /** Writes a file at an absolute path. */
  outside(path: string, text: string, mode = 0o644): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }

  /** Installs a program that records its start in `log` and then serves the tools of hello.js. */
  program(name: string, folder = this.bin): string {
    return this.outside(join(folder, name), recorder(name, this.log), 0o755);
  }

  get log(): string {
    return join(this.base, "starts.jsonl");
  }

  /** Every recorded start, in order. */
  get starts(): Start[] {
    if (!existsSync(this.log)) return [];
    const lines = readFileSync(this.log, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as Start);
  }

  /** Runs the command with the user's programs on the PATH. */
  async trunkline(args: readonly string[], env: Record<string, string> = {}) {
    return await this.run(args, { env: { PATH: this.path, ...env } });
  }
}

/** The source of a program that records its start. */
export function recorder(name: string, log: string): string {
  return `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const start = { program: ${JSON.stringify(name)}, argv: process.argv.slice(2), cwd: process.cwd(), env: process.env };
appendFileSync(${JSON.stringify(log)}, JSON.stringify(start) + "\\n");
process.argv.length = 2;
import(${JSON.stringify(HELLO)});
`;
}
