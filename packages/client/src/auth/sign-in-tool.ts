// `authenticate`: the only tool of a server that needs a sign-in. With it, an agent can ask its user to sign in.
import { type SourcedTool, type ToolCallResult, TrunklineError } from "@trunkline/core";
import type { SignIn } from "../channel/channel.js";
import { shownName } from "./sign-in-errors.js";

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

/** The error if a sign-in is needed and the caller's user cannot be asked: it says where they can. */
export function signInElsewhere(server: string, cause: TrunklineError): TrunklineError {
  return new TrunklineError("AUTH_REQUIRED", cause.message, {
    cause,
    hint:
      "No sign-in page can be opened from here. The user has to run this in a terminal, on the machine where Trunkline " +
      `runs: trunkline auth login ${shownName(server)}. Afterwards, call ${SIGN_IN_TOOL} again.`,
    data: { cause: "unauthorized" },
  });
}

/** Ends the question when the caller gives up; the sign-in counts as cancelled then. */
export function withdrawnBy(signal: AbortSignal | undefined, ask: SignIn): SignIn {
  if (signal === undefined) return ask;
  return async (request) => {
    const answer = await ask({ ...request, signal: AbortSignal.any([request.signal, signal]) });
    return signal.aborted && !request.signal.aborted ? "cancelled" : answer;
  };
}
