// Configuration and hub for the commands that use servers.
import { type Hub, type LoadedConfig, loadConfig, openHub, TrustStore } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
import { isAtTerminal } from "./ask.js";
import type { CommandContext } from "./context.js";
import { askInput } from "./input-prompt.js";
import { confirmProjectFiles } from "./trust-prompt.js";

/** The configuration and its hub, opened. */
export interface OpenedHub extends AsyncDisposable {
  readonly config: LoadedConfig;
  readonly hub: Hub;
}

/** How a command wants its hub. */
export interface OpenOptions {
  /** The file given with `--mcp`. */
  mcp: string | undefined;
  /** Connect at the first use: for commands that need one server of many. */
  lazy?: boolean;
}

/** Reads the configuration; its secrets are kept out of everything that is printed from then on. */
export async function readConfig(context: CommandContext, mcp: string | undefined): Promise<LoadedConfig> {
  const { cwd, env, home, signal } = context;
  const trust = new TrustStore(home);
  const config = await loadConfig({
    cwd,
    env,
    home,
    mcpPath: mcp,
    trustAll: env.TRUNKLINE_TRUST === "all",
    isTrusted: (file) => trust.isTrusted(file),
    prompt: isAtTerminal() ? (input) => askInput(context, input) : undefined,
    signal,
  });
  context.redactor.add(...config.secrets);
  return config;
}

/** Opens a hub on what is configured, and says what is wrong with the files. Nothing configured is an error. */
export async function openConfiguredHub(context: CommandContext, options: OpenOptions): Promise<OpenedHub> {
  let config = await readConfig(context, options.mcp);
  if (
    config.servers.some(({ trusted, disabled }) => !trusted && !disabled) &&
    (await confirmProjectFiles(context, config))
  ) {
    config = await readConfig(context, options.mcp);
  }
  for (const { severity, message, file, line, shadowing } of config.diagnostics) {
    if (severity !== "note" || shadowing)
      context.note(`${severity}: ${message} (${file}${line === undefined ? "" : `:${line}`})`);
  }
  if (config.servers.length === 0) {
    throw new TrunklineError(
      "CONFIG_INVALID",
      config.exists ? `${config.path} has no usable server.` : "No MCP server is configured.",
      {
        hint: "Add one: trunkline servers add <name> -- <command…>, or see what other programs have: trunkline import",
      },
    );
  }
  const hub = await openHub(config, {
    logger: context.logger,
    clientInfo: { name: "trunkline", version: context.version },
    env: context.env,
    redactor: context.redactor,
    signal: context.signal,
    lazy: options.lazy ?? false,
  });
  return { config, hub, [Symbol.asyncDispose]: () => hub.close() };
}
