// Configuration and hub for the commands that use servers.
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Channel, type Hub, type LoadedConfig, openHub, type Root, type SignIn } from "@trunkline/client";
import { TrunklineError } from "@trunkline/core";
import { readConfig } from "./read-config.js";
import { type CommandContext, isAtTerminal } from "./terminal/context.js";
import { createTerminalChannel, SHOWN_LOG_LEVEL } from "./terminal-channel.js";
import { confirmProjectFiles } from "./trust-prompt.js";

/** The configuration and its hub, opened. */
export interface OpenedHub extends AsyncDisposable {
  readonly config: LoadedConfig;
  readonly hub: Hub;
  /** To be called before a result is written: the line that shows progress goes. */
  clearProgress(): void;
}

/** How a command wants its hub. */
export interface OpenOptions {
  /** The file given with `--mcp`. */
  mcp: string | undefined;
  /** Connect at the first use: for commands that need one server of many. */
  lazy?: boolean;
  /** Whether a server will be used: nobody is bothered about the others. Default: all of them. */
  wanted?: (server: string) => boolean;
  /**
   * Folders that servers are told they may work in. Not given unasked: server-filesystem, for one, takes them in place of
   * the folders in its own arguments.
   */
  roots?: readonly string[];
  /** How to have a person sign in. Without it a server that wants that is an error. */
  signIn?: SignIn;
  /** Who is asked what servers ask. Default: the person at the terminal, where there is one. */
  channel?: Channel & { clearProgress?(): void };
}

/** Opens a hub on what is configured, and says what is wrong with the files. Nothing configured is an error. */
export async function openConfiguredHub(context: CommandContext, options: OpenOptions): Promise<OpenedHub> {
  const { wanted } = options;
  let config = await readConfig(context, options.mcp, wanted);
  if (
    config.servers.some(({ trusted, disabled }) => !trusted && !disabled) &&
    (await confirmProjectFiles(context, config))
  ) {
    config = await readConfig(context, options.mcp, wanted);
  }
  for (const { severity, message, file, line, server, shadowing } of config.diagnostics) {
    if (server !== undefined && wanted?.(server) === false) continue;
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
  const terminal = options.channel ?? (isAtTerminal(context) ? createTerminalChannel(context) : undefined);
  const hub = await openHub(config, {
    logger: context.logger,
    clientInfo: { name: "trunkline", version: context.version },
    env: context.env,
    redactor: context.redactor,
    signal: context.signal,
    lazy: options.lazy ?? false,
    // Without a terminal there is nobody to ask, and servers are not told that there were.
    ...(terminal === undefined ? {} : { channel: terminal, logLevel: SHOWN_LOG_LEVEL }),
    ...(options.roots === undefined
      ? {}
      : { roots: options.roots.map((folder) => rootOf(resolve(context.cwd, folder))) }),
    home: context.home,
    ...(options.signIn === undefined ? {} : { signIn: options.signIn }),
  });
  const clearProgress = () => terminal?.clearProgress?.();
  return {
    config,
    hub,
    clearProgress,
    [Symbol.asyncDispose]: async () => {
      clearProgress();
      await hub.close();
    },
  };
}

function rootOf(folder: string): Root {
  return { uri: pathToFileURL(folder).href, name: basename(folder) || folder };
}
