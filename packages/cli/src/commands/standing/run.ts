// `trunkline` without a command. Reads files only: it starts nothing, asks nothing and connects to nothing.
import { relative } from "node:path";
import { findImports, type LoadedConfig, type ServerDefinition } from "@trunkline/config";
import { isFolderSync, isTrunklineError, isWithin } from "@trunkline/core";
import type { Help } from "commander";
import { type App, openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { isProjectStore, storeFolder, workspaceOf } from "../../app/folders.js";
import { knownTools } from "../../app/known-tools.js";
import { KnownStores } from "../../app/project-store.js";
import { startsTrunkline } from "../../install/launch-command.js";
import { programStates } from "../../install/program-states.js";
import type { CommandContext } from "../../terminal/context.js";
import { describeStanding, nextStep, type Standing } from "./next-step.js";

/** Shows where the user stands and what to do next. `helper` wraps the lines at the terminal's width. */
export async function showStanding(
  context: CommandContext,
  { mcp, helper }: { mcp: string | undefined; helper: Help },
): Promise<number> {
  const standing = await findStanding(context, mcp);
  const next = nextStep(standing);
  const rows = describeStanding(standing);
  const labelWidth = Math.max(...rows.map(([label]) => label.length));
  const { heading, accent, dim } = context.palette;
  const lines = [
    heading(`Trunkline ${context.version}: one line from an AI agent to every MCP server.`),
    "",
    ...rows.map(([label, text]) => helper.formatItem(dim(label.padEnd(labelWidth)), labelWidth, text, helper)),
    "",
    ...(next === undefined
      ? ["Everything is set up. See what your agents call:", accent("  trunkline log")]
      : [`${heading("Next:")} ${next.why}`, accent(`  ${next.command}`)]),
    "",
    dim("All commands: trunkline --help"),
  ];
  for (const line of lines) context.outPainted(line);
  return EXIT.success;
}

export async function findStanding(context: CommandContext, mcp?: string): Promise<Standing> {
  await using app = openApp(context, { mcp, config: "headless" });
  const [config, known] = [await app.config(), await knownTools(context)];
  const enabled = config.servers.filter(({ disabled }) => !disabled);
  const place = { env: context.env, userHome: context.userHome, platform: process.platform };
  const programs = (await programStates(place)).filter(({ state }) => state !== "not found here");
  return {
    servers: enabled.map((server) => ({
      name: server.name,
      state: stateOf(server),
      tools: known.get(server.name)?.length,
    })),
    disabled: config.servers.length - enabled.length,
    problems: problemsIn(config),
    importable: config.servers.length > 0 ? [] : await findImportable(context, place),
    store: await findStore(app),
    canInit: workspaceOf(context).folder !== undefined,
    programs: programs.map(({ program: { id, title }, state, problem }) => ({
      ...{ id, title, hasTrunkline: state === "installed" },
      ...(problem === undefined ? {} : { problem: problem.message }),
    })),
  };
}

function stateOf({ trusted, needsWorkspace, unusable }: ServerDefinition): Standing["servers"][number]["state"] {
  if (!trusted) return "not approved";
  if (needsWorkspace) return "needs workspace";
  return unusable === undefined ? "ready" : "unusable";
}

function problemsIn({ rejected, diagnostics }: LoadedConfig): number {
  return (
    rejected.length + diagnostics.filter(({ severity, server }) => severity !== "note" && server === undefined).length
  );
}

async function findImportable(
  { cwd, signal }: CommandContext,
  place: Omit<Parameters<typeof findImports>[0], "cwd">,
): Promise<Standing["importable"]> {
  const counts = new Map<string, number>();
  for (const { source, servers } of await findImports({ ...place, cwd, signal })) {
    const count = servers.filter(({ entry }) => !startsTrunkline(entry)).length;
    if (count > 0) counts.set(source.title, (counts.get(source.title) ?? 0) + count);
  }
  return [...counts].map(([title, count]) => ({ title, count }));
}

async function findStore(app: App): Promise<Standing["store"]> {
  const { context } = app;
  if ((await app.storeAddress()) !== undefined) return { database: await placeOf(app) };
  const path = storeFolder(context, undefined);
  if (!isFolderSync(path)) return undefined;
  const isProjects = isProjectStore(context, undefined);
  const isKnown =
    !isProjects ||
    context.env.TRUNKLINE_TRUST === "all" ||
    (await new KnownStores(context.home).idOf(path)) !== undefined;
  const shown = isWithin(path, context.cwd) ? relative(context.cwd, path) : path;
  return { path: shown, isProjects, isKnown };
}

/** An address with a mistake must not keep the rest from being shown. */
async function placeOf(app: App): Promise<string> {
  try {
    return await app.storePlace();
  } catch (error) {
    if (!isTrunklineError(error)) throw error;
    return `an address that cannot be used: ${error.message}`;
  }
}
