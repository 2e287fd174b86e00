// Runs `trunkline serve`. Resources are opened lazily so the first response is fast. Problems worth reporting
// immediately, such as an invalid config, are checked in parallel.
import { statSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import {
  fileReason,
  type Gateway,
  isFolderSync,
  type LogLevel,
  requireNoChain,
  shellQuoted,
  sleep,
  TrunklineError,
} from "@trunkline/core";
import type { HttpEndpointOptions } from "@trunkline/gateway/http";
import { type App, openApp } from "../../app/app.js";
import type { ServiceSettings } from "../../app/app-service.js";
import { workspaceOf } from "../../app/folders.js";
import { type CommandContext, isAtTerminal, loggerFor } from "../../terminal/context.js";
import type { LivePrincipals } from "../../tokens/live-principals.js";
import { type Watching, watchFolders } from "./watch-folders.js";
import type { Listening } from "./welcome.js";

export interface ServeOptions {
  http?: boolean;
  port: number;
  host: string;
  /** False: no token is required. */
  token: boolean;
  showToken?: boolean;
  allowHost?: readonly string[];
  /** In seconds. */
  drain?: number;
  gateway?: string;
  surface: "auto" | "composite" | "direct" | "both";
  names?: "wire" | "prefixed" | "plain";
  echo?: boolean;
  mcp: string | undefined;
  store?: string;
  watch?: readonly string[];
  exclude?: readonly string[];
  prompts?: string;
  allowPath?: readonly string[];
  /** The former name of `allowPath`. */
  allowWrite?: readonly string[];
  spill: boolean;
  askPolicy: "serialize" | "isolate" | "decline";
  /** In seconds. */
  askWait?: number;
  logLevel?: LogLevel;
}

/** A token shorter than this gets a warning if other machines can reach the server. */
const SHORT_TOKEN = 16;
/**
 * How long a gateway with --drain at least rejects requests before it stops listening. A load balancer should leave it out
 * for longer than that after a rejection.
 */
const REFUSE_MS = 1_000;
/** How long running calls at least have after that. */
const GRACE_MS = 5_000;
/** Long enough to answer a client that is already waiting. */
const HEAD_START_MS = 50;

/**
 * How much garbage may add to the heap before it is collected, in percent. By default V8 lets the heap of a busy server
 * double, which holds 50 MB more and saves no measurable processor time. At 20, calls cost a tenth more.
 */
const HEAP_GROWTH = 40;

/** Serves until the client disconnects (stdio) or the process is asked to stop, which counts as success. */
export async function serve(given: CommandContext, options: ServeOptions): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  if (options.http) return await serveHttp(given, options);
  await using app = openServeApp(given, options);
  await serveStdio(app, options);
}

/** Creates the app that serves with these options, after checking them. Nothing is opened yet. */
export function openServeApp(
  given: CommandContext,
  options: ServeOptions,
  more: Pick<ServiceSettings, "askThrough" | "recorder" | "metrics"> = {},
): App {
  const context = withLogLevel(given, options.logLevel);
  requireNoChain(context.env);
  requireFolders(context, options);
  const { mcp, store, surface, names, echo, prompts, spill, askPolicy, askWait } = options;
  const allowPath = [...(options.allowPath ?? []), ...(options.allowWrite ?? [])];
  const service = { surface, names, echo, prompts, allowPath, spill, askPolicy, askWait, countTokens: true, ...more };
  noteFolders(context, allowPath);
  return openApp(context, { mcp, store, config: "live", gateway: options.gateway, service });
}

async function serveStdio(app: App, options: ServeOptions): Promise<void> {
  const { context } = app;
  const [{ serveOnStdio }, service] = await Promise.all([import("@trunkline/gateway/stdio"), app.service()]);
  const ending = new AbortController();
  const failing = new AbortController();
  let watching: Watching | undefined;
  const preparing = (async () => {
    await sleep(HEAD_START_MS, ending.signal);
    await prepare(app);
    if (ending.signal.aborted) return;
    watching = watch(app, options);
    await watching?.started;
  })().catch((error: unknown) => {
    if (ending.signal.aborted || context.signal.aborted) return undefined;
    failing.abort();
    return { error };
  });
  if (context.io.stdin.isTTY === true) {
    context.note(
      "Serving MCP on stdin and stdout, for programs: `trunkline install` adds it to one, and --http serves several. Ctrl-C stops it.",
    );
  }
  try {
    const signal = AbortSignal.any([context.signal, failing.signal]);
    await serveOnStdio({
      service,
      logger: context.logger,
      signal,
      input: context.io.stdin,
      output: context.io.stdout,
    });
    // Report a bad file even if the client left immediately: a named file is always read.
    if (isConfigNamed(context, options) && !context.signal.aborted) await app.config();
  } finally {
    ending.abort();
    await watching?.stop();
    await app.close();
  }
  const failure = await preparing;
  if (failure !== undefined) throw failure.error;
}

