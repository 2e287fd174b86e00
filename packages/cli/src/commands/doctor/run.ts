import type { Hub, LoadedConfig, ServerState, ServerStatus } from "@trunkline/client";
import { isAllowed, reportPins } from "@trunkline/client/internal";
import {
  LOCAL_PRINCIPAL,
  matchesGlob,
  messageOf,
  nearestNames,
  printable,
  printableJson,
  TrunklineError,
} from "@trunkline/core";
import type { SurfacePreview } from "@trunkline/gateway";
import { checkModel, jsonModel, showModel } from "../../agent/check-model.js";
import { type App, openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { keepTools } from "../../app/known-tools.js";
import { type SearchModelState, searchModelState } from "../../app/search-model.js";
import type { CommandContext } from "../../terminal/context.js";
import { progressLineFor } from "../../terminal/progress-line.js";
import { Page } from "../../terminal/report-page.js";
import { quantity } from "../../terminal/trust-prompt.js";
import { checkBroker, jsonBroker, showBrokerCheck } from "./doctor-broker.js";
import { jsonReport } from "./doctor-report.js";
import { jsonSafety, safetyOf, showSafety } from "./doctor-safety.js";
import { checkStore, jsonStore, showStore } from "./doctor-store.js";
import { showHead, showRest, showServer } from "./doctor-text.js";

export interface DoctorOptions {
  json?: boolean;
  pretty?: boolean;
  strict?: boolean;
  /** Names of servers; empty: everything. */
  only: readonly string[];
  /** Timeout in seconds for all servers together. */
  timeout: number;
  mcp: string | undefined;
}

/** The states of a server that was checked and does not work. */
const FAILED: ReadonlySet<ServerState> = new Set<ServerState>(["failed", "needs-auth", "pending"]);

/**
 * Checks the configuration, connects every server and asks the model, all in parallel and within the deadline. The text
 * report shows each server as soon as it is known. With `only`, checks these servers and nothing else.
 */
export async function doctor(context: CommandContext, options: DoctorOptions): Promise<number> {
  return options.only.length === 0 ? await checkAll(context, options) : await checkSome(context, options);
}

async function checkAll(context: CommandContext, options: DoctorOptions): Promise<number> {
  const { signal } = context;
  await using app = openApp(context, {
    mcp: options.mcp,
    checkWithinMs: options.timeout * 1000,
    service: { surface: "auto" },
  });
  const [config, hub] = [await app.config(), await app.hub()];
  const page = options.json ? undefined : new Page(context);
  if (page !== undefined) showHead(page, { version: context.version, config });
  const [model, search, broker, store] = await Promise.all([
    checkModel(context, { timeoutMs: options.timeout * 1000 }),
    checkSearch(context),
    checkBroker(context),
    checkStore(app, options.timeout * 1000),
    connectAll(context, hub, { onKnown: serverShower(context, hub, page) }),
  ]);
  signal.throwIfAborted();
  const servers = hub.status();
  const renamed = hub.names().renamed();
  const safety = await safetyOf(context, config);
  // Without servers there is nothing to list.
  const surface = servers.length === 0 ? undefined : await checkSurface(app);
  if (page === undefined) {
    const report = {
      ...jsonReport({ ...placeOf(context), config, servers, tools: hub.tools(), renamed }),
      safety: jsonSafety(safety),
      ...(surface === undefined ? {} : { surface: jsonSurface(surface) }),
      broker: jsonBroker(broker),
      search: jsonSearch(search),
      ...(store === undefined ? {} : { store: jsonStore(store) }),
      ...(model === undefined ? {} : { model: jsonModel(model) }),
    };
    context.out(printableJson(context.redactor.value(report), options.pretty ? 2 : undefined));
  } else {
    showRest(page, { servers, renamed });
    if (model !== undefined) showModel(page, model);
    showSafety(page, safety);
    if (surface !== undefined) showSurface(page, surface);
    showBrokerCheck(page, broker, context);
    if (store !== undefined) showStore(page, store);
    showSearch(page, search);
  }
  await keepTools(context, hub);
  const hasFailed =
    haveFailed(servers, config) || (model !== undefined && model.status !== "ok") || store?.problem !== undefined;
  return exitCodeFor({ hasFailed, isWarned: areWarned(servers, config) }, options);
}

async function checkSome(context: CommandContext, options: DoctorOptions): Promise<number> {
  const { only } = options;
  const isWanted = (server: string) => only.includes(server);
  await using app = openApp(context, {
    mcp: options.mcp,
    checkWithinMs: options.timeout * 1000,
    wanted: isWanted,
  });
  const all = await app.config();
  for (const name of only) requireConfigured(name, all);
  const config: LoadedConfig = {
    ...all,
    rejected: all.rejected.filter(({ name }) => isWanted(name)),
    diagnostics: all.diagnostics.filter(({ server }) => server === undefined || isWanted(server)),
  };
  const hub = await app.hub();
  const page = options.json ? undefined : new Page(context);
  if (page !== undefined) showHead(page, { version: context.version, config });
  await connectAll(context, hub, { isWanted, onKnown: serverShower(context, hub, page) });
  context.signal.throwIfAborted();
  const servers = hub.status().filter(({ name }) => isWanted(name));
  const renamed = hub
    .names()
    .renamed()
    .filter(({ server }) => isWanted(server));
  if (page === undefined) {
    const tools = hub.tools().filter(({ server }) => isWanted(server));
    const report = jsonReport({ ...placeOf(context), config, servers, tools, renamed });
    context.out(printableJson(context.redactor.value(report), options.pretty ? 2 : undefined));
  } else showRest(page, { servers, renamed });
  await keepTools(context, hub);
  return exitCodeFor({ hasFailed: haveFailed(servers, config), isWarned: areWarned(servers, config) }, options);
}

function placeOf({ version, cwd, home }: CommandContext) {
  return { version, cwd, home };
}

function requireConfigured(name: string, { servers, rejected }: LoadedConfig): void {
  const names = [...servers, ...rejected].map((server) => server.name);
  if (names.includes(name)) return;
  const near = nearestNames(name, names);
  throw new TrunklineError("SERVER_NOT_FOUND", `No server is named "${name}".`, {
    hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`trunkline servers` lists them.",
  });
}

/** Shows the section of a server on the page, if there is one. */
function serverShower({ home }: CommandContext, hub: Hub, page: Page | undefined): (name: string) => Promise<void> {
  return async (name) => {
    const status = hub.status().find((server) => server.name === name);
    if (page === undefined || status === undefined) return;
    const names = hub.names();
    const [pins] = await reportPins(home, [status.config]);
    const gone = pins?.gone.filter((tool) => isAllowed(tool, status.config.tools)) ?? [];
    showServer(page, status, { tools: hub.tools(), gone, addressOf: (tool) => names.address(tool) });
  };
}

function haveFailed(servers: readonly ServerStatus[], { files, rejected }: LoadedConfig): boolean {
  return (
    servers.some(({ state, toolsError }) => FAILED.has(state) || toolsError !== undefined) ||
    rejected.length > 0 ||
    files.some(({ unusable }) => unusable !== undefined)
  );
}

/** An unapproved server was not checked, so it does not count as working either. */
function areWarned(servers: readonly ServerStatus[], { diagnostics }: LoadedConfig): boolean {
  return (
    servers.some(({ state }) => state === "untrusted") ||
    diagnostics.some(({ severity, server }) => severity !== "note" && server === undefined)
  );
}

function exitCodeFor(found: { hasFailed: boolean; isWarned: boolean }, { strict }: DoctorOptions): number {
  return found.hasFailed || (strict && found.isWarned) ? EXIT.failure : EXIT.success;
}

/** Connects servers at once. Reports each one when its result is known, and shows on a terminal what is missing. */
async function connectAll(
  context: CommandContext,
  hub: Hub,
  {
    isWanted = () => true,
    onKnown,
  }: { isWanted?: (server: string) => boolean; onKnown: (server: string) => Promise<void> },
): Promise<void> {
  const { signal } = context;
  using line = progressLineFor(context);
  const waiting = new Set(
    hub
      .status()
      .map(({ name }) => name)
      .filter(isWanted),
  );
  const spin = () => {
    if (waiting.size > 0) line?.spin(context.redactor.text(`checking ${[...waiting].map(printable).join(", ")} …`));
  };
  spin();
  await Promise.all(
    [...waiting].map(async (name) => {
      await hub.connect([name], signal);
      if (signal.aborted) return;
      waiting.delete(name);
      line?.clear();
      await onKnown(name);
      spin();
    }),
  );
}

// The search section of `trunkline doctor`: whether the model for search by meaning is there. Its absence is a notice
// and not a failure, because search by words works without it.

interface SearchCheck {
  readonly model: SearchModelState | "failed";
  /** Why the model cannot be used. */
  readonly reason?: string;
}

async function checkSearch(context: CommandContext): Promise<SearchCheck> {
  try {
    return { model: await searchModelState(context) };
  } catch (error) {
    if (context.signal.aborted) throw error;
    // Whatever is wrong with the package that runs the model, the rest of the report still counts.
    return { model: "failed", reason: messageOf(error) };
  }
}

function jsonSearch({ model, reason }: SearchCheck): Record<string, string | null> {
  return { model, reason: reason ?? null };
}

/** Prints nothing if the model is there. */
function showSearch(page: Page, { model, reason }: SearchCheck): void {
  if (model === "ready") return;
  const { palette } = page;
  const why =
    model === "failed" ? `cannot be used: ${reason}` : model === "damaged" ? "is damaged" : "is not installed";
  page.gap();
  page.text("Search", { colour: palette.heading });
  page.text(`The model for search by meaning ${why}, so tools and documents are found by words only.`, {
    indent: 2,
    colour: palette.warning,
  });
  page.text("next: trunkline models pull", { indent: 2 });
}

// The section of `trunkline doctor` about what an agent sees: which tools `serve` lists, and why.

interface SurfaceCheck extends SurfacePreview {
  /** Favourites in the configuration that no known tool matches. */
  readonly unmatched: readonly string[];
}

/** Returns what an agent that is not in the client table would get. */
async function checkSurface(app: App): Promise<SurfaceCheck | undefined> {
  const [service, hub, { settings }] = [await app.service(), await app.hub(), await app.config()];
  const preview = await service.previewSurface({ name: "", capabilities: {}, principal: LOCAL_PRINCIPAL });
  if (preview === undefined) return undefined;
  const named = [...(settings?.favourites ?? []), ...(settings?.projectFavourites ?? [])];
  const tools = hub.tools();
  const unmatched = named.filter((glob) => !tools.some(({ name }) => matchesGlob(glob, name)));
  return { ...preview, unmatched };
}

function jsonSurface(check: SurfaceCheck): Record<string, unknown> {
  const { surface, reason, tokens, favourites, signed, unmatched } = check;
  return {
    surface,
    reason,
    ...(tokens === undefined ? {} : { tokens: { short: tokens.short, full: tokens.full ?? null } }),
    favourites: favourites.map(({ name, why, uses }) => ({ tool: name, why, uses: uses?.count ?? 0 })),
    signatures: signed,
    unmatched,
  };
}

function showSurface(page: Page, check: SurfaceCheck): void {
  const { surface, reason, tokens, favourites, signed, unmatched } = check;
  const line = (label: string, text: string) => page.text(`${label.padEnd(12)}${text}`, { indent: 2, hang: 14 });
  page.gap();
  page.text("What agents see", { colour: page.palette.heading });
  line("surface", `${surface}, because ${printable(reason)}`);
  if (tokens?.full !== undefined)
    line(
      "tokens",
      `${tokens.short} for all short definitions, ${tokens.full} for the full ones (trunkline tools --tokens)`,
    );
  const names = favourites.map((favourite) => `${printable(favourite.name)} (${whyOf(favourite)})`);
  if (names.length > 0) line("favourites", names.join(", "));
  if (signed.length > 0)
    line("signatures", `${quantity(signed.length, "tool")}, in the descriptions of query and execute`);
  if (unmatched.length > 0) line("not found", `${unmatched.map(printable).join(", ")}, named in "favourites"`);
}

function whyOf({ why, uses }: SurfacePreview["favourites"][number]): string {
  if (why === "configured") return "in your settings";
  if (why === "project" || uses === undefined) return "in the project's settings";
  return `${quantity(uses.count, "use")} on ${quantity(uses.days, "day")}`;
}
