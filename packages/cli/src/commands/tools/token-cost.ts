// Measures the cost of a tool list for a model: name, description and input schema of each tool, in o200k_base tokens.
import type { ToolNames } from "@trunkline/client";
import type { SourcedTool } from "@trunkline/core";

export interface ToolCost {
  readonly server: string;
  readonly tool: string;
  readonly tokens: number;
}

/** Counts the tokens of each tool. */
export async function toolCosts(tools: readonly SourcedTool[], names: ToolNames<SourcedTool>): Promise<ToolCost[]> {
  const { countTokens } = await import("@trunkline/server/journal");
  const texts = tools.map((tool) => {
    const { description = "", inputSchema } = tool;
    return JSON.stringify({ name: names.name(tool, "prefixed"), description, inputSchema });
  });
  const counts = await countTokens(texts);
  return tools.map(({ server, tool }, index) => ({ server, tool, tokens: counts[index] ?? 0 }));
}