async function serveHttp(given: CommandContext, options: ServeOptions): Promise<void> {
  const [{ CallMetrics }, { gatewayHealth }] = await Promise.all([
    import("@trunkline/gateway/journal"),
    import("./gateway-health.js"),
  ]);
  const metrics = new CallMetrics();
  await using app = openServeApp(given, options, { metrics });
  const { context } = app;
  const { logger, signal, env, redactor } = context;
  const environmentToken = options.token ? tokenOf(env.TRUNKLINE_TOKEN) : undefined;
  if (environmentToken !== undefined) redactor.add(environmentToken);
  const [{ listenHttp }, service] = await Promise.all([import("@trunkline/gateway/http"), app.service()]);
  // At a terminal, ask the user once to approve the project; a server started by an agent cannot ask.
  if (isAtTerminal(context)) await openApp(context, { mcp: options.mcp }).confirmProject();
  await prepare(app);
  const gateway = await joinTeam(app, options);
  const { host, port, allowHost } = options;
  const usesFile = options.token && environmentToken === undefined;
  const isTokenShown = usesFile && (options.showToken === true || (await isTokenNew(context)));
  using principals = options.token ? await principalsOf(context, environmentToken) : undefined;
  const endpoint = await listenHttp({
    service,
    logger,
    host,
    port,
    principals,
    allowedHosts: allowHost,
    health: gatewayHealth(app, metrics),
    ...drainingFor(options.drain),
    gateway,
  });
  const { url, localUrl } = addressesOf(endpoint.url);
  if (!options.token) {
    context.note("warning: without a token, every program and every user on this machine can use this server.");
  }
  if (!endpoint.isLoopback && environmentToken !== undefined && environmentToken.length < SHORT_TOKEN) {
    context.note(
      `warning: TRUNKLINE_TOKEN has only ${environmentToken.length} characters, which other machines could guess; use ${SHORT_TOKEN} or more.`,
    );
  }
  if (!endpoint.isLoopback) {
    context.note(
      "warning: other machines can connect without encryption (TLS), so the token and all data can be read in transit. Put a proxy with TLS in front of it, or listen on 127.0.0.1.",
    );
  }
  const watching = watch(app, options);
  try {
    const { welcome } = await import("./welcome.js");
    const token = await shownToken(context, { principals, environmentToken, isTokenShown });
    context.note(
      await welcome(app, {
        ...{ url, localUrl, gateway: gateway?.name, token },
        isStoreNamed: options.store !== undefined,
        isAuto: options.surface === "auto",
      }),
    );
    // Shown once, to the person who starts the server, and never in a log.
    if (principals !== undefined) redactor.add(principals.token);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    await endpoint.close();
    await watching?.stop();
    await app.close();
  }
}

/** Joins the other gateways on a store in a database. A database that is away is joined later. */
async function joinTeam(app: App, { gateway: name }: ServeOptions): Promise<Gateway | undefined> {
  const gateway = await app.gateway();
  if (gateway === undefined && name !== undefined) {
    throw new TrunklineError("USAGE", "--gateway needs a store in PostgreSQL: gateways do not share a folder.", {
      hint: "Name one with --store postgres://user@host/database, or omit --gateway.",
    });
  }
  await gateway?.start();
  return gateway;
}

/** How the endpoint stops. Calls that it took last have as long to finish as it waited for them. */
function drainingFor(seconds = 0): Pick<HttpEndpointOptions, "drain" | "refuse" | "graceMs"> {
  if (seconds === 0) return {};
  const drainMs = seconds * 1_000;
  return {
    drain: () => sleep(drainMs),
    refuse: () => sleep(REFUSE_MS),
    graceMs: Math.max(GRACE_MS, drainMs),
  };
}

async function principalsOf(
  { home, logger }: CommandContext,
  environmentToken: string | undefined,
): Promise<LivePrincipals> {
  const { openPrincipals } = await import("../../tokens/live-principals.js");
  return await openPrincipals({ home, logger, environmentToken });
}

