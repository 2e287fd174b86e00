import { type LoadedConfig, TrustStore } from "@trunkline/config";
import { printable, printableJson, redactedUrl, TrunklineError } from "@trunkline/core";
import { foreignEndpoint } from "../../agent/model-settings.js";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { projectPromptFolder, wholeHomeReason } from "../../app/folders.js";
import { KnownStores } from "../../app/project-store.js";
import { askApproval, cannotAskApproval } from "../../terminal/approval-question.js";
import { type CommandContext, isAtTerminal } from "../../terminal/context.js";
import { reporting } from "../../terminal/json-output.js";
import { askYesNo } from "../../terminal/questions.js";
import {
  describeFiles,
  describeSecrets,
  type RunnableFile,
  runnableFiles,
  wantedSecrets,
  workspaceQuestion,
  workspaceServers,
} from "../../terminal/trust-prompt.js";

export interface TrustOptions {
  yes?: boolean;
  list?: boolean;
  revoke?: boolean;
  workspace?: boolean;
  store?: boolean;
  /** Secrets to grant by name. */
  secret?: readonly string[];
  json?: boolean;
  mcp?: string;
}

/** With `--json`: what is approved from now on, and what no longer is. */
export interface TrustOutcome {
  approved: string[];
  revoked: string[];
}

/** Shows what the project's files would run and asks for approval, or lists and revokes approvals. */
export async function trust(context: CommandContext, options: TrustOptions): Promise<number> {
  if ([options.yes, options.list, options.revoke].filter(Boolean).length > 1) {
    throw new TrunklineError("USAGE", "--yes, --list and --revoke are mutually exclusive.");
  }
  const store = new TrustStore(context.home);
  if (options.list) return await list(context, store, options.json);
  const outcome: TrustOutcome = { approved: [], revoked: [] };
  return await reporting(context, { json: options.json, outcome }, async (shown) => {
    if (!options.store) return await trustAndGrant(shown, options, { store, outcome });
    const { trustStore } = await import("./trust-store.js");
    return await trustStore(shown, options, outcome);
  });
}

/** Approves the project's files, then decides about the secrets that they ask for. */
async function trustAndGrant(
  context: CommandContext,
  options: TrustOptions,
  results: { store: TrustStore; outcome: TrustOutcome },
): Promise<number> {
  const code = await trustProject(context, options, results);
  if (code !== EXIT.success || options.revoke || options.workspace) return code;
  const app = openApp(context, { mcp: options.mcp, config: "headless" });
  const open = wantedSecrets(await app.config());
  const chosen = options.secret ?? [];
  const asked = open.flatMap(({ names }) => names);
  const unknown = chosen.find((name) => !asked.includes(name));
  if (unknown !== undefined) {
    const hint = asked.length === 0 ? "No file asks for a secret that it lacks." : `Asked for: ${asked.join(", ")}.`;
    throw new TrunklineError("NOT_FOUND", `No file asks for a secret "${printable(unknown)}".`, { hint });
  }
  for (const { file, names, servers } of open) {
    for (const line of describeSecrets(file, servers)) context.out(line);
    const granted = names.filter((name) => chosen.includes(name));
    const mayAsk = granted.length === 0 && !options.yes && isAtTerminal(context);
    const which = names.map(printable).join(", ");
    if (mayAsk && (await askYesNo(context, `Give them ${which}?`))) granted.push(...names);
    if (granted.length === 0) {
      context.note(`Not granted: ${which}. Grant it with: trunkline trust --secret <name>`);
      continue;
    }
    await results.store.grantSecrets(file, granted);
    results.outcome.approved.push(...granted);
    for (const name of granted) context.out(`Granted: ${printable(name)}`);
  }
  return code;
}

