// The service with everything behind it: for `serve`, and for a command that asks it something itself.
import { resolve } from "node:path";
import type { LoadedConfig } from "@trunkline/client/config";
import { createService, type Service } from "@trunkline/server";
import { cacheFolder } from "../direct-tools.js";
import { guardedPlaces } from "../guarded-places.js";
import type { CommandContext } from "../terminal/context.js";
import { promptFolders } from "./prompt-folders.js";
import { openRecords } from "./records.js";
import { ServeBackends, type ServeBackendsOptions } from "./serve-backends.js";

/** How the service is set up. */
export interface OpenServiceOptions extends Omit<ServeBackendsOptions, "store"> {
  readonly store?: string | undefined;
  readonly surface?: "composite" | "direct" | "both" | undefined;
  readonly names?: "prefixed" | "plain" | undefined;
  readonly prompts?: string | undefined;
  readonly allowPath?: readonly string[] | undefined;
  readonly allowWrite?: readonly string[] | undefined;
  readonly spill?: boolean | undefined;
}

/** The service and what stands behind it. */
export interface OpenedService extends AsyncDisposable {
  readonly service: Service;
  readonly backends: ServeBackends;
}

/** What to do about an operation that is refused because nobody knows what the rules are. */
function unusableHint({ files }: LoadedConfig): string | undefined {
  const paths = files.filter(({ unusable }) => unusable !== undefined).map(({ path }) => path);
  if (paths.length === 0) return undefined;
  return `Correct ${paths.join(" and ")}, whose rules cannot be read; \`trunkline doctor\` says what is wrong.`;
}

/** Puts it together; nothing is opened before somebody needs it. */
export function openService(context: CommandContext, options: OpenServiceOptions): OpenedService {
  const { version, cwd, logger } = context;
  const backends = new ServeBackends(context, { ...options, store: options.store });
  const { storeFolder } = backends;
  const records = openRecords(context, { storeFolder, counts: !options.once, config: () => backends.config() });
  const inFolder = (paths: readonly string[] | undefined) => paths?.map((path) => resolve(cwd, path));
  const service = createService({
    info: { name: "trunkline", version },
    backends,
    logger,
    surface: options.surface,
    names: options.names,
    policies: async () => (await backends.config()).settings?.policies ?? [],
    denialHint: async () => unusableHint(await backends.config()),
    workspace: cwd,
    ...guardedPlaces(context, options.mcp),
    allowPaths: inFolder(options.allowPath),
    allowWrite: inFolder(options.allowWrite),
    allowPrivateAddresses: async () => (await backends.config()).settings?.allowPrivateAddresses ?? false,
    spill: options.spill,
    promptFolders: promptFolders(context, options.prompts),
    cacheFolder: cacheFolder(context),
    journal: records.journal,
    account: records.account,
  });
  return {
    service,
    backends,
    [Symbol.asyncDispose]: async () => {
      await using _backends = backends;
      await using _records = records;
      await service.close();
    },
  };
}
