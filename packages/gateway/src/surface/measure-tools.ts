// Measures the tools of a server when they change, so that a decision needs no counting.
import type { MeasureTools, ToolsMeasure } from "@trunkline/client";
import type { SourcedTool } from "@trunkline/core";
import { leanDefinition } from "./lean-definition.js";
import { topicsOf } from "./server-topics.js";

/** Counts the tokens of texts, on another thread. */
type CountTokens = (texts: readonly string[]) => Promise<readonly number[]>;

export function createMeasure(count: CountTokens): MeasureTools {
  return async (server, tools): Promise<ToolsMeasure> => {
    const [{ wireName }, { directDefinition }] = await Promise.all([
      import("@trunkline/config"),
      import("@trunkline/client/catalogue"),
    ]);
    const topics = topicsOf(server, tools);
    const counts = await count([
      ...tools.map((tool) => leanText(wireName(tool), tool)),
      `\n${server}:`,
      ...topics.map((topic) => ` ${topic},`),
      ...tools.map((tool) => JSON.stringify(directDefinition(tool))),
    ]);
    const afterTopics = tools.length + 1 + topics.length;
    return {
      lean: counts.slice(0, tools.length),
      full: counts.slice(afterTopics).reduce((sum, tokens) => sum + tokens, 0),
      name: counts[tools.length] ?? 0,
      topics: topics.map((topic, index) => [topic, counts[tools.length + 1 + index] ?? 0]),
    };
  };
}

function leanText(name: string, { description, inputSchema, annotations }: SourcedTool): string {
  return JSON.stringify(leanDefinition({ name, description, inputSchema, annotations }));
}
