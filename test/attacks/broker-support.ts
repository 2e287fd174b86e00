// Several projects of one user, whose clients use one broker.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bin, endBroker, endCommands, type Outcome, outcomeOf, type Running } from "../e2e/command.js";
import { connectPeer, type Kind, type Peer, type PeerOptions } from "../e2e/gateway-clients.js";
import { type ClientBehaviour, ServedStdio } from "../e2e/serve-stdio-client.js";

/** A user with a home folder and projects. The broker ends with it. */
export class BrokerUser implements Disposable {
  // Short: the path of a socket is limited.
  readonly base = mkdtempSync(join(tmpdir(), "tb-"));
  readonly home = join(this.base, "h");
  readonly trunklineHome = join(this.home, ".trunkline");
  readonly run = join(this.trunklineHome, "run");

  constructor(settings: object = {}) {
    mkdirSync(this.trunklineHome, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.trunklineHome, "settings.json"), JSON.stringify(settings));
  }

  get env(): Record<string, string> {
    return { PATH: process.env.PATH ?? "", HOME: this.home, TRUNKLINE_BROKER: "on" };
  }

  /** Creates a project with these files. Returns its folder. */
  project(name: string, files: Readonly<Record<string, unknown>> = {}): string {
    const folder = join(this.base, name);
    mkdirSync(join(folder, ".git"), { recursive: true });
    for (const [path, content] of Object.entries(files)) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    }
    return folder;
  }

  /** Connects an MCP client to `trunkline serve` in this folder. */
  client(kind: Kind, cwd: string, { args = [], env = {}, ...options }: ClientOptions = {}): Promise<Peer> {
    return connectPeer(kind, { args: ["serve", ...args], cwd, env: { ...this.env, ...env } }, options);
  }

  /** Starts `trunkline serve` in this folder for a client that shows what it is told. */
  serve(cwd: string, { args = [], env = {}, client }: ServeOptions = {}): Promise<ServedStdio> {
    return ServedStdio.meet(this.start(["serve", ...args], { cwd, env }) as Running, client);
  }

  start(args: readonly string[], { cwd = this.base, env = {} }: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [bin, ...args], { cwd, env: { ...this.env, ...env }, stdio: "pipe" });
  }

  /** Runs a command to its end. */
  async command(args: readonly string[], options: RunOptions & { input?: string } = {}): Promise<Outcome> {
    const child = this.start(args, options);
    child.stdin?.end(options.input ?? "");
    return await outcomeOf(child);
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into every part of it
  async status(): Promise<any> {
    return JSON.parse((await this.command(["broker", "--json"])).stdout);
  }

  get log(): string {
    return readFileSync(join(this.run, "broker.log"), "utf8");
  }

  [Symbol.dispose](): void {
    endCommands(this.base);
    endBroker(this.trunklineHome);
    rmSync(this.base, { recursive: true, force: true });
  }
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface ServeOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly client?: ClientBehaviour;
}

interface ClientOptions extends PeerOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
