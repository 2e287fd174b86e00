// A tool as clients see it. The composite tools and each upstream tool on the direct surface have this type.
import type { Exchange } from "./exchange.js";
import type { ContentBlock, Params } from "./operation.js";

/** The result of `tools/call`, as sent. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [field: string]: unknown;
}

export interface ServedTool {
  /** As returned by `tools/list`. */
  readonly definition: Readonly<Record<string, unknown>> & { readonly name: string };
  /**
   * Returns the arguments in their one canonical form, which `call` reads without change: an approver that sees them
   * sees what will run. Rejects if they are ambiguous or name something unknown. Absent if there is only one form.
   */
  canonical?(args: Params, options: { signal: AbortSignal }): Promise<Params>;
  /** Does not reject for a failed call: that is a result. Only protocol errors reject, with an `RpcError`. */
  call(args: Params, exchange: Exchange): Promise<ToolResult>;
}
