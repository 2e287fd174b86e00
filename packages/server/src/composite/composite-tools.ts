// The composite surface: a handful of tools, whatever stands behind them.
import { systemClock } from "@trunkline/core";
import type { ServedTool } from "../interfaces/served-tool.js";
import type { CompositeEnvironment, CompositeOptions } from "./answer.js";
import { echoTool } from "./echo.js";
import { executeTool } from "./execute-tool.js";
import { queryTool } from "./query-tool.js";
import { sessionTool } from "./session-tool.js";

export type { CompositeOptions, CompositeRegistry } from "./answer.js";

/** Makes `query`, `execute`, `session` and `mcp.echo`, in the order they are listed. It opens nothing. */
export function createCompositeTools(options: CompositeOptions): readonly ServedTool[] {
  const { registry, backends, account, workspace, run, log } = options;
  const env: CompositeEnvironment = {
    registry,
    run,
    log,
    store: () => backends.store(),
    account,
    spill: options.spill ?? true,
    workspace,
    clock: options.clock ?? systemClock,
  };
  return [queryTool(env), executeTool(env), sessionTool(env), echoTool];
}
