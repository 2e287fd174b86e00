// `mcp.echo`: the protocol test, on every surface, whatever stands behind it.
import type { Params } from "../interfaces/operation.js";
import type { ServedTool, ToolResult } from "../interfaces/served-tool.js";
import { echoDefinition } from "./definitions.js";

/** The tool. */
export const echoTool: ServedTool = { definition: echoDefinition, call: async (args) => callEcho(args) };

/** Answers `mcp.echo`. `text` is accepted for `message`. */
export function callEcho(args: Params): ToolResult {
  const message = args.message ?? args.text;
  if (typeof message === "string") return { content: [{ type: "text", text: message }] };
  const error = {
    code: "INVALID_ARGUMENT",
    message:
      message === undefined ? 'The parameter "message" is missing.' : 'The parameter "message" has to be a string.',
    hint: 'Call it as {"message": "hello"}.',
  };
  return { content: [{ type: "text", text: JSON.stringify({ error }) }], structuredContent: { error }, isError: true };
}
