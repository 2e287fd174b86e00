// The composite surface: a handful of tools, whatever stands behind them.
import { systemClock } from "@trunkline/core";
import { notNoted } from "../journal/call-notes.js";
import type { OperationContext } from "../operations/operation.js";
import type { RunOperation } from "../operations/run-operation.js";
import type { ServedTool } from "../surface/served-tool.js";
import { echoTool } from "./echo.js";
import type { CompositeEnvironment, CompositeOptions } from "./environment.js";
import { executeTool } from "./execute.js";
import { queryTool } from "./query.js";
import { sessionTool } from "./session.js";

export type { CompositeOptions, CompositeRegistry } from "./environment.js";

const validateAndRun: RunOperation = async (operation, params, context) =>
  await operation.run(operation.validate(params), context);

/** Makes `query`, `execute`, `session` and `mcp.echo`, in the order they are listed. It opens nothing. */
export function createCompositeTools(options: CompositeOptions): readonly ServedTool[] {
  const { registry, backends, account, workspace, run = validateAndRun } = options;
  const begun = new WeakSet<OperationContext>();
  const env: CompositeEnvironment = {
    registry,
    run: async (operation, params, context) => {
      begun.add(context);
      return await run(operation, params, context);
    },
    wasRun: (context) => begun.has(context),
    begin: options.begin ?? notNoted,
    store: () => backends.store(),
    account,
    spill: options.spill ?? true,
    workspace,
    clock: options.clock ?? systemClock,
  };
  return [queryTool(env), executeTool(env), sessionTool(env), echoTool];
}
