// Measures the cost of a tool list for a model, in o200k_base tokens: of each tool's full definition, with name,
// description and input schema, and of the short one that `serve` lists.
import type { ToolNames } from "@trunkline/client";
import type { SourcedTool } from "@trunkline/core";

export interface ToolCost {
  readonly server: string;
  readonly tool: string;
  /** Of the full definition. */
  readonly tokens: number;
  /** Of the short definition. */
  readonly short: number;
}

/** Counts the tokens of each tool. */
export async function toolCosts(tools: readonly SourcedTool[], names: ToolNames<SourcedTool>): Promise<ToolCost[]> {
  const [{ countTokens }, { leanDefinition }] = await Promise.all([
    import("@trunkline/server/journal"),
    import("@trunkline/server"),
  ]);
  const full = tools.map((tool) => {
    const { description = "", inputSchema } = tool;
    return JSON.stringify({ name: names.name(tool, "prefixed"), description, inputSchema });
  });
  const short = tools.map((tool) => {
    const { description, inputSchema, annotations } = tool;
    return JSON.stringify(leanDefinition({ name: names.name(tool, "wire"), description, inputSchema, annotations }));
  });
  const counts = await countTokens([...full, ...short]);
  return tools.map(({ server, tool }, at) => ({
    server,
    tool,
    tokens: counts[at] ?? 0,
    short: counts[tools.length + at] ?? 0,
  }));
}
