// The open sessions of this process: each client has at most one, with its watchers.
import { type Logger, messageOf, realPathOf, TrunklineError } from "@trunkline/core";
import type { Remotes } from "@trunkline/core/threads";
import type {
  OperationParams,
  SessionStarted,
  SessionSummary,
  StoreCallOptions,
  WatchParams,
} from "../contract/index.js";
import { type GuardedPaths, requireUnmoved } from "../engine/files/guard.js";
import { storedCollection, viewerOf } from "../engine/sqlite/visibility.js";
import type { resumeSession, startSession, stopSession } from "./stored-sessions.js";
import type { takeChanges } from "./take-changes.js";
import type { WatchedRoot, Watcher } from "./watcher.js";

interface OpenSession {
  readonly id: string;
  readonly watchers: Watcher[];
}

/** The calls that sessions make in the store's threads. */
interface SessionThreads {
  readonly reader: Remotes<{ resume: typeof resumeSession }>;
  readonly writer: Remotes<{ start: typeof startSession; stop: typeof stopSession }>;
  readonly mover: Remotes<{ takeChanges: typeof takeChanges }>;
}

export class ClientSessions {
  readonly #threads: SessionThreads;
  readonly #logger: Logger;
  readonly #folder: string;
  readonly #guarded: GuardedPaths;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #listeners = new Set<(path: string) => void>();

  constructor(
    threads: SessionThreads,
    { logger, folder, guarded }: { logger: Logger; folder: string; guarded: GuardedPaths },
  ) {
    this.#threads = threads;
    this.#logger = logger;
    this.#folder = folder;
    this.#guarded = guarded;
  }

  /** Returns the id of the client's session, if it has one. */
  current({ client = "" }: StoreCallOptions): string | undefined {
    return this.#sessions.get(client)?.id;
  }

  /** Returns the id of the client's session. Throws if it has none. */
  require(options: StoreCallOptions): string {
    return this.#open(options).id;
  }

  /** Returns the session id that a filter refers to: the client's own session for `true`. */
  meant(session: boolean | string | undefined, options: StoreCallOptions): string | undefined {
    if (session === undefined || session === false) return undefined;
    return session === true ? this.require(options) : session;
  }

  async start({ label }: OperationParams<"start">, options: StoreCallOptions): Promise<SessionStarted> {
    const { client = "", signal } = options;
    this.#requireNone(options);
    const started = await this.#threads.writer.start({ label, viewer: viewerOf(options.principal) }, { signal });
    this.#sessions.set(client, { id: started.sessionId, watchers: [] });
    return started;
  }

  /** Makes an open session, possibly from an earlier process, the client's current one. */
  async resume(session: string, options: StoreCallOptions): Promise<SessionStarted> {
    const { client = "", signal } = options;
    const resumed = await this.#threads.reader.resume({ session }, { signal, viewer: viewerOf(options.principal) });
    if (this.current(options) !== session) {
      this.#requireNone(options);
      this.#sessions.set(client, { id: session, watchers: [] });
    }
    return resumed;
  }

  async stop(options: StoreCallOptions): Promise<SessionSummary> {
    const { client = "", signal } = options;
    const session = this.#open(options);
    this.#sessions.delete(client);
    await Promise.all(session.watchers.map((watcher) => watcher.stop()));
    return await this.#threads.writer.stop({ session: session.id }, { signal });
  }

  /** Paths must be absolute. */
  async watch(params: WatchParams, options: StoreCallOptions): Promise<{ watching: readonly string[] }> {
    const session = this.#open(options);
    const { client = "", onProgress, onChanges } = options;
    const collection = storedCollection(params.collection, viewerOf(options.principal)) ?? "default";
    let taken = 0;
    const target = {
      logger: this.#logger,
      take: async (root: WatchedRoot, paths: readonly string[]) => {
        const changes = { ...root, paths, collection, session: session.id, guarded: this.#guarded };
        const result = await this.#threads.mover.takeChanges(changes);
        taken += result.files + result.removed;
        if (result.changes.length > 0) onChanges?.(result.changes);
        for (const { path } of result.changes) this.#tell(path);
        onProgress?.({ progress: taken, message: paths.join(", ") });
      },
    };
    // Loaded on demand: most uses of a store watch nothing.
    const { Watcher } = await import("./watcher.js");
    const places = { store: this.#folder, guarded: this.#guarded, exclude: params.exclude };
    for (const root of params.paths) {
      requireUnmoved(root, realPathOf(root), options.limits);
      const watcher = await Watcher.start(root, target, places).catch((error: unknown) => {
        throw new TrunklineError("NOT_FOUND", `Cannot watch ${root}: ${messageOf(error)}`, { cause: error });
      });
      session.watchers.push(watcher);
      // The session was stopped in the meantime, so nothing else would stop this watcher.
      if (this.#sessions.get(client) !== session) await watcher.stop();
    }
    return { watching: params.paths };
  }

  /** Reports the path of every document that a watcher has indexed or found missing. */
  onChanged(listener: (path: string) => void): () => void {
    // One entry per listener, even if the same function is passed twice.
    const own = (path: string) => listener(path);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Stops all watchers; the sessions stay open in the store. */
  async close(): Promise<void> {
    const watchers = [...this.#sessions.values()].flatMap((session) => session.watchers);
    this.#sessions.clear();
    await Promise.all(watchers.map((watcher) => watcher.stop()));
  }

  #tell(path: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(path);
      } catch (error) {
        this.#logger.error("a listener for changed documents failed", { error: messageOf(error) });
      }
    }
  }

  /** Another session would end the open one and its watches without a word. */
  #requireNone(options: StoreCallOptions): void {
    const open = this.current(options);
    if (open === undefined) return;
    throw new TrunklineError("INVALID_ARGUMENT", `The session "${open}" is open.`, {
      hint: "Documents belong to it already. End it with `stop` to start another one.",
    });
  }

  #open({ client = "" }: StoreCallOptions): OpenSession {
    const session = this.#sessions.get(client);
    if (session !== undefined) return session;
    throw new TrunklineError("INVALID_ARGUMENT", "No session is open.", { hint: "Begin one with `start`." });
  }
}
