// Reads the configuration of a run, with the user's approvals.
import type { LoadedConfig } from "@trunkline/client";
import type { ConfigMemory, LoadConfigOptions, TrustSubject } from "@trunkline/config";
import { type CommandContext, isAtTerminal } from "../terminal/context.js";
import type { AppOptions } from "./app-options.js";
import { redactAddress } from "./store-address.js";
import type { TypedServer } from "./typed-server.js";

interface ConfigReaderOptions {
  readonly mcp: string | undefined;
  readonly typed: TypedServer | undefined;
  readonly mode: NonNullable<AppOptions["config"]>;
  readonly wanted: ((server: string) => boolean) | undefined;
}

export class ConfigReader {
  readonly #context: CommandContext;
  readonly #options: ConfigReaderOptions;
  /** Files whose approval by an earlier version no longer counts, and that the user was told about. */
  readonly #askedAgain = new Set<string>();

  constructor(context: CommandContext, options: ConfigReaderOptions) {
    this.#context = context;
    this.#options = options;
  }

  async read(memory?: ConfigMemory): Promise<LoadedConfig> {
    const context = this.#context;
    const { cwd, env, home, signal, redactor } = context;
    const { mcp, typed, mode, wanted } = this.#options;
    const { approvalsIn, loadConfig, TrustStore } = await import("@trunkline/config");
    const trust = new TrustStore(home);
    const asking: Partial<LoadConfigOptions> = {};
    if (mode === "ask" && isAtTerminal(context)) {
      const { askInput } = await import("../terminal/questions.js");
      asking.prompt = (input) => askInput(context, input);
    }
    const config = await loadConfig({
      cwd,
      home,
      signal,
      env: mode === "own" ? { ...env, TRUNKLINE_MCP_FILE: undefined } : env,
      mcpPath: mcp,
      mcpServers: typed && { [typed.name]: typed.entry },
      wanted,
      memory,
      ...approvalsIn(trust, env),
      ...asking,
    });
    // From now on the configuration's secrets are redacted in all output.
    redactor.add(...config.secrets);
    const { settings } = config;
    if (settings?.store !== undefined) redactAddress(context, settings.store);
    await trust.recordDisabled(...trustedWithDisabled(config));
    for (const { path, scope, exists } of config.files) {
      const isOpen =
        scope === "project" && exists && config.servers.some(({ file, trusted }) => file === path && !trusted);
      if (!isOpen || this.#askedAgain.has(path) || !(await trust.wasTrusted(path))) continue;
      this.#askedAgain.add(path);
      context.note(
        `Approvals now also cover env, headers and the project's folder, so ${path} has to be approved once more: trunkline trust`,
      );
    }
    return config;
  }
}

/** Returns the approved files of the project that have disabled entries. */
function trustedWithDisabled({ files, servers }: LoadedConfig): TrustSubject[] {
  return files.flatMap(({ path, scope, fingerprint, disabledServers }) => {
    const isOpen = servers.some((server) => server.file === path && !server.trusted);
    if (scope !== "project" || fingerprint === undefined || disabledServers === undefined || isOpen) return [];
    return [{ path, fingerprint, disabledServers }];
  });
}
