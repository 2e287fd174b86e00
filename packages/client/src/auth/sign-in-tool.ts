// `authenticate`: the one tool of a server that waits for a sign-in, so that an agent can have its user sign in.
import type { SourcedTool, ToolCallResult } from "@trunkline/core";

/** The name of the tool, beside the server's own. It is there only while the server has no others. */
export const SIGN_IN_TOOL = "authenticate";

/** The tool as a catalogue lists it. */
export function authenticateTool(server: string): SourcedTool {
  const description = `Has the user sign in to "${server}", which lists its tools only then.`;
  const inputSchema = { type: "object", properties: {}, additionalProperties: false } as const;
  return {
    server,
    tool: SIGN_IN_TOOL,
    description,
    inputSchema,
    raw: { name: SIGN_IN_TOOL, description, inputSchema },
  };
}

/** What the tool answers. */
export function authenticateResult(
  server: string,
  outcome: "completed" | "cancelled",
  toolCount: () => number,
): ToolCallResult {
  const isError = outcome === "cancelled";
  const count = isError ? 0 : toolCount();
  const text = isError
    ? `The user did not sign in to "${server}".`
    : `Signed in to "${server}". It has ${count} ${count === 1 ? "tool" : "tools"} now.`;
  return { isError, raw: { content: [{ type: "text", text }], isError } };
}
