import type { CallToolResult, Tool } from "@modelcontextprotocol/server";

/** The protocol test: on every surface, whatever stands behind it. */
export const echoTool: Tool = {
  name: "mcp.echo",
  description: "Echo a message back, to test the connection.",
  inputSchema: {
    type: "object",
    properties: { message: { type: "string" } },
    required: ["message"],
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** Answers `mcp.echo`. `text` is accepted for `message`. */
export function callEcho(args: Readonly<Record<string, unknown>>): CallToolResult {
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
