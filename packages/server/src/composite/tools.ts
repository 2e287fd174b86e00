// The composite surface: a handful of tools, whatever stands behind them.
import { systemClock } from "@trunkline/core";
import type { ServedTool } from "../surface/served-tool.js";
import { echoTool } from "./echo.js";
import type { CompositeEnvironment, CompositeOptions } from "./environment.js";
import { executeTool } from "./execute.js";
import { queryTool } from "./query.js";
import { sessionTool } from "./session.js";

export type { CompositeOptions, CompositeRegistry } from "./environment.js";

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
