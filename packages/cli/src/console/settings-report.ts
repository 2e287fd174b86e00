// The effective configuration of a workspace: which file says what, what is wrong with it, and what was approved.
import { createHash } from "node:crypto";
import { type ConfigFile, type LoadedConfig, TrustStore } from "@trunkline/config";
import type { SettingsReport } from "@trunkline/console/contract";
import type { App } from "../app/app.js";
import { withHome, workspaceOf } from "../app/folders.js";
import { KnownStores } from "../app/project-store.js";

type FileSettings = NonNullable<ConfigFile["settings"]>;
type Value = SettingsReport["values"][number];
type Approval = SettingsReport["approvals"][number];

export async function settingsReport(app: App): Promise<SettingsReport> {
  const config = await app.config();
  const preview = await surfaceOf(app);
  return {
    workspaceFolder: config.workspaceFolder,
    files: config.files.map(({ path, scope, exists, unusable }) => ({
      path,
      scope,
      exists,
      problem: unusable,
      isTrusted: !config.servers.some(({ file, trusted }) => file === path && !trusted),
    })),
    diagnostics: config.diagnostics.map(({ severity, message, server, file, line }) => ({
      severity,
      message,
      server,
      file,
      line,
    })),
    values: valuesOf(config),
    policies: policiesOf(config),
    paths: pathsOf(app, config),
    approvals: await approvalsOf(app.context.home),
    surface: preview,
    storeFolder: await app.storePlace(),
  };
}

/** Lists what the user has approved. The id covers the state that was approved, so that no later one is withdrawn. */
export async function approvalsOf(home: string): Promise<readonly Approval[]> {
  const store = new TrustStore(home);
  const [files, workspaces, stores] = await Promise.all([
    store.list(),
    store.workspaces(),
    new KnownStores(home).list(),
  ]);
  const row = (kind: Approval["kind"], path: string, since: string) => ({
    id: createHash("sha256")
      .update(JSON.stringify([kind, path, since]))
      .digest("hex")
      .slice(0, 24),
    kind,
    path,
    since,
  });
  return [
    ...files.map(({ path, confirmedAt }) => row("files", path, confirmedAt)),
    ...workspaces.map(({ path, confirmedAt }) => row("workspace", path, confirmedAt)),
    ...stores.map(({ path, since }) => row("store", path, since)),
  ];
}

/** What agents see, if it was already decided; deciding it could connect servers. */
async function surfaceOf(app: App): Promise<string | undefined> {
  if (app.openedHub === undefined) return undefined;
  const { LOCAL_PRINCIPAL } = await import("@trunkline/core");
  const service = await app.service();
  const preview = await service.previewSurface({ name: "", capabilities: {}, principal: LOCAL_PRINCIPAL });
  return preview === undefined ? undefined : `${preview.surface}, because ${preview.reason}`;
}

interface Setting {
  readonly name: string;
  readonly read: (settings: FileSettings) => unknown;
  /** Shown if no file decides. Absent: nothing is shown then. */
  readonly preset?: string;
  /** Whether the values of all files count. Otherwise that of the strongest file does. */
  readonly addsUp?: boolean;
}

const SETTINGS: readonly Setting[] = [
  { name: "paths.outside", read: ({ paths }) => paths?.outside, preset: "ask" },
  { name: "paths.read", read: ({ paths }) => paths?.read, addsUp: true },
  { name: "paths.write", read: ({ paths }) => paths?.write, addsUp: true },
  { name: "download.allowPrivate", read: ({ allowPrivateAddresses }) => allowPrivateAddresses, preset: "false" },
  { name: "agent.allow", read: ({ agentAllow }) => agentAllow, addsUp: true },
  { name: "favourites", read: ({ favourites }) => favourites, addsUp: true },
  { name: "surface.directTokens", read: ({ surface }) => surface?.directTokens, preset: "1200" },
  { name: "surface.favouriteTokens", read: ({ surface }) => surface?.favouriteTokens, preset: "800" },
  { name: "surface.clients", read: ({ surface }) => surface?.clients, addsUp: true },
  {
    name: "broker.idle",
    read: ({ broker }) => (broker?.idleMs === undefined ? undefined : `${broker.idleMs / 1000} s`),
    preset: "900 s",
  },
  { name: "registry", read: ({ registry }) => registry },
  { name: "updateNotice", read: ({ updateNotice }) => updateNotice, preset: "true" },
];

/** Files come strongest first. */
function valuesOf({ files }: LoadedConfig): readonly Value[] {
  return SETTINGS.flatMap(({ name, read, preset, addsUp }) => {
    const said = files.flatMap(({ path, settings }) => {
      const value = settings === undefined ? undefined : read(settings);
      return value === undefined ? [] : [{ name, value: shown(value), from: path }];
    });
    if (said.length > 0) return addsUp ? said : said.slice(0, 1);
    return preset === undefined ? [] : [{ name, value: preset, from: "default" }];
  });
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${String(each)}`)
    .join(", ");
}

function policiesOf({ files }: LoadedConfig): SettingsReport["policies"] {
  return files.flatMap(({ path, settings }) =>
    Object.entries(settings?.policy ?? {}).map(([pattern, verdict]) => ({ pattern, verdict, file: path })),
  );
}

/** The same folders that the service allows clients. */
function pathsOf(app: App, { settings }: LoadedConfig): SettingsReport["paths"] {
  const { context } = app;
  const workspace = workspaceOf(context);
  const { read = [], write = [], outside = "ask" } = settings?.paths ?? {};
  const named = (paths: readonly string[], use: string) =>
    paths.map((path) => `${withHome(path, context.userHome)} (${use})`);
  return {
    allowed: [
      ...(workspace.folder === undefined ? [] : [workspace.folder]),
      ...app.allowedPaths,
      ...named(read, "read"),
      ...named(write, "write"),
    ],
    outside,
    note: workspace.folder === undefined ? `${context.cwd} cannot be the workspace: ${workspace.reason}.` : undefined,
  };
}

/** Withdraws one approval. Returns whether it still was one. */
export async function revokeApproval(home: string, { kind, path }: Approval): Promise<boolean> {
  switch (kind) {
    case "files":
      return (await new TrustStore(home).revoke(path)).length > 0;
    case "workspace":
      return await new TrustStore(home).revokeWorkspace(path);
    case "store":
      return await new KnownStores(home).forget(path);
  }
}
