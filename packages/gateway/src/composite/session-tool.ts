// `session`: groups work in the store.
import { isRecord, TrunklineError } from "@trunkline/core";
import type { Exchange } from "../interfaces/exchange.js";
import type { Params } from "../interfaces/operation.js";
import type { ServedTool, ToolResult } from "../interfaces/served-tool.js";
import { requireShallow } from "../operations/run-operation.js";
import { answerError } from "../pipeline/answer-error.js";
import { parseText, plain, readNamed } from "../pipeline/read-steps.js";
import { type CompositeEnvironment, type EnvironmentOf, sendAnswer, sendError } from "./composite-answer.js";

const DEFINITION: ServedTool["definition"] = {
  name: "session",
  description: "Sessions: start, pin {hash}, watch {paths}.",
  inputSchema: {
    type: "object",
    properties: {
      action: { enum: ["start", "stop", "pin", "unpin", "watch"] },
      params: { type: "object" },
    },
    required: ["action"],
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
};

export function sessionTool(envOf: EnvironmentOf): ServedTool {
  return {
    definition: DEFINITION,
    canonical: async (args) => ({ ...readAction(args) }),
    call: (args, exchange) => session(envOf(exchange), args, exchange),
  };
}

async function session(env: CompositeEnvironment, args: Params, exchange: Exchange): Promise<ToolResult> {
  const { signal, onProgress } = exchange;
  const budget = { maxTokens: undefined, signal };
  let hasBegun = false;
  try {
    const { action, params } = readAction(args);
    const operation = await env.registry.findAction(action);
    hasBegun = true;
    try {
      const { value } = await env.run({
        operation,
        params,
        context: { exchange, signal, onProgress },
        request: env.request,
      });
      const parts = [{ op: `session.${action}`, value, isStorable: true }];
      return await sendAnswer(env, { parts, frame: ([only]) => only, isError: false }, budget);
    } catch (error) {
      const value = { error: answerError(error, { op: action }) };
      const parts = [{ op: `session.${action}`, value, isStorable: false }];
      return await sendAnswer(env, { parts, frame: ([only]) => only, isError: true }, budget);
    }
  } catch (error) {
    if (!hasBegun) env.log.note("session", exchange.caller, { error });
    return await sendError(env, error, { signal, op: "session" });
  }
}

/** Reads `{action, params}`; parameters next to the action are accepted too, but not the same one twice. */
function readAction(args: Params): { action: string; params: Params } {
  requireShallow(args, "params");
  const { action, params } = readNamed(args, ["action", "params"]);
  if (typeof action !== "string" || action.trim() === "") {
    throw new TrunklineError("INVALID_ARGUMENT", "session needs an action.", {
      hint: "Use start, stop, pin, unpin or watch.",
      data: { parameter: "action" },
    });
  }
  const given = typeof params === "string" ? parseText(params, "params") : params;
  if (given !== undefined && !isRecord(given)) {
    throw new TrunklineError("INVALID_ARGUMENT", "params has to be an object.", { data: { parameter: "params" } });
  }
  requireShallow(given, "params");
  const inline = Object.entries(args).filter(([name]) => !["action", "params"].includes(plain(name)));
  const [both] = inline.filter(([name]) => Object.keys(given ?? {}).some((other) => plain(other) === plain(name)));
  if (both !== undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${both[0]}" is given both in params and next to action.`, {
      hint: "Use only one of them.",
      data: { parameter: both[0] },
    });
  }
  return { action: action.trim(), params: Object.fromEntries([...inline, ...Object.entries(given ?? {})]) };
}
