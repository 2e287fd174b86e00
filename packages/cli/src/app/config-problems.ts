// What the configuration's diagnostics say to the user of a command: only about servers that the command uses.
import type { Hub, LoadedConfig } from "@trunkline/client";
import { printable, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { meaningOf } from "../terminal/palette.js";

type Diagnostic = LoadedConfig["diagnostics"][number];

interface ConfigProblem {
  readonly severity: Diagnostic["severity"];
  readonly text: string;
}

/** Returns the problems of the files and about these servers. A disabled server is not used by anything. */
export function configProblems(
  { diagnostics, servers }: LoadedConfig,
  isUsed: (server: string) => boolean = () => true,
): ConfigProblem[] {
  const disabled = new Set(servers.filter((server) => server.disabled).map(({ name }) => name));
  return diagnostics
    .filter(({ severity, server, shadowing }) => {
      if (server !== undefined && !isUsed(server)) return false;
      return shadowing === true || (severity !== "note" && !disabled.has(server ?? ""));
    })
    .map(problemOf);
}

/** Prints problems in the files, and rejects a configuration without servers. */
export function reportProblems(
  context: CommandContext,
  config: LoadedConfig,
  isUsed: ((server: string) => boolean) | undefined,
): void {
  for (const { text, severity } of configProblems(config, isUsed)) context.note(text, meaningOf(severity));
  if (config.servers.length > 0) return;
  const broken = config.diagnostics.find(
    ({ severity, server, field }) => severity !== "note" && server === undefined && field === undefined,
  );
  throw new TrunklineError(
    "CONFIG_INVALID",
    config.exists ? `${config.path} has no usable server.` : "No MCP server is configured.",
    {
      // Commands that add servers refuse to write into a file that they cannot read.
      hint:
        broken === undefined
          ? "Add one: trunkline servers add <name> -- <command…>, or import from other programs: trunkline import"
          : `Fix ${printable(broken.file)} first.`,
    },
  );
}

/** Prints the problems of each server once, when it is first used. */
export function reportOnUse(context: CommandContext, hub: Hub, config: LoadedConfig): void {
  const reported = new Set<string>();
  hub.onStatusChanged(() => {
    for (const { name, state } of hub.status()) {
      if (!["connected", "failed", "needs-auth"].includes(state) || reported.has(name)) continue;
      reported.add(name);
      for (const { text, severity } of serverProblems(config, name)) context.note(text, meaningOf(severity));
    }
  });
}

function serverProblems(config: LoadedConfig, name: string): ConfigProblem[] {
  const diagnostics = config.diagnostics.filter(({ server }) => server === name);
  return configProblems({ ...config, diagnostics });
}

function problemOf(diagnostic: Diagnostic): ConfigProblem {
  return { severity: diagnostic.severity, text: diagnosticText(diagnostic) };
}

/** `warning: … (mcp.json:3)`. */
export function diagnosticText({ severity, message, file, line }: Diagnostic): string {
  return `${severity}: ${message} (${file}${line === undefined ? "" : `:${line}`})`;
}
