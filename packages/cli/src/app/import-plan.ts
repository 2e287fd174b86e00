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
} from "@trunkline/client/config";
import type { CommandContext } from "../terminal/context.js";
import { withoutLiteralSecrets } from "./move-secrets.js";
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
          ? replaces && isSameEntry(server, file)
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

/** Whether the file has exactly this entry, perhaps with its secrets in the keychain. */
function isSameEntry({ name, entry }: ImportedServer, { entries, dialect }: EditableConfig): boolean {
  const written = (value: ServerEntry): unknown => JSON.parse(JSON.stringify(toDialect(value, dialect)));
  return [entry, withoutLiteralSecrets(name, entry).entry].some((value) =>
    isDeepStrictEqual(written(value), entries.get(name)),
  );
}
