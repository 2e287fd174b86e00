// The service and everything it depends on, for `serve` and for commands that use it directly.
import { join, resolve } from "node:path";
import type { Channel } from "@trunkline/client";
import type { LoadedConfig } from "@trunkline/config";
import { fileReason, isWithin, messageOf, TrunklineError } from "@trunkline/core";
import {
  type AskThrough,
  type Backends,
  type CallRecorder,
  createService,
  type Exchange,
  type Service,
  type ServiceOptions,
} from "@trunkline/gateway";
import {
  FileJournal,
  FileTokenAccount,
  type Journal,
  journalFolder,
  LineJournal,
  type TokenAccount,
  ToolUsage,
} from "@trunkline/gateway/journal";
import { LATEST_PROTOCOL_VERSION } from "@trunkline/protocol";
import type { CommandContext } from "../terminal/context.js";
import type { App } from "./app.js";
import { cacheFolder, projectPromptFolder, promptFolders, withHome, workspaceOf } from "./folders.js";
import { directTools } from "./known-tools.js";
import { linesIn } from "./team-journal.js";
import { workspaceKeyOf } from "./workspace-key.js";

export interface ServiceSettings {
  readonly surface?: ServiceOptions["surface"];
  readonly names?: ServiceOptions["names"];
  readonly echo?: boolean;
  readonly prompts?: string;
  readonly allowPath?: readonly string[];
  readonly spill?: boolean;
  readonly askPolicy?: "serialize" | "isolate" | "decline";
  /** How long a call waits behind another client's question, in seconds. */
  readonly askWait?: number;
  /** Whether to count the tokens of answers: yes if a model reads them. */
  readonly countTokens?: boolean;
  /** How long a search for tools may wait for their index. Default 0: it is built in the background. */
  readonly findWaitMs?: number;
  /** Takes part in questions to clients. Default: the broker's console, if there is one. */
  readonly askThrough?: AskThrough;
  /** Keeps what calls say while a person wants to see it. Default: the broker's console, if there is one. */
  readonly recorder?: CallRecorder;
  /** Also gets every finished call. */
  readonly metrics?: Journal;
}

/** Who answers questions during a command's own request, and what aborts it. */
export interface ExchangeOptions {
  /** Identifies the client, if there are several of the same name. */
  readonly id?: string;
  readonly channel?: Channel;
  /** The person at the terminal runs this themselves, so they are not confined to the allowed folders. */
  readonly trusted?: boolean;
  /** A person reads the answer, so it is not shortened to save tokens. */
  readonly isForPerson?: boolean;
  readonly signal?: AbortSignal;
}

/** The service, which closes together with its records. */
export interface OpenedService {
  readonly service: Service;
  /** Creates a request from the command itself to the service. */
  exchange(name: string, options: ExchangeOptions): Exchange;
  close(): Promise<void>;
}

/** Assembles the service; its dependencies are not opened until a client needs it. */
export function openService(app: App, backends: Backends, settings: ServiceSettings): OpenedService {
  const { context } = app;
  const { version, cwd, logger } = context;
  const records = openRecords(app, settings.countTokens ?? false);
  const service = createService({
    info: { name: "trunkline", version },
    backends,
    logger,
    surface: settings.surface,
    surfaceSettings: async () => surfaceSettings(await app.config()),
    names: settings.names,
    echo: settings.echo,
    policies: () => (app.loadedConfig === undefined ? app.config().then(policiesOf) : policiesOf(app.loadedConfig)),
    redact: (text) => context.redactor.text(text),
    denialHint: async () => unusableHint(await app.config()),
    workspace: cwd,
    ...pathRules(app),
    allowPrivateAddresses: async () => (await app.config()).settings?.allowPrivateAddresses ?? false,
    spill: settings.spill,
    promptFolders: promptFolders(context, settings.prompts),
    projectPrompts: projectPrompts(context, promptFolders(context, settings.prompts)),
    cacheFolder: cacheFolder(context),
    journal: both(records.journal, settings.metrics),
    account: records.account,
    usage: records.usage,
    findWaitMs: settings.findWaitMs,
    askThrough: settings.askThrough ?? context.shared?.askThrough(cwd),
    recorder: settings.recorder ?? context.shared?.recorder(workspaceKeyOf(context), context.redactor),
  });
  return {
    service,
    exchange: (name, { id = name, channel = {}, trusted, isForPerson, signal = context.signal }) => ({
      caller: {
        id,
        name,
        era: "modern",
        revision: LATEST_PROTOCOL_VERSION,
        endpoint: "stdio",
        principal: "local",
        lasting: true,
        capabilities: {},
        ...(trusted === true ? { trusted } : {}),
      },
      channel,
      signal,
      meta: {},
      isForPerson,
    }),
    close: async () => {
      await using _records = records;
      await service.close();
    },
  };
}

