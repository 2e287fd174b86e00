// Packs the packages as for publishing, and installs them in empty folders. The packages must be built.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pack, readPackages } from "../../scripts/pack.js";
import { environmentFor } from "../../scripts/test-on-node.js";

export const run = promisify(execFile);
export const root = fileURLToPath(new URL("../..", import.meta.url));
export const hello = join(root, "test", "servers", "hello.js");
export const INSTALL_TIMEOUT_MS = 1_800_000;

const NPM_ARGS = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];

export interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
}

/** A folder with the tarballs, and the folders they are installed in. */
export class Tarballs implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), "packed-"));
  /** By the names of the packages. */
  readonly packed: ReadonlyMap<string, Packed>;

  constructor(names?: readonly string[]) {
    const packages = readPackages().filter(({ name }) => names?.includes(name) ?? true);
    this.packed = new Map(packages.map((each) => [each.name, pack(each, this.base)]));
  }

  fileOf(name: string): string {
    const packed = this.packed.get(name);
    if (packed === undefined) throw new Error(`There is no tarball of ${name}.`);
    return packed.tarball;
  }

  /** Creates a project with these packages installed from their tarballs. */
  async project(packages: readonly string[]): Promise<string> {
    const cwd = mkdtempSync(join(this.base, "project-"));
    writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
    await run("npm", ["install", ...NPM_ARGS, ...packages.map((name) => this.fileOf(name))], { cwd });
    buildDriver(join(cwd, "node_modules"));
    return cwd;
  }

  /** Installs the command with `npm install -g`, without building the driver of the store. */
  async global(nodeFolder: string | undefined): Promise<Installed> {
    const prefix = mkdtempSync(join(this.base, "global-"));
    const env = nodeFolder === undefined ? process.env : environmentFor(process.env, nodeFolder);
    const cwd = mkdtempSync(join(this.base, "empty-"));
    const startedMs = performance.now();
    await run("npm", ["install", "-g", "--prefix", prefix, ...NPM_ARGS, this.fileOf("trunkline")], { cwd, env });
    return new Installed(prefix, env, performance.now() - startedMs);
  }

  /** Installs another package next to the command, in the same way. */
  async installNextTo({ prefix, env }: Installed, name: string): Promise<void> {
    const cwd = mkdtempSync(join(this.base, "empty-"));
    await run("npm", ["install", "-g", "--prefix", prefix, ...NPM_ARGS, name], {
      cwd,
      env: { ...process.env, PATH: env.PATH },
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** A command installed with `npm install -g`, and a user with an empty home who runs it. */
export class Installed implements Disposable {
  /** In the shortest place: it holds a socket, whose path must not be long. */
  readonly home = mkdtempSync(join(tmpdir(), "h-"));
  readonly cwd = join(this.home, "work");
  readonly folder: string;
  readonly bin: string;
  readonly env: NodeJS.ProcessEnv;
  readonly prefix: string;
  readonly tookMs: number;

  constructor(prefix: string, npmEnv: NodeJS.ProcessEnv, tookMs: number) {
    this.prefix = prefix;
    this.tookMs = tookMs;
    this.folder = join(prefix, "lib", "node_modules", "trunkline");
    this.bin = join(prefix, "bin", "trunkline");
    this.env = { PATH: [join(prefix, "bin"), npmEnv.PATH].join(delimiter), HOME: this.home, TRUNKLINE_BROKER: "off" };
    mkdirSync(this.cwd);
  }

  /** Runs a command line of `trunkline`, with this on its stdin. */
  async run(args: readonly string[], options: { env?: NodeJS.ProcessEnv; stdin?: string } = {}) {
    const running = run(this.bin, args, { cwd: this.cwd, env: { ...this.env, ...options.env } });
    running.child.stdin?.end(options.stdin ?? "");
    return await running;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.cwd, name), text);
  }

  /** Gives the store its driver, as a compiler or the network would have. */
  buildDriver(): void {
    buildDriver(join(this.folder, "node_modules"));
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Copies the driver's binary. The repository's setup already proves that it compiles; once is enough. */
function buildDriver(modules: string): void {
  const build = join("better-sqlite3", "build");
  const built = join(root, "node_modules", build);
  if (existsSync(join(modules, "better-sqlite3", "binding.gyp")) && existsSync(built))
    cpSync(built, join(modules, build), { recursive: true });
}
