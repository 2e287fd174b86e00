// What `serve` opens, kept by the broker for all clients that are alike: configuration, policy, trust, servers, store.
import { createHash } from "node:crypto";
import { PassThrough, Readable, Writable } from "node:stream";
import { isRecord, messageOf, parseJson, TrunklineError } from "@trunkline/core";
import type { ClientHello, ClientLink } from "@trunkline/daemon";
import type { App } from "../../app/app.js";
import { createContext } from "../../terminal/context.js";
import { Interrupts } from "../../terminal/interrupts.js";
import type { SharedParts } from "../../terminal/shared-parts.js";
import { openServeApp, prepare, type ServeOptions, watch } from "../serve/run.js";
import type { Watching } from "../serve/watch-folders.js";

/** The facts of a client, or of a person, that decide which workspace it gets. */
type WorkspaceFacts = Pick<ClientHello, "cwd" | "userHome" | "env">;

/** A client of the workspace. */
interface Attached {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Has the client look for a workspace again. */
  leave(): void;
  note(text: string): void;
}

/** How many lines on stderr a later client still sees. */
const NOTES = 20;

/** One combination of folder, options and environment. */
class Workspace {
  /** Stays the same in the next broker, for the first workspace of a folder with these options. */
  readonly id: string;
  readonly app: App;
  readonly #options: ServeOptions;
  readonly #used: UsedEnvironment;
  readonly #interrupts = new Interrupts();
  readonly #clients = new Set<Attached>();
  readonly #notes: string[] = [];
  #watching: Watching | undefined;
  #resting: Promise<void> | undefined;
  #opened: Promise<void> | undefined;
  /** How many clients have joined; those that are not served yet count, too. */
  seats = 0;

