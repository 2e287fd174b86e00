// Which servers of other programs would be written to which file.
import { isDeepStrictEqual } from "node:util";
import {
  type EditableConfig,
  type FoundImport,
  type ImportedServer,
  type LoadedConfig,
  readEditableConfig,
  type ServerEntry,
  toDialect,
} from "@trunkline/config";
import { isRecord, isTrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { type MovedSecret, withSecretReferences } from "./move-secrets.js";
import { projectTarget, type ScopeOptions, userTarget, type WriteTarget } from "./write-config.js";

interface PlannedServer {
  readonly server: ImportedServer;
  readonly from: FoundImport;
  readonly replaces: boolean;
}

export interface ImportPlan {
  readonly target: WriteTarget;
  readonly file: EditableConfig;
  readonly servers: PlannedServer[];
  readonly skipped: { name: string; reason: string }[];
  /** Of the skipped ones: servers that would run in exactly the same way as one that is configured or written. */
  readonly same: { readonly server: ImportedServer; readonly from: FoundImport }[];
}

/** Plans what to write. By default, a user's servers go to the user's settings and a project's to the project. */
export async function planImports(
  context: CommandContext,
  found: readonly FoundImport[],
  { config, options }: { config: LoadedConfig; options: Omit<ScopeOptions, "mcp"> & { overwrite?: boolean } },
): Promise<ImportPlan[]> {
  const plans = new Map<string, ImportPlan>();
  for (const from of found) {
    const isUsers = options.user || (!options.project && from.scope === "user");
    const target = isUsers ? userTarget(context) : projectTarget(config);
    const file = plans.get(target.path)?.file ?? (await readEditableConfig(target.path, { signal: context.signal }));
    const current = plans.get(target.path) ?? { target, file, servers: [], skipped: [], same: [] };
    plans.set(target.path, current);
    current.skipped.push(...from.skipped);
    for (const server of from.servers) {
      const { name } = server;
      const earlier = current.servers.find((planned) => planned.server.name === name);
      const replaces = file.names.includes(name);
      const isSame =
        earlier === undefined
          ? replaces && (await isSameEntry(context, server, file))
          : isDeepStrictEqual(earlier.server.entry, server.entry);
      if (isSame) current.same.push({ server, from });
      if (earlier !== undefined) {
        current.skipped.push({
          name,
          reason: `${from.source.title} has it too; the one from ${earlier.from.source.title} is used`,
        });
      } else if (replaces && (isSame || !options.overwrite)) {
        current.skipped.push({ name, reason: "it is already configured; --overwrite replaces it" });
      } else {
        current.servers.push({ server, from, replaces });
      }
    }
  }
  return [...plans.values()];
}

/** Whether the file has exactly this entry, perhaps with references to the same secrets in the keychain. */
async function isSameEntry(
  context: CommandContext,
  { name, entry }: ImportedServer,
  { entries, dialect }: EditableConfig,
): Promise<boolean> {
  const there = entries.get(name);
  const isWritten = (value: ServerEntry) =>
    isDeepStrictEqual(JSON.parse(JSON.stringify(toDialect(value, dialect))), there);
  if (isWritten(entry)) return true;
  const secrets: MovedSecret[] = [];
  const referring = await withSecretReferences(entry, ({ field, key, value }) => {
    const values = isRecord(there) ? there[field] : undefined;
    const [, secret = ""] = /\$\{secret:([^}]*)\}$/.exec(String(isRecord(values) ? values[key] : "")) ?? [];
    secrets.push({ name: secret, value });
    return secret;
  });
  if (!isWritten(referring)) return false;
  const { keptSecret } = await import("./kept-secrets.js");
  try {
    for (const { name: secret, value } of secrets) if ((await keptSecret(context, secret)) !== value) return false;
    return true;
  } catch (error) {
    // What cannot be compared is not the same.
    if (isTrunklineError(error)) return false;
    throw error;
  }
}
