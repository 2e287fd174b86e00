// The configuration as every command reads it.
import {
  type ConfigMemory,
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
  TrustStore,
} from "@trunkline/client/config";
import { askInput } from "./input-prompt.js";
import { type CommandContext, isAtTerminal } from "./terminal/context.js";

/** Reads the configuration; its secrets are kept out of everything that is printed from then on. */
export async function readConfig(
  context: CommandContext,
  mcp: string | undefined,
  wanted?: (server: string) => boolean,
): Promise<LoadedConfig> {
  const prompt = isAtTerminal(context)
    ? ({ prompt: (input) => askInput(context, input) } satisfies Partial<LoadConfigOptions>)
    : {};
  return await load(context, { env: context.env, mcpPath: mcp, wanted, ...prompt });
}

/** The same where nobody can be asked, terminal or not: the terminal may be the protocol's. */
export async function readHeadlessConfig(
  context: CommandContext,
  mcp: string | undefined,
  memory?: ConfigMemory,
): Promise<LoadedConfig> {
  return await load(context, { env: context.env, mcpPath: mcp, memory });
}

/**
 * The configuration without the file that the environment may name: the files that people write to. Nobody is asked for
 * inputs, because nothing is started.
 */
export async function readOwnConfig(context: CommandContext, mcp?: string): Promise<LoadedConfig> {
  return await load(context, { env: { ...context.env, TRUNKLINE_MCP_FILE: undefined }, mcpPath: mcp });
}

async function load(context: CommandContext, options: Partial<LoadConfigOptions>): Promise<LoadedConfig> {
  const { cwd, home, signal } = context;
  const trust = new TrustStore(home);
  const config = await loadConfig({
    cwd,
    home,
    signal,
    isTrusted: (file) => trust.isTrusted(file),
    trustAll: context.env.TRUNKLINE_TRUST === "all",
    ...options,
  });
  context.redactor.add(...config.secrets);
  return config;
}