  constructor(
    { cwd, userHome, env }: WorkspaceFacts,
    options: ServeOptions,
    { id, shared }: { id: string; shared: SharedParts },
  ) {
    this.id = id;
    this.#options = options;
    this.#used = new UsedEnvironment(env, (name) => this.#onUsed(name));
    const stderr = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#note(chunk.toString("utf8"));
        done();
      },
    });
    const context = createContext({
      stdin: Readable.from([]),
      stdout: new PassThrough().resume(),
      stderr,
      env: this.#used.env,
      cwd,
      userHome,
      interrupts: this.#interrupts,
      shared,
    });
    this.app = openServeApp(context, options);
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  /** Whether a client with this environment gets the same from it as the first one. */
  matches(env: Readonly<NodeJS.ProcessEnv>): boolean {
    return this.#used.matches(env);
  }

  /** Reads the configuration, or checks that it is current, and starts watching. Rejects with what `serve` would report. */
  async open(): Promise<void> {
    if (this.#opened === undefined) this.#opened = prepare(this.app);
    // A client may have started because a file was edited just now.
    else await this.app.refreshConfig();
    await this.#opened;
    await this.#resting;
    this.#watching ??= watch(this.app, this.#options);
  }

  /** Stops watching and closes the session in the store, as `serve` does when its client leaves. */
  rest(): Promise<void> {
    const watching = this.#watching;
    this.#watching = undefined;
    this.#resting = Promise.all([this.#resting, watching?.stop()]).then(() => {});
    return this.#resting;
  }

  /** Serves a client until it leaves. */
  async serve(env: Readonly<NodeJS.ProcessEnv>, link: ClientLink): Promise<void> {
    const attached: Attached = { env, leave: () => link.handOver(), note: (text) => link.note(text) };
    this.#clients.add(attached);
    if (!this.matches(env)) attached.leave();
    for (const note of this.#notes) link.note(note);
    try {
      const [{ serveOnStdio }, service] = await Promise.all([import("@trunkline/gateway/stdio"), this.app.service()]);
      await serveOnStdio({
        service,
        logger: this.app.context.logger,
        input: link.input,
        output: link.output,
        handover: link.handover,
      });
    } finally {
      this.#clients.delete(attached);
    }
  }

  /** Whether a request can be run again that may have run already. */
  async isRepeatable(text: string): Promise<boolean> {
    const message = parseJson(text);
    // A batch is one of several requests.
    if (!isRecord(message)) return false;
    if (message.method !== "tools/call") return true;
    const { name } = isRecord(message.params) ? message.params : {};
    if (typeof name !== "string") return true;
    return await (await this.app.service()).isRepeatable(name, { signal: this.app.signal });
  }

  /** Journals calls that were lost with another broker. */
  noteLost(text: string, program = "unknown"): void {
    const message = parseJson(text);
    const names = (Array.isArray(message) ? message : [message]).flatMap((each) => {
      const { name } = isRecord(each) && each.method === "tools/call" && isRecord(each.params) ? each.params : {};
      return typeof name === "string" ? [name] : [];
    });
    const noted = this.app.service().then((service) => {
      for (const name of names) service.noteLost(name, program);
    });
    noted.catch((error: unknown) =>
      this.app.context.logger.debug("a lost call is not in the journal", { error: messageOf(error) }),
    );
  }

  async close(): Promise<void> {
    this.#interrupts.press("SIGTERM");
    await this.rest();
    await this.app.close();
  }

  /** A variable is used for the first time. Clients with another value of it belong to another workspace. */
  #onUsed(name: string): void {
    for (const { env, leave } of this.#clients) if (env[name] !== this.#used.valueFor(name)) leave();
  }

  #note(text: string): void {
    this.#notes.push(text);
    if (this.#notes.length > NOTES) this.#notes.shift();
    for (const { note } of this.#clients) note(text);
  }
}

interface Joined {
  readonly workspace: Workspace;
  /** Gives up the place in it. */
  release(): Promise<void>;
}

/** The workspaces of a broker. */
export class Workspaces {
  readonly #shared: SharedParts;
  readonly #home: string;
  readonly #idleMs: number;
  readonly #open = new Map<string, Workspace[]>();
  /** By key: how many workspaces were opened beside the first. */
  readonly #numbers = new Map<string, number>();
  /** Workspaces without clients, which close after a while. */
  readonly #leaving = new Map<Workspace, NodeJS.Timeout>();

  /** Called when one was opened or closed, or a client came or left. */
  readonly #onChange: () => void;

  constructor(options: { home: string; shared: SharedParts; idleMs: number; onChange?: () => void }) {
    this.#onChange = options.onChange ?? (() => {});
    this.#home = options.home;
    this.#shared = options.shared;
    this.#idleMs = options.idleMs;
  }

  get all(): readonly Workspace[] {
    return [...this.#open.values()].flat();
  }

  /**
   * Finds or opens the workspace of a client. Rejects with the reason if the client has to serve itself. The client has
   * a place in it until `release` is called.
   */
  async join(hello: WorkspaceFacts, options: ServeOptions): Promise<Joined> {
    const key = JSON.stringify([hello.cwd, hello.userHome, options]);
    for (;;) {
      const joined = await this.#join(key, hello, options);
      // While it was opened, it may have used a variable that has another value for this client.
      if (joined.workspace.matches(hello.env)) return joined;
      await joined.release();
    }
  }

  async #join(key: string, hello: WorkspaceFacts, options: ServeOptions): Promise<Joined> {
    const workspace = this.#find(key, hello, options);
    workspace.seats += 1;
    clearTimeout(this.#leaving.get(workspace));
    this.#leaving.delete(workspace);
    const release = async () => {
      workspace.seats -= 1;
      await this.#onLeft(key, workspace);
      this.#onChange();
    };
    try {
      await workspace.open();
    } catch (error) {
      await this.#forget(key, workspace);
      throw error;
    }
    this.#onChange();
    return { workspace, release };
  }

  #find(key: string, hello: WorkspaceFacts, options: ServeOptions): Workspace {
    const known = this.#open.get(key)?.find((workspace) => workspace.matches(hello.env));
    if (known !== undefined) return known;
    const workspace = new Workspace(hello, options, { id: this.#newId(key), shared: this.#shared });
    if (workspace.app.context.home !== this.#home) {
      throw new TrunklineError("USAGE", `The broker serves ${this.#home}, not ${workspace.app.context.home}.`);
    }
    this.#open.set(key, [...(this.#open.get(key) ?? []), workspace]);
    return workspace;
  }

  /** Never the id of a workspace that is open or was: a page must not find itself in another one. */
  #newId(key: string): string {
    const number = this.#open.has(key) ? (this.#numbers.get(key) ?? 0) + 1 : 0;
    this.#numbers.set(key, number);
    const id = createHash("sha256").update(key).digest("hex").slice(0, 12);
    return number === 0 ? id : `${id}-${number}`;
  }

  async #onLeft(key: string, workspace: Workspace): Promise<void> {
    if (workspace.seats > 0) return;
    const timer = setTimeout(() => {
      this.#leaving.delete(workspace);
      void this.#forget(key, workspace);
    }, this.#idleMs);
    this.#leaving.set(workspace, timer.unref());
    await workspace.rest();
  }

  async close(): Promise<void> {
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    const all = this.all;
    this.#open.clear();
    await Promise.all(all.map((workspace) => workspace.close()));
  }

  async #forget(key: string, workspace: Workspace): Promise<void> {
    const others = (this.#open.get(key) ?? []).filter((each) => each !== workspace);
    if (others.length > 0) this.#open.set(key, others);
    else this.#open.delete(key);
    this.#onChange();
    await workspace.close().catch((error: unknown) => {
      workspace.app.context.logger.debug("a workspace was not closed", { error: messageOf(error) });
    });
  }
}

// The environment of a workspace's first client, which remembers which variables were used. A further client shares the
// workspace only if it has the same values for those; its other variables do not matter.

/** An environment that remembers what was read from it. */
class UsedEnvironment {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly #values: Readonly<NodeJS.ProcessEnv>;
  readonly #used = new Set<string>();

  /** `onUsed` is called with each variable when it is read for the first time. */
  constructor(values: Readonly<NodeJS.ProcessEnv>, onUsed: (name: string) => void) {
    this.#values = values;
    this.env = new Proxy<NodeJS.ProcessEnv>(
      { ...values },
      {
        get: (target, name) => {
          if (typeof name === "string" && !this.#used.has(name)) {
            this.#used.add(name);
            onUsed(name);
          }
          return typeof name === "string" ? target[name] : undefined;
        },
      },
    );
  }

  valueFor(name: string): string | undefined {
    return this.#values[name];
  }

  /** Whether another environment has the same values for everything that was used. */
  matches(other: Readonly<NodeJS.ProcessEnv>): boolean {
    return [...this.#used].every((name) => this.#values[name] === other[name]);
  }
}
