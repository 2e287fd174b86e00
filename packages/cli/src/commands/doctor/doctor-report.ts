// The results of `trunkline doctor` for programs.
import { listAgents } from "@trunkline/agent";
import type { Diagnostic, LoadedConfig, ServerStatus } from "@trunkline/client";
import type { RenamedTool } from "@trunkline/client/internal";
import { dottedName } from "@trunkline/config";
import type { SourcedTool } from "@trunkline/core";
import { LATEST_PROTOCOL_VERSION, REVISION_FACTS, SUPPORTED_PROTOCOL_VERSIONS } from "@trunkline/protocol";

interface Findings {
  version: string;
  cwd: string;
  home: string;
  config: LoadedConfig;
  servers: readonly ServerStatus[];
  tools: readonly SourcedTool[];
  renamed: readonly RenamedTool[];
}

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

function diagnosticsOf(name: string, diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.filter(({ server }) => server === name);
}
