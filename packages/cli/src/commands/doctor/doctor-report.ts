// Prints the results of `trunkline doctor`, for programs and for people.
import { listAgents } from "@trunkline/agent";
import type { Diagnostic, LoadedConfig, ServerStatus } from "@trunkline/client";
import { dottedName, type RenamedTool } from "@trunkline/client/internal";
import { formatMs, printable, type SourcedTool } from "@trunkline/core";
import { LATEST_PROTOCOL_VERSION, REVISION_FACTS, SUPPORTED_PROTOCOL_VERSIONS } from "@trunkline/protocol";
import { commandLine } from "../../terminal/command-line.js";

export interface Findings {
  version: string;
  cwd: string;
  home: string;
  config: LoadedConfig;
  servers: readonly ServerStatus[];
  tools: readonly SourcedTool[];
  renamed: readonly RenamedTool[];
}

/** How many stderr lines of a failed server to show. */
const STDERR_LINES = 5;
/** How many tool names to list; the rest are only counted. */
const SHOWN_NAMES = 15;

export function jsonReport(findings: Findings): Record<string, unknown> {
  const { version, cwd, home, config, servers, tools, renamed } = findings;
  return {
    environment: { version, node: process.version, platform: `${process.platform}-${process.arch}`, cwd, home },
    registries: {
      agents: listAgents().map(({ name }) => name),
      tools: tools.map(dottedName),
      tool_providers: servers.map(({ name }) => name),
    },
    mcp: {
      path: config.path,
      exists: config.exists,
      files: config.files.map(({ path, scope, exists }) => ({ path, scope, exists })),
      diagnostics: config.diagnostics.filter(({ server }) => server === undefined),
      protocol: {
        latest: LATEST_PROTOCOL_VERSION,
        supported: SUPPORTED_PROTOCOL_VERSIONS,
        revisions: revisionCounts(),
      },
      servers: [
        ...servers.map((status) => jsonServer(status, findings)),
        ...config.rejected.map(({ name, scope, type }) => ({
          id: name,
          type: type ?? null,
          scope,
          supported: false,
          diagnostics: diagnosticsOf(name, config.diagnostics),
          config: null,
          active: null,
        })),
      ],
      renamed: renamed.map(({ server, tool, style, name, reason }) => ({
        tool: `${server}.${tool}`,
        style,
        name,
        reason,
      })),
    },
    app_modes: ["serve", "call", "ask", "agent", "chat"],
  };
}

/** Counts what each revision defines, from the generated table. */
function revisionCounts() {
  return Object.fromEntries(
    SUPPORTED_PROTOCOL_VERSIONS.map((revision) => {
      const { definitions, requests, notifications } = REVISION_FACTS[revision];
      const counted = (sides: typeof requests) =>
        Object.values(sides).reduce((sum, methods) => sum + methods.length, 0);
      return [revision, { definitions, requests: counted(requests), notifications: counted(notifications) }];
    }),
  );
}

function jsonServer(status: ServerStatus, { config, tools }: Findings) {
  const { name, state, error, toolsError } = status;
  const names = tools.filter(({ server }) => server === name).map(({ tool }) => tool);
  const outcome = state === "connected" ? "ok" : state;
  const { atLaunch: _, identity: __, ...shown } = status.config;
  return {
    id: name,
    type: status.config.type,
    scope: status.config.scope,
    supported: true,
    state,
    diagnostics: diagnosticsOf(name, config.diagnostics),
    config: shown,
    active: {
      initialize: {
        status: outcome,
        error: error === undefined ? null : { ...error.toJSON(), ...error.data },
        protocol_version: status.revision ?? null,
        server_info: status.serverInfo ?? null,
        took_ms: status.tookMs === undefined ? null : Math.round(status.tookMs),
      },
      tools: {
        status: toolsError === undefined ? outcome : "failed",
        error: (toolsError ?? error)?.toJSON() ?? null,
        count: names.length,
        names,
      },
      resources: { count: status.resourceCount },
      prompts: { count: status.promptCount },
    },
    sign_in: jsonSignIn(status),
    ...(status.stderr.length > 0 && state !== "connected" ? { stderr: status.stderr } : {}),
  };
}