async function trustProject(
  context: CommandContext,
  options: TrustOptions,
  { store, outcome }: { store: TrustStore; outcome: TrustOutcome },
): Promise<number> {
  const config = await openApp(context, { mcp: options.mcp }).config();
  if (options.workspace) return await trustWorkspace(context, config, { ...options, outcome });
  if (options.revoke) {
    const paths = config.files.filter(({ scope }) => scope !== "user").map(({ path }) => path);
    const revoked = await store.revoke(...paths, projectPromptFolder(context));
    outcome.revoked.push(...revoked);
    for (const path of revoked) context.out(`Revoked: ${path}`);
    if (revoked.length === 0) context.out("No file of this project was approved.");
    return EXIT.success;
  }
  const explicit = config.files.find(({ scope }) => scope === "explicit");
  if (explicit !== undefined) {
    context.out(`The configuration is ${explicit.path}. It was named explicitly, so it counts as approved.`);
    return EXIT.success;
  }
  const files = [...runnableFiles(config), ...(await promptFiles(context))];
  if (files.length === 0) {
    context.out("This project has no file that would run anything.");
    return EXIT.success;
  }
  const open = [];
  for (const file of files) if (!(await store.isTrusted(file))) open.push(file);
  // Not redacted: the text comes from the file, and a value in env must not hide the same text in a command.
  for (const line of describeFiles(files)) context.out(line);
  if (open.length === 0) {
    context.out("Already approved.");
    return EXIT.success;
  }
  if (!options.yes && !isAtTerminal(context)) {
    throw cannotAskApproval("project");
  }
  if (!options.yes && !(await askApproval(context, "project"))) return EXIT.failure;
  // Approve exactly what was shown, even if the file has changed since.
  await store.confirm(...open);
  outcome.approved.push(...open.map(({ path }) => path));
  for (const { path } of open) context.out(`Approved: ${path}`);
  return EXIT.success;
}

/** The project's prompts as one subject: they are offered to models under the project's name. */
async function promptFiles(
  context: CommandContext,
): Promise<Pick<RunnableFile, "path" | "fingerprint" | "wouldRun">[]> {
  const path = projectPromptFolder(context);
  const { readProjectPrompts } = await import("@trunkline/gateway");
  const { files, fingerprint } = await readProjectPrompts(path);
  if (files.length === 0) return [];
  const wouldRun = files.map(({ fileName, text }) => ({
    name: printable(fileName),
    what: `a prompt of ${text.length} characters: ${printable(text.trim().slice(0, 60))}${text.trim().length > 60 ? "…" : ""}`,
  }));
  return [{ path, fingerprint, wouldRun }];
}

/** Approves the workspace for the user's own servers, or withdraws that. */
async function trustWorkspace(
  context: CommandContext,
  config: LoadedConfig,
  options: TrustOptions & { outcome: TrustOutcome },
): Promise<number> {
  const { workspaceFolder, foreignFolders } = config;
  const store = new TrustStore(context.home);
  if (options.revoke) {
    const had = await store.revokeWorkspace(workspaceFolder);
    if (had) options.outcome.revoked.push(workspaceFolder);
    context.out(had ? `Revoked: ${workspaceFolder}` : `${workspaceFolder} was not approved for your own servers.`);
    return EXIT.success;
  }
  if (foreignFolders?.length === 0) {
    throw new TrunklineError(
      "USAGE",
      `${workspaceFolder} is not a workspace: ${wholeHomeReason(workspaceFolder, context.userHome)}.`,
      {
        hint: "Run the command in the folder of one project.",
      },
    );
  }
  const model = await foreignEndpoint(context);
  const isModelTrusted = model === undefined || (await store.isEndpointTrusted(workspaceFolder, model.endpoint));
  if (isModelTrusted && (await store.isWorkspaceTrusted(workspaceFolder))) {
    context.out("Already approved.");
    return EXIT.success;
  }
  context.out(workspaceQuestion(workspaceFolder, workspaceServers(config)));
  if (model !== undefined) {
    const shown = printable(redactedUrl(model.endpoint));
    context.out(`Your prompts, their context and your model's key would go to ${shown}, as set in ${model.file}.`);
  }
  if (!options.yes && !isAtTerminal(context)) {
    throw cannotAskApproval("workspace");
  }
  if (!options.yes && !(await askApproval(context, "workspace"))) return EXIT.failure;
  await store.confirmWorkspace(workspaceFolder, { endpoint: model?.endpoint });
  options.outcome.approved.push(workspaceFolder);
  context.out(`Approved: ${workspaceFolder}`);
  return EXIT.success;
}

async function list(context: CommandContext, store: TrustStore, json: boolean | undefined): Promise<number> {
  const confirmed = [...(await store.list()), ...(await store.workspaces())];
  const stores = await new KnownStores(context.home).list();
  const listed = [...confirmed.map(({ path, confirmedAt: since }) => ({ path, since })), ...stores];
  if (json)
    context.out(
      printableJson(
        listed.map(({ path, since }) => ({ path, since })),
        2,
      ),
    );
  else for (const { path, since } of listed) context.out(`${since}  ${path}`);
  if (listed.length === 0) context.note("Nothing is approved.");
  if (context.env.TRUNKLINE_TRUST === "all") context.note("TRUNKLINE_TRUST=all is set: everything counts as approved.");
  return EXIT.success;
}
