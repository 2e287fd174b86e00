// A tool in the hands of an agent: from the hub, from the store, from the composite surface, or from a script.
import type { ToolProgress } from "@trunkline/core";

/** What a tool came back with, as an agent gives it to its model. */
export interface ToolOutput {
  readonly text: string;
  readonly images?: readonly { readonly data: string; readonly mediaType: string }[] | undefined;
  readonly isError?: boolean | undefined;
}

/** One tool. */
export interface Tool {
  /** The wire name, as the model is told. */
  readonly name: string;
  /** The name for people: `server.tool`. */
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Whether it only reads. What does not needs approval. */
  readonly readOnly: boolean;
  call(
    args: Readonly<Record<string, unknown>>,
    options: { signal?: AbortSignal | undefined; onProgress?: ((progress: ToolProgress) => void) | undefined },
  ): Promise<ToolOutput>;
}

/** Whether a tool that changes things may run now. `reason` reaches the model. */
export type Approval = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** Decides on tools that change things. */
export type Approver = (
  call: { readonly tool: Tool; readonly args: Readonly<Record<string, unknown>> },
  options: { signal?: AbortSignal | undefined },
) => Promise<Approval>;
