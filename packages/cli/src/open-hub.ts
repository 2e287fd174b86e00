// Configuration and hub for the commands that use servers.
import { type Hub, type LoadedConfig, loadConfig, openHub } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
import type { CommandContext } from "./context.js";

/** The configuration and its hub, opened. */
export interface OpenedHub extends AsyncDisposable {
  readonly config: LoadedConfig;
  readonly hub: Hub;
}

/** Reads the configuration; its secrets are kept out of everything that is printed from then on. */
export async function readConfig(context: CommandContext, mcpPath: string | undefined): Promise<LoadedConfig> {
  const config = await loadConfig({ cwd: context.cwd, mcpPath, signal: context.signal });
  context.redactor.add(...config.secrets);
  return config;
}

/** Connects what is configured. */
export async function openConfiguredHub(context: CommandContext, mcpPath: string | undefined): Promise<OpenedHub> {
  const config = await readConfig(context, mcpPath);
  for (const { severity, message, file, line } of config.diagnostics) {
    context.note(`${severity}: ${message} (${file}${line === undefined ? "" : `:${line}`})`);
  }
  if (config.servers.length === 0) {
    throw new TrunklineError(
      "CONFIG_INVALID",
      config.exists ? `${config.path} has no usable server.` : "No MCP server is configured.",
      {
        hint: `Add one to ${config.path}: { "servers": { "name": { "command": "…" } } }`,
      },
    );
  }
  const hub = await openHub(config, {
    logger: context.logger,
    clientInfo: { name: "trunkline", version: context.version },
    signal: context.signal,
  });
  return { config, hub, [Symbol.asyncDispose]: () => hub.close() };
}
