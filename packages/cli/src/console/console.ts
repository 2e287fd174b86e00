// The console of one process: its server, its parts, and what survives a restart.
import { ConsoleAccess, type ConsoleHandlers, ConsoleServer, type Overview } from "@trunkline/console";
import { type Logger, messageOf, TrunklineError } from "@trunkline/core";
import { hasDisplay, openFile } from "../terminal/open-address.js";
import type { CallRecordings } from "./call-recordings.js";
import { type ConsolePlace, type ConsoleWorld, folderLabel, type WatchingPart, workspaceIn } from "./console-world.js";
import { type KeptConsole, KeptConsoleFile } from "./kept-console.js";
import { openOperations } from "./operations-part.js";
import type { QuestionBoard } from "./question-board.js";
import { openQuestions } from "./questions-part.js";
import { openServers } from "./servers-part.js";
import { approvalsOf, revokeApproval, settingsReport } from "./settings-report.js";
import { openTraffic } from "./traffic-part.js";
import { WorkspaceWatches } from "./workspace-watches.js";

interface ConsoleOptions {
  readonly place: ConsolePlace;
  readonly questions: QuestionBoard;
  readonly recordings: CallRecordings;
  /** The console that this one replaces: its pages find this one on the same port. */
  readonly kept?: KeptConsole;
  /** Called when pages are opened and closed, with how many are open. */
  readonly onViewers?: (count: number) => void;
}

export class Console implements AsyncDisposable {
  readonly #server: ConsoleServer;
  readonly #file: KeptConsoleFile | undefined;
  readonly #logger: Logger;
  readonly #parts: readonly { watch(): void; rest(): void }[];
  readonly #stops: (() => void)[];

  private constructor(fields: {
    server: ConsoleServer;
    file: KeptConsoleFile | undefined;
    logger: Logger;
    parts: readonly { watch(): void; rest(): void }[];
    stops: (() => void)[];
  }) {
    this.#server = fields.server;
    this.#file = fields.file;
    this.#logger = fields.logger;
    this.#parts = fields.parts;
    this.#stops = fields.stops;
  }

  /** Listens on loopback. With `kept`, rejects if the port is taken meanwhile. */
  static async open({ place, questions, recordings, kept, onViewers }: ConsoleOptions): Promise<Console> {
    const { context } = place;
    // Only a broker is replaced by another one.
    const file =
      place.host === "process"
        ? undefined
        : new KeptConsoleFile(context.home, (error) =>
            context.logger.warn("pages will not survive a restart", { error: messageOf(error) }),
          );
    const world: ConsoleWorld = {
      ...place,
      questions,
      recordings,
      workspace: (id) => workspaceIn(place.workspaces(), id),
      send: (event) => console.#server.send(event),
    };
    const parts = [
      openServers(world),
      openTraffic(world),
      openQuestions(world),
      openSettings(world),
      openOperations(world),
    ] as const;
    const [servers, traffic, asking, settings, operations] = parts;
    const handlers: ConsoleHandlers = {
      overview: async () => await overviewOf(world, asking.count),
      ...servers.handlers,
      ...traffic.handlers,
      ...operations.handlers,
      ...asking.handlers,
      ...settings.handlers,
    };
    const server = await ConsoleServer.open({
      access: new ConsoleAccess({ tokens: kept?.tokens, onTokens: (tokens) => file?.setTokens(tokens) }),
      handlers,
      version: context.version,
      logger: context.logger,
      port: kept?.port,
      redact: (value) => {
        const redactors = [context, ...place.workspaces().map(({ app }) => app.context)];
        return redactors.reduce((shown, { redactor }) => redactor.value(shown), value);
      },
      onViewers: (count) => {
        for (const part of parts) attempt(context.logger, () => (count > 0 ? part.watch() : part.rest()));
        onViewers?.(count);
      },
    });
    file?.begin(server.port, kept?.tokens ?? []);
    const stops = [questions.onChange(() => server.send({ kind: "changed", topics: ["questions", "overview"] }))];
    const console = new Console({ server, file, parts, stops, logger: context.logger });
    return console;
  }

  /** Creates a link that opens the console once, at this workspace. */
  createLink(workspace?: string): string {
    return this.#server.createLink(workspace === undefined ? "" : `&workspace=${encodeURIComponent(workspace)}`);
  }

  /** A workspace was opened or closed, or a client came or left. */
  changed(): void {
    if (this.#server.viewers > 0) for (const part of this.#parts) attempt(this.#logger, () => part.watch());
    this.#server.send({ kind: "changed", topics: ["overview", "servers"] });
  }

  /** Closes the pages' connections. They stay valid for a console that takes over at once. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    for (const part of this.#parts) attempt(this.#logger, () => part.rest());
    await this.#server.close();
    this.#file?.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** What one page needs must not end the broker. */
function attempt(logger: Logger, work: () => void): void {
  try {
    work();
  } catch (error) {
    logger.error("a part of the console failed", { error: messageOf(error) });
  }
}

async function overviewOf(world: ConsoleWorld, countQuestions: () => Promise<number>): Promise<Overview> {
  const { startedMs, memoryBytes, clients, saved } = world.running();
  const { version, userHome } = world.context;
  return {
    version,
    pid: process.pid,
    host: world.host,
    startedAt: new Date(startedMs).toISOString(),
    memoryBytes,
    workspaces: world.workspaces().map(({ id, folder, clients: count }) => ({
      id,
      folder,
      label: folderLabel(folder, userHome),
      clients: count,
    })),
    clients,
    questions: await countQuestions(),
    saved,
  };
}

// The page "Settings": shows the configuration and opens its files. Everything else is edited there.

export function openSettings(world: ConsoleWorld): WatchingPart<"settings" | "settings/open" | "settings/revoke"> {
  const watches = new WorkspaceWatches((workspace, change) => {
    if (change === "config") world.send({ kind: "changed", topics: ["settings"], workspace });
  });
  return {
    handlers: {
      settings: async ({ workspace }) => {
        const { app } = world.workspace(workspace);
        await app.refreshConfig();
        return await settingsReport(app);
      },
      "settings/open": async ({ workspace, path }, { signal }) => {
        const { app } = world.workspace(workspace);
        const { files } = await app.config();
        if (!files.some((file) => file.path === path && file.exists)) {
          throw new TrunklineError("NOT_FOUND", "This is not a file of the configuration.");
        }
        // Not the workspace's: each variable that is read there would tell its clients apart.
        const { env, userHome } = world.context;
        const { cwd } = app.context;
        return { opened: hasDisplay(env) && (await openFile(path, { env, cwd, userHome, signal })) };
      },
      "settings/revoke": async ({ workspace, id }) => {
        const { app } = world.workspace(workspace);
        const { home } = app.context;
        const approval = (await approvalsOf(home)).find((each) => each.id === id);
        if (approval === undefined || !(await revokeApproval(home, approval))) {
          throw new TrunklineError("NOT_FOUND", "There is no such approval any more. Nothing was revoked.");
        }
        // Its servers stop at once, in every workspace.
        await Promise.all(world.workspaces().map((each) => each.app.refreshConfig()));
        world.send({ kind: "changed", topics: ["settings", "servers", "tools", "questions"] });
        return {};
      },
    },
    watch: () => watches.watch(world.workspaces()),
    rest: () => watches.watch([]),
  };
}
