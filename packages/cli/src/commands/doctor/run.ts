import type { ServerState } from "@trunkline/client";
import { printableJson, printableLines } from "@trunkline/core";
import { checkModel, jsonModel, textModel } from "../../agent/check-model.js";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { keepTools } from "../../app/known-tools.js";
import type { CommandContext } from "../../terminal/context.js";
import { type Findings, jsonReport, textReport } from "./doctor-report.js";
import { jsonSafety, safetyOf, textSafety } from "./doctor-safety.js";

export interface DoctorOptions {
  format: "text" | "json";
  pretty?: boolean;
  strict?: boolean;
  /** Timeout in seconds for all servers together. */
  timeout: number;
  mcp: string | undefined;
}

/** An unapproved server was not checked, so it does not count as working either. */
const NOT_WORKING: ReadonlySet<ServerState> = new Set<ServerState>(["failed", "needs-auth", "untrusted", "pending"]);

/** Checks the configuration, connects every server and asks the model, all in parallel and within the deadline. */
export async function doctor(context: CommandContext, options: DoctorOptions): Promise<number> {
  await using app = openApp(context, { mcp: options.mcp, checkWithinMs: options.timeout * 1000 });
  const [config, hub] = [await app.config(), await app.hub()];
  const [model] = await Promise.all([
    checkModel(context, { timeoutMs: options.timeout * 1000 }),
    hub.connect(undefined, context.signal),
  ]);
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
  const safety = await safetyOf(context, config);
  if (options.format === "json") {
    const checked = { ...jsonReport(findings), safety: jsonSafety(safety) };
    const report = { ...checked, ...(model === undefined ? {} : { model: jsonModel(model) }) };
    context.out(printableJson(context.redactor.value(report), options.pretty ? 2 : undefined));
  } else {
    const lines = [
      ...textReport(findings),
      ...(model === undefined ? [] : ["", ...textModel(model)]),
      ...["", ...textSafety(safety)],
    ];
    for (const line of lines) context.out(printableLines(context.redactor.text(line)));
  }
  await keepTools(context, hub);
  const failed =
    (model !== undefined && model.status !== "ok") ||
    findings.servers.some(({ state, toolsError }) => NOT_WORKING.has(state) || toolsError !== undefined) ||
    config.rejected.length > 0 ||
    config.diagnostics.some(({ severity, server }) => severity !== "note" && server === undefined);
  return failed && options.strict ? EXIT.failure : EXIT.success;
}
