import {
  type Diagnostic,
  LATEST_PROTOCOL_VERSION,
  type LoadedConfig,
  openHub,
  type ServerStatus,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@trunkline/client";
import { formatMs, type SourcedTool } from "@trunkline/core";
import type { CommandContext } from "../context.js";
import { EXIT } from "../exit-codes.js";
import { readConfig } from "../open-hub.js";

/** Options of `trunkline doctor`. */
export interface DoctorOptions {
  format: "text" | "json";
  pretty?: boolean;
  strict?: boolean;
  mcp: string | undefined;
}

/** Checks the configuration and really connects every server in it. */
export async function doctor(context: CommandContext, options: DoctorOptions): Promise<number> {
  const config = await readConfig(context, options.mcp);
  await using hub = await openHub(config, {
    logger: context.logger,
    clientInfo: { name: "trunkline", version: context.version },
    signal: context.signal,
  });
  const servers = hub.status();
  const tools = hub.tools();
  if (options.format === "json") {
    const report = context.redactor.value(jsonReport(context, config, servers, tools));
    context.out(JSON.stringify(report, null, options.pretty ? 2 : undefined));
  } else {
    for (const line of textReport(context, config, servers, tools)) context.out(context.redactor.text(line));
  }
  const failed =
    servers.some(({ state }) => state === "failed") || config.diagnostics.some(({ severity }) => severity === "error");
  return failed && options.strict ? EXIT.failure : EXIT.success;
}

function jsonReport(
  context: CommandContext,
  config: LoadedConfig,
  servers: readonly ServerStatus[],
  tools: readonly SourcedTool[],
) {
  return {
    environment: {
      version: context.version,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      cwd: context.cwd,
    },
    registries: {
      agents: [],
      tools: tools.map(({ server, tool }) => `${server}.${tool}`),
      tool_providers: servers.map(({ name }) => name),
    },
    mcp: {
      path: config.path,
      exists: config.exists,
      diagnostics: config.diagnostics.filter(({ server }) => server === undefined),
      protocol: { latest: LATEST_PROTOCOL_VERSION, supported: SUPPORTED_PROTOCOL_VERSIONS },
      servers: servers.map((status) => jsonServer(status, config.diagnostics, tools)),
    },
    app_modes: ["serve", "doctor", "tools", "call"],
  };
}

function jsonServer(status: ServerStatus, diagnostics: readonly Diagnostic[], tools: readonly SourcedTool[]) {
  const { name, state, config, error } = status;
  const names = tools.filter(({ server }) => server === name).map(({ tool }) => tool);
  const outcome = state === "connected" ? "ok" : state;
  return {
    id: name,
    type: config.type,
    scope: config.scope,
    supported: true,
    diagnostics: diagnostics.filter(({ server }) => server === name),
    config,
    active: {
      initialize: {
        status: outcome,
        error: error?.toJSON() ?? null,
        protocol_version: status.protocolVersion ?? null,
        server_info: status.serverInfo ?? null,
        took_ms: status.tookMs === undefined ? null : Math.round(status.tookMs),
      },
      tools: { status: outcome, error: error?.toJSON() ?? null, count: names.length, names },
    },
    ...(status.stderrTail.length > 0 && state === "failed" ? { stderr: status.stderrTail } : {}),
  };
}

function* textReport(
  context: CommandContext,
  config: LoadedConfig,
  servers: readonly ServerStatus[],
  tools: readonly SourcedTool[],
): Generator<string> {
  yield `trunkline ${context.version}, node ${process.version}, ${process.platform}-${process.arch}`;
  yield `configuration: ${config.exists ? config.path : "none found"}`;
  for (const { severity, message, line } of config.diagnostics)
    yield `  ${severity}${line === undefined ? "" : ` in line ${line}`}: ${message}`;
  if (servers.length === 0) {
    yield "";
    yield "No MCP server is configured. Add one:";
    yield `  ${config.path}`;
    yield '  { "servers": { "everything": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"] } } }';
    return;
  }
  for (const status of servers) {
    yield "";
    yield* textServer(status, tools);
  }
}

function* textServer(status: ServerStatus, tools: readonly SourcedTool[]): Generator<string> {
  const { name, state, config, error, serverInfo, protocolVersion, tookMs } = status;
  const target = config.type === "stdio" ? [config.command, ...config.args].join(" ") : config.url;
  if (state === "connected") {
    yield `✓ ${name}  ${target}`;
    const who = serverInfo === undefined ? "" : `${serverInfo.name} ${serverInfo.version}, `;
    yield `    ${who}revision ${protocolVersion ?? "unknown"}, ${tookMs === undefined ? "" : formatMs(tookMs)}`;
    const names = tools.filter(({ server }) => server === name).map(({ tool }) => tool);
    yield `    ${names.length} ${names.length === 1 ? "tool" : "tools"}${names.length === 0 ? "" : `: ${names.join(", ")}`}`;
    return;
  }
  if (state === "disabled") {
    yield `- ${name}  disabled`;
    return;
  }
  yield `✗ ${name}  ${target}`;
  yield `    ${error?.code ?? "FAILED"}: ${error?.message ?? "not connected"}`;
  for (const line of status.stderrTail.slice(-5)) yield `    stderr: ${line}`;
  if (error?.hint !== undefined) yield `    next: ${error.hint}`;
}