function jsonSignIn({ state, signIn }: ServerStatus) {
  if (signIn === undefined || (!signIn.signedIn && state !== "needs-auth")) return null;
  return {
    status: signIn.signedIn ? "ok" : "needed",
    kind: signIn.kind,
    issuer: signIn.issuer ?? null,
    scope: signIn.scope ?? null,
    expires_at: signIn.expiresAt ?? null,
    renewable: signIn.renewable,
  };
}

export function* textReport(findings: Findings): Generator<string> {
  const { version, config, servers, renamed } = findings;
  yield `trunkline ${version}, node ${process.version}, ${process.platform}-${process.arch}`;
  const used = config.files.filter(({ exists }) => exists);
  if (used.length === 0) yield `configuration: none found (looked for ${config.path})`;
  for (const [index, { path, scope }] of used.entries())
    yield `${index === 0 ? "configuration:" : "           and:"} ${path} (${scope})`;
  for (const diagnostic of config.diagnostics) yield `  ${diagnosticText(diagnostic)}`;
  if (servers.length === 0 && used.length > 0 && config.diagnostics.some(({ severity }) => severity !== "note")) {
    yield "";
    yield "No server is usable. Fix the problems above.";
    return;
  }
  if (servers.length === 0) {
    yield "";
    yield "No MCP server is configured. Add one, or import from another program:";
    yield "  trunkline servers add everything -- npx -y @modelcontextprotocol/server-everything";
    yield "  trunkline import";
    return;
  }
  for (const status of servers) {
    yield "";
    yield* textServer(status, findings);
  }
  const untrusted = servers.filter(({ state }) => state === "untrusted");
  if (untrusted.length > 0) {
    yield "";
    yield `${untrusted.length} ${untrusted.length === 1 ? "server comes" : "servers come"} from a project file that you have not approved. Review and approve: trunkline trust`;
  }
  if (renamed.length > 0) {
    yield "";
    yield "Tools that had to be renamed, because their names collide or are too long:";
    for (const { server, tool, style, name } of renamed) yield `  ${server}.${tool}  as ${style}: ${name}`;
  }
}

function* textServer(status: ServerStatus, { tools }: Findings): Generator<string> {
  const { state, config, error, toolsError, serverInfo, revision, tookMs } = status;
  const name = printable(status.name);
  const target = config.type === "stdio" ? commandLine([config.command, ...config.args]) : config.url;
  switch (state) {
    case "connected": {
      yield `✓ ${name}  ${target}`;
      const facts = [
        serverInfo === undefined ? undefined : `${serverInfo.name} ${serverInfo.version}`,
        `revision ${revision ?? "unknown"}`,
        tookMs === undefined ? undefined : formatMs(tookMs),
        counted(status.resourceCount, "resource"),
        counted(status.promptCount, "prompt"),
        status.signIn?.signedIn ? "signed in" : undefined,
      ];
      yield `    ${facts.filter((fact) => fact !== undefined).join(", ")}`;
      if (toolsError === undefined)
        yield `    ${toolLine(tools.filter(({ server }) => server === status.name).map(({ tool }) => tool))}`;
      else yield `    tools: ${toolsError.message}`;
      return;
    }
    case "disabled":
      yield `- ${name}  disabled`;
      yield `    next: trunkline servers enable ${name}`;
      return;
    case "untrusted":
      yield `? ${name}  ${target}`;
      yield "    not started: its file has not been approved";
      return;
    case "failed":
    case "needs-auth":
    case "pending":
      yield `✗ ${name}  ${target}`;
      yield `    ${error?.code ?? "FAILED"}: ${error?.message ?? "not connected"}`;
      for (const line of status.stderr.slice(-STDERR_LINES)) yield `    stderr: ${line}`;
      if (error?.hint !== undefined) yield `    next: ${error.hint}`;
  }
}

function toolLine(names: readonly string[]): string {
  if (names.length === 0) return "no tools";
  const shown = names.slice(0, SHOWN_NAMES).join(", ");
  const more = names.length - SHOWN_NAMES;
  return `${names.length} ${names.length === 1 ? "tool" : "tools"}: ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}

function counted(count: number, what: string): string | undefined {
  return count === 0 ? undefined : `${count} ${what}${count === 1 ? "" : "s"}`;
}

function diagnosticsOf(name: string, diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(({ server }) => server === name);
}

function diagnosticText({ severity, message, file, line }: Diagnostic): string {
  return `${severity}: ${message} (${file}${line === undefined ? "" : `:${line}`})`;
}