/** Returns which files clients may use. */
function pathRules(app: App): Partial<ServiceOptions> {
  const { context, storeFolder } = app;
  const { cwd, home, userHome, signal } = context;
  const workspace = workspaceOf(context);
  const { ownFolders, unwritable } = app.guardedPlaces;
  const settings = async () => (await app.config()).settings?.paths;
  const expanded = (paths: readonly string[] = []) => paths.map((path) => withHome(path, userHome));
  return {
    allowedFolders: [...(workspace.folder === undefined ? [] : [workspace.folder]), ...app.allowedPaths],
    userHome,
    // A store around the workspace would make every file in it off limits.
    ownFolders: isWithin(resolve(cwd), storeFolder) ? ownFolders : [...ownFolders, storeFolder],
    unwritable,
    pathSettings: async () => {
      const paths = await settings();
      return { read: expanded(paths?.read), write: expanded(paths?.write), outside: paths?.outside ?? "ask" };
    },
    rememberPaths: async (use, paths) => {
      const { addToSettings } = await import("@trunkline/config");
      await addToSettings(join(home, "settings.json"), ["paths", use], paths, { mode: 0o600, signal });
    },
    folderNote:
      workspace.folder === undefined
        ? `The server was started in ${cwd}, which cannot be the workspace: ${workspace.reason}.`
        : undefined,
  };
}

function surfaceSettings({ settings }: LoadedConfig) {
  return { ...settings?.surface, favourites: { own: settings?.favourites, project: settings?.projectFavourites } };
}

function policiesOf({ settings }: LoadedConfig) {
  return settings?.policies ?? [];
}

/** Returns the project's prompts; undefined if the user named their folder or it is the user's own. */
function projectPrompts(context: CommandContext, folders: readonly string[]): ServiceOptions["projectPrompts"] {
  const path = projectPromptFolder(context);
  if (folders.includes(path)) return undefined;
  return {
    path,
    note: (message) => context.note(message),
    isTrusted: async (subject) => {
      if (context.env.TRUNKLINE_TRUST === "all") return true;
      const { TrustStore } = await import("@trunkline/config");
      return await new TrustStore(context.home).isTrusted(subject);
    },
  };
}

/** Returns the hint for an operation refused because the policy is unknown. */
function unusableHint({ files }: LoadedConfig): string | undefined {
  const paths = files.filter(({ unusable }) => unusable !== undefined).map(({ path }) => path);
  if (paths.length === 0) return undefined;
  return `Fix ${paths.join(" and ")}, whose policy cannot be read; \`trunkline doctor\` says what is wrong.`;
}

function both(journal: Journal, metrics: Journal | undefined): Journal {
  if (metrics === undefined) return journal;
  return {
    record: (call) => {
      journal.record(call);
      metrics.record(call);
    },
  };
}

/** Journal and token account of one run, in the user's own folder. */
interface Records extends AsyncDisposable {
  readonly journal: Journal;
  readonly account: TokenAccount;
  readonly usage: ToolUsage;
}

/** Writes nothing until there is something to record; if the folder is not writable, prints one line on stderr. */
function openRecords(app: App, countTokens: boolean): Records {
  const { context } = app;
  const folder = journalFolder(context.home, app.storeFolder);
  let isSaid = false;
  const onProblem = (error: unknown) => {
    if (!isSaid)
      context.note(`Calls are not journalled: cannot write to ${folder} (${fileReason(error) ?? messageOf(error)}).`);
    isSaid = true;
  };
  const workspace = workspaceKeyOf(context);
  const journal = new FileJournal({ folder, workspace, onProblem });
  const tools = async () => {
    const { servers } = await app.config();
    return await directTools(context, new Set(servers.filter(({ disabled }) => !disabled).map(({ name }) => name)));
  };
  const account = new FileTokenAccount({ folder, onProblem, directTools: tools });
  const team = new LineJournal({
    workspace,
    gateway: app.gatewayName,
    onProblem: (error) => context.note(`Calls are not journalled in the store's database: ${messageOf(error)}`),
    lines: async () => {
      const lines = linesIn(await app.store());
      if (lines === undefined) throw new TrunklineError("INTERNAL", "The store has no journal.");
      return lines;
    },
  });
  // Which store it is, is known when there is something to record. What tools are used is counted on each machine.
  let isTeam: boolean | undefined;
  const finding = app.storeAddress().then(
    (address) => {
      isTeam = address !== undefined;
    },
    () => {
      isTeam = false;
    },
  );
  return {
    journal: {
      record: (call) => {
        journal.record(call);
        if (isTeam === undefined) void finding.then(() => isTeam && team.record(call));
        else if (isTeam) team.record(call);
      },
    },
    usage: new ToolUsage({ folder, workspace }),
    // Output that a person reads at a terminal costs no tokens.
    account: countTokens ? account : { add: () => {}, report: () => account.report() },
    [Symbol.asyncDispose]: async () => {
      await finding;
      await Promise.all([journal.close(), team.close(), account.close()]);
    },
  };
}
