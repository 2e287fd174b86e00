// The console in the broker: opened by `trunkline console`, or because pages of a broker that ended are still open.
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@trunkline/core";
import type { CallRecordings } from "../../console/call-recordings.js";
import type { Console } from "../../console/console.js";
import { folderLabel, type Running } from "../../console/console-world.js";
import { readKeptConsole } from "../../console/kept-console.js";
import type { QuestionBoard } from "../../console/question-board.js";
import type { CommandContext } from "../../terminal/context.js";
import type { ConsolePerson } from "../../terminal/shared-parts.js";
import { readServeArgs } from "../serve/command.js";
import type { BrokerStatus } from "./broker-status.js";
import { clientEnvironment } from "./client-environment.js";
import type { Workspaces } from "./workspace.js";

interface BrokerConsoleOptions {
  readonly context: CommandContext;
  readonly questions: QuestionBoard;
  readonly recordings: CallRecordings;
  readonly workspaces: () => Workspaces;
  readonly status: () => BrokerStatus;
  /** Keeps the broker running until the returned function is called. */
  readonly hold: () => () => void;
}

/** How long the workspace of a console stays open without pages. */
const LEAVE_MS = 60_000;
/** How long the port of the last broker is waited for. */
const TAKE_OVER_MS = 3_000;
const RETRY_MS = 50;

export class BrokerConsole {
  readonly #options: BrokerConsoleOptions;
  #opening: Promise<Console> | undefined;
  /** Lets the broker end; undefined while no page is open. */
  #release: (() => void) | undefined;
  /** Who has opened the console, by the id of their workspace. */
  readonly #people = new Map<string, ConsolePerson>();
  /** Gives up the places in their workspaces. */
  readonly #seats = new Map<string, () => Promise<void>>();
  #leaving: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: BrokerConsoleOptions) {
    this.#options = options;
  }

  /** Takes over the pages of a broker that has just ended, if there are any. Never rejects. */
  async takeOver(): Promise<void> {
    const { context } = this.#options;
    try {
      const kept = readKeptConsole(context.home);
      if (kept !== undefined && kept.tokens.length > 0) await this.#open(kept);
    } catch (error) {
      context.logger.warn("the pages of the last broker have to be opened again", { error: messageOf(error) });
    }
  }

  /** Opens the workspace of the person's folder, and creates a link to it. */
  async link(person: ConsolePerson): Promise<string> {
    try {
      const id = await this.#sit(person);
      const console = await this.#open(readKeptConsole(this.#options.context.home));
      return console.createLink(id);
    } finally {
      this.#leaveLater();
    }
  }

  changed(): void {
    this.#opening
      ?.then((console) => console.changed())
      .catch((error: unknown) => this.#options.context.logger.debug("no console to tell", { error: messageOf(error) }));
  }

  /** Closes the console. Its port is free then, for the next broker. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#leaving);
    await this.#leave();
    await (await this.#opening?.catch(() => undefined))?.close();
  }

  #open(kept: ReturnType<typeof readKeptConsole>): Promise<Console> {
    this.#opening ??= (async () => {
      const { context, questions, recordings } = this.#options;
      const { Console } = await import("../../console/console.js");
      const open = (taken: typeof kept) =>
        Console.open({
          place: {
            host: "broker",
            context,
            workspaces: () =>
              this.#options.workspaces().all.map(({ id, app, clientCount: clients }) => ({
                id,
                folder: app.context.cwd,
                clients,
                app,
              })),
            running: () => runningOf(this.#options.status(), context.userHome),
          },
          questions,
          recordings,
          kept: taken,
          onViewers: (count) => this.#onViewers(count),
        });
      // If the port stays taken, the pages of the last broker are lost, and its tokens must not count any more.
      const console = await (kept === undefined
        ? open(undefined)
        : patiently(() => open(kept)).catch(() => open(undefined)));
      if (this.#isClosed) await console.close();
      return console;
    })();
    this.#opening.catch(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  #onViewers(count: number): void {
    if (count === 0) {
      this.#release?.();
      this.#release = undefined;
      this.#leaveLater();
      return;
    }
    clearTimeout(this.#leaving);
    this.#release ??= this.#options.hold();
    // A page that comes back finds its workspace again.
    for (const [id, person] of this.#people) {
      if (this.#seats.has(id)) continue;
      this.#sit(person).catch((error: unknown) =>
        this.#options.context.logger.warn("a workspace was not opened again", { error: messageOf(error) }),
      );
    }
  }

  /** Takes a place in the workspace of a person's folder. One for each workspace is enough. Returns its id. */
  async #sit(person: ConsolePerson): Promise<string> {
    const options = { ...(await readServeArgs([])), mcp: undefined };
    const env = await clientEnvironment(definedIn(person.env));
    const joined = await this.#options.workspaces().join({ ...person, env }, options);
    const { id } = joined.workspace;
    this.#people.set(id, person);
    if (this.#seats.has(id) || this.#isClosed) await joined.release();
    else this.#seats.set(id, joined.release);
    return id;
  }

  #leaveLater(): void {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => void this.#leave(), LEAVE_MS).unref();
  }

  async #leave(): Promise<void> {
    // Someone looks at it.
    if (this.#release !== undefined && !this.#isClosed) return;
    const seats = [...this.#seats.values()];
    this.#seats.clear();
    await Promise.all(seats.map((release) => release()));
  }
}

/** The broker that is being replaced may hold its port for another moment. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + TAKE_OVER_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function definedIn(env: Readonly<NodeJS.ProcessEnv>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function runningOf(status: BrokerStatus, userHome: string): Running {
  const shown = (folder: string) => folderLabel(folder, userHome);
  return {
    startedMs: Date.parse(status.started_at),
    memoryBytes: status.memory_bytes,
    clients: status.clients.map(({ program, command, pid, folder, since }) => ({
      program: program ?? command ?? "unknown",
      pid,
      folder: folder === undefined ? undefined : shown(folder),
      since,
    })),
    servers: status.servers.map((server) => ({
      name: server.name,
      state: server.state,
      share: server.share,
      pid: server.pid,
      memoryBytes: server.memory_bytes,
      notShared: server.not_shared,
      lastCallAt: server.last_call_at,
      folders: server.folders,
      usedBy: server.clients.map(({ program, folder }) => ({ program: program ?? "unknown", folder: shown(folder) })),
    })),
    saved: { processes: status.saved.processes, memoryBytes: status.saved.memory_bytes },
  };
}
