import { openHub } from "@trunkline/client";
import type { CommandContext } from "../context.js";
import { type Findings, jsonReport, textReport } from "../doctor-report.js";
import { EXIT } from "../exit-codes.js";
import { readConfig } from "../open-hub.js";

/** Options of `trunkline doctor`. */
export interface DoctorOptions {
  format: "text" | "json";
  pretty?: boolean;
  strict?: boolean;
  /** Seconds that all servers together may take. */
  timeout: number;
  mcp: string | undefined;
}

/** Checks the configuration and really connects every server in it, all at once and within the deadline. */
export async function doctor(context: CommandContext, options: DoctorOptions): Promise<number> {
  const config = await readConfig(context, options.mcp);
  const deadlineMs = options.timeout * 1000;
  const servers = config.servers.map((server) => ({
    ...server,
    connectTimeoutMs: Math.min(server.connectTimeoutMs, deadlineMs),
    callTimeoutMs: Math.min(server.callTimeoutMs, deadlineMs),
  }));
  await using hub = await openHub(
    { ...config, servers },
    {
      logger: context.logger,
      clientInfo: { name: "trunkline", version: context.version },
      env: context.env,
      redactor: context.redactor,
      signal: context.signal,
      lazy: true,
    },
  );
  await hub.connect(undefined, context.signal);
  context.signal.throwIfAborted();
  const findings: Findings = {
    version: context.version,
    cwd: context.cwd,
    home: context.home,
    config,
    servers: hub.status(),
    tools: hub.tools(),
    renamed: hub.names().renamed(),
  };
  if (options.format === "json") {
    context.out(JSON.stringify(context.redactor.value(jsonReport(findings)), null, options.pretty ? 2 : undefined));
  } else {
    for (const line of textReport(findings)) context.out(context.redactor.text(line));
  }
  const failed =
    findings.servers.some(
      ({ state, toolsError }) => state === "failed" || state === "needs-auth" || toolsError !== undefined,
    ) ||
    config.rejected.length > 0 ||
    config.diagnostics.some(({ severity, server }) => severity !== "note" && server === undefined);
  return failed && options.strict ? EXIT.failure : EXIT.success;
}
