// `authenticate`: the only tool of a server that needs a sign-in. With it, an agent can ask its user to sign in.
import type { SourcedTool, ToolCallResult } from "@trunkline/core";

/** The tool's name. It is listed only while the server has no other tools. */
export const SIGN_IN_TOOL = "authenticate";

export function authenticateTool(server: string): SourcedTool {
  const description = `Asks the user to sign in to "${server}"; its tools are listed afterwards.`;
  const inputSchema = { type: "object", properties: {}, additionalProperties: false } as const;
  return {
    server,
    tool: SIGN_IN_TOOL,
    name: `${server}.${SIGN_IN_TOOL}`,
    description,
    inputSchema,
    raw: { name: SIGN_IN_TOOL, description, inputSchema },
  };
}

export function authenticateResult(
  server: string,
  outcome: "completed" | "cancelled",
  toolCount: () => number,
): ToolCallResult {
  const isError = outcome === "cancelled";
  const count = isError ? 0 : toolCount();
  const text = isError
    ? `The user did not sign in to "${server}".`
    : `Signed in to "${server}". It now has ${count} ${count === 1 ? "tool" : "tools"}.`;
  return { isError, raw: { content: [{ type: "text", text }], isError } };
}
