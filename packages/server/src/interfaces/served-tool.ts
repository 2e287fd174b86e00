// A tool as clients see it. The composite tools and each upstream tool of the direct surface have this shape.
import type { Exchange } from "./exchange.js";
import type { ContentBlock, Params } from "./operation.js";

/** The result of `tools/call`, as it goes out. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [field: string]: unknown;
}

/** One tool of the surface. */
export interface ServedTool {
  /** As `tools/list` gives it. */
  readonly definition: Readonly<Record<string, unknown>> & { readonly name: string };
  /** Never rejects for a failed call: that is a result. An `RpcError` is for what the protocol calls an error. */
  call(args: Params, exchange: Exchange): Promise<ToolResult>;
}
