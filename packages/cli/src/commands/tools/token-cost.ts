// Measures the cost of a tool list for a model: name, description and input schema of each tool, in o200k_base tokens.
import type { ToolNames } from "@trunkline/client";
import type { SourcedTool } from "@trunkline/core";

export interface ToolCost {
  readonly server: string;
  readonly tool: string;
  readonly tokens: number;
}

/** Counts the tokens of each tool. The encoding's tables are large, so they are loaded only here. */
export async function toolCosts(tools: readonly SourcedTool[], names: ToolNames<SourcedTool>): Promise<ToolCost[]> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  return tools.map((tool) => {
    const { server, description = "", inputSchema } = tool;
    const listed = JSON.stringify({ name: names.name(tool, "prefixed"), description, inputSchema });
    return { server, tool: tool.tool, tokens: countTokens(listed) };
  });
}
