// Opens a hub, by default with the configuration that the commands would use in this folder.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { LoadedConfig } from "@trunkline/config";
import { approvalsIn, loadConfig, TrustStore } from "@trunkline/config";
import { TrunklineError } from "@trunkline/core";
import { Hub } from "./hub.js";
import type { HubOptions } from "./hub-options.js";

/**
 * Connects the servers of a configuration in parallel, and returns when each has connected, failed or timed out. Lazy
 * servers connect on first use. One failure never stops the others: see `hub.status()`.
 *
 * Without a configuration it uses the one that the commands would use here: the project's files and the user's
 * settings, with variables from the environment. The servers of a project that the user has not approved with
 * `trunkline trust` are `untrusted`. `env` and `home` in the options take the place of the process's own.
 *
 * ```ts
 * const hub = await openHub();
 * const { text } = await hub.call("hello.hello", { name: "Ada" });
 * await hub.close();
 * ```
 */
export async function openHub(config?: LoadedConfig, options: HubOptions = {}): Promise<Hub> {
  // Programs without types pass all sorts of things here.
  if (config !== undefined && !Array.isArray(config?.servers)) {
    throw new TrunklineError("INVALID_ARGUMENT", "openHub takes a configuration from loadConfig, or none.", {
      hint: 'For a file: openHub(await loadConfig({ cwd, mcpPath: "mcp.json" })). For servers: openHub(await loadConfig({ cwd, mcpServers })). For options alone: openHub(undefined, options).',
    });
  }
  const hub = config === undefined ? await hubForThisFolder(options) : new Hub(config, options);
  await hub.open();
  return hub;
}

/** The only code in the library that reads the process's working directory, and all of its environment. */
async function hubForThisFolder(options: HubOptions): Promise<Hub> {
  const cwd = process.cwd();
  // biome-ignore lint/style/noProcessEnv: the caller asked for what the commands do, and they use the environment.
  const { env = process.env } = options;
  const userHome = (options.env && (env.HOME || env.USERPROFILE)) || homedir();
  const { home = resolve(cwd, env.TRUNKLINE_HOME || join(userHome, ".trunkline")) } = options;
  const approvals = approvalsIn(new TrustStore(home), env);
  const config = await loadConfig({ cwd, env, home, signal: options.signal, ...approvals });
  return new Hub(config, { ...options, env, home });
}
