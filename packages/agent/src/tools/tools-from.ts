// Tools of a source (a hub, above all) in the hands of an agent.
import { isRecord, type SourcedTool, type ToolSource } from "@trunkline/core";
import type { Tool, ToolOutput } from "./tool.js";

/** How a source's tools become an agent's. */
export interface ToolsFromOptions {
  /** The wire name of a tool: unique, `^[A-Za-z0-9_-]{1,64}$`. The command line passes the hub's table of names. */
  names: (tool: SourcedTool) => string;
  /** The name for people. Default `server.tool`. */
  titles?: ((tool: SourcedTool) => string) | undefined;
  /** Which tools. Default: all. */
  include?: ((tool: SourcedTool) => boolean) | undefined;
  /** Whether a tool only reads. Default: its annotation `readOnlyHint`, which is a server's own word. */
  readOnly?: ((tool: SourcedTool) => boolean) | undefined;
  /** A result as text and images. Default: its text blocks and images, everything else as JSON. */
  render?:
    | ((raw: Readonly<Record<string, unknown>>, tool: SourcedTool) => ToolOutput | Promise<ToolOutput>)
    | undefined;
  /** How long one call may take without progress. */
  timeoutMs?: number | undefined;
}

/** The tools that a source knows now. A call goes to the source when it is made; nothing is kept. */
export function toolsFrom(source: ToolSource, options: ToolsFromOptions): Tool[] {
  const { include = () => true, readOnly = hasReadOnlyHint, render = renderOutput } = options;
  return source
    .tools()
    .filter(include)
    .map((tool) => ({
      name: options.names(tool),
      title: options.titles?.(tool) ?? `${tool.server}.${tool.tool}`,
      description: tool.description ?? "",
      inputSchema: tool.inputSchema,
      readOnly: readOnly(tool),
      async call(args, { signal, onProgress }) {
        const result = await source.callTool(
          tool.server,
          tool.tool,
          { ...args },
          {
            ...(signal === undefined ? {} : { signal }),
            ...(onProgress === undefined ? {} : { onProgress }),
            ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
          },
        );
        const output = await render(result.raw, tool);
        return result.isError ? { ...output, isError: true } : output;
      },
    }));
}

function hasReadOnlyHint(tool: SourcedTool): boolean {
  return tool.annotations?.readOnlyHint === true;
}

/** A result as text and images, for want of a better rendering. */
export function renderOutput(raw: Readonly<Record<string, unknown>>): ToolOutput {
  const blocks = Array.isArray(raw.content) ? raw.content.filter(isRecord) : [];
  if (blocks.length === 0) {
    return { text: raw.structuredContent === undefined ? "" : JSON.stringify(raw.structuredContent) };
  }
  const images = blocks.flatMap(({ type, data, mimeType }) =>
    type === "image" && typeof data === "string" && typeof mimeType === "string" ? [{ data, mediaType: mimeType }] : [],
  );
  const lines = blocks.flatMap((block) => {
    if (block.type === "text" && typeof block.text === "string") return [block.text];
    return block.type === "image" ? [] : [JSON.stringify(block)];
  });
  return { text: lines.join("\n"), ...(images.length > 0 ? { images } : {}) };
}