interface TokenFacts {
  readonly principals: LivePrincipals | undefined;
  readonly environmentToken: string | undefined;
  readonly isTokenShown: boolean;
}

/** Returns how the banner shows the token. The person has set TRUNKLINE_TOKEN, so it need not be repeated. */
async function shownToken(
  { home }: CommandContext,
  { principals, environmentToken, isTokenShown }: TokenFacts,
): Promise<Listening["token"]> {
  if (principals === undefined) return undefined;
  if (environmentToken !== undefined) return { value: "<TRUNKLINE_TOKEN>", inShell: "$TRUNKLINE_TOKEN" };
  const { tokenFile } = await import("../../tokens/token-files.js");
  const inShell = `$(cat ${shellQuoted(tokenFile(home))})`;
  if (isTokenShown) return { value: principals.token, inShell };
  return { value: "<token>", inShell, place: tokenFile(home) };
}

/** Whether this start creates the default token. */
async function isTokenNew({ home }: CommandContext): Promise<boolean> {
  const { readDefaultToken } = await import("../../tokens/token-files.js");
  return (await readDefaultToken(home)) === undefined;
}

/** Reads the token. Throws if it is blank or contains spaces, whatever the address. */
function tokenOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text !== "" && !/\s/.test(text)) return text;
  throw new TrunklineError(
    "USAGE",
    `TRUNKLINE_TOKEN is ${text.trim() === "" ? "set but blank" : "not a token: it contains spaces"}.`,
    {
      hint: "Set it to a secret, for example with `openssl rand -hex 32`, or unset it.",
    },
  );
}

/** Requires named folders to exist: otherwise a typo would go unnoticed. */
function requireFolders({ cwd }: CommandContext, { prompts, allowPath, allowWrite }: ServeOptions): void {
  const named = {
    "--prompts": prompts === undefined ? [] : [prompts],
    "--allow-path": allowPath,
    "--allow-write": allowWrite,
  };
  for (const [option, folders = []] of Object.entries(named)) {
    for (const folder of folders) {
      const path = resolve(cwd, folder);
      if (isFolderSync(path)) continue;
      throw new TrunklineError("USAGE", `${path}, given with ${option}, ${whyNoFolder(path)}.`, {
        hint: "Name an existing folder.",
      });
    }
  }
}

function whyNoFolder(path: string): string {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined ? "does not exist" : "is not a folder";
  } catch (error) {
    const reason = fileReason(error);
    if (reason === undefined) throw error;
    return `cannot be opened: ${reason}`;
  }
}

/** Says if clients cannot use any file, before the first of them finds out. */
function noteFolders(context: CommandContext, allowPath: readonly string[]): void {
  const workspace = workspaceOf(context);
  if (workspace.folder !== undefined || allowPath.length > 0) return;
  context.note(
    `Clients have no allowed folder here: ${context.cwd} cannot be the workspace, because ${workspace.reason}. They can use the folders that their editor has open; to allow more, start the server in a project or with --allow-path <folder>.`,
  );
}

/** Returns the URL for other machines and the one for this machine: clients cannot connect to a wildcard address. */
function addressesOf(url: string): { url: string; localUrl: string } {
  const { hostname: host } = new URL(url);
  if (host === "0.0.0.0") return { url: url.replace(host, hostname()), localUrl: url.replace(host, "127.0.0.1") };
  if (host === "[::]") return { url: url.replace(host, hostname()), localUrl: url.replace(host, "[::1]") };
  return { url, localUrl: url };
}

function isConfigNamed({ env }: CommandContext, { mcp }: ServeOptions): boolean {
  return mcp !== undefined || Boolean(env.TRUNKLINE_MCP_FILE);
}

/** Reports problems at startup: an unusable named file, or two tools with the same name. */
export async function prepare(app: App): Promise<void> {
  await app.config();
  const service = await app.service();
  await service.start({ signal: AbortSignal.any([app.context.signal, app.signal]) });
}

export function watch(app: App, { watch: folders, exclude }: ServeOptions): Watching | undefined {
  return folders === undefined ? undefined : watchFolders(app, folders, exclude);
}

function withLogLevel(context: CommandContext, level: LogLevel | undefined): CommandContext {
  if (level === undefined) return context;
  return { ...context, logger: loggerFor(context, level) };
}
