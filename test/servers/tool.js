// The tool type of the test servers, and the shared handling of tools/list and tools/call, with or without an SDK.

/**
 * @typedef {import("@modelcontextprotocol/server").JSONObject} JsonObject
 * @typedef {{ type: "object", properties?: Record<string, JsonObject>, required?: string[] }} InputSchema
 * @typedef {Record<string, unknown>} Arguments
 * @typedef {{ content: { type: "text", text: string }[], isError?: boolean }} TextResult
 */

/**
 * @template Context passed to a running call by the transport: the SDK's ServerContext, or nothing without an SDK
 * @template Result
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} description
 * @property {InputSchema} inputSchema
 * @property {(args: Arguments, context: Context) => Result | Promise<Result>} run
 */

/** @typedef {Tool<unknown, TextResult>} PlainTool a tool that only needs its arguments */

/** An invalid argument; becomes an isError result. */
class ArgumentError extends Error {}

/**
 * @param {string} value
 * @returns {TextResult}
 */
export function text(value) {
  return { content: [{ type: "text", text: value }] };
}

/**
 * @param {string} message
 * @returns {TextResult}
 */
export function failure(message) {
  return { ...text(message), isError: true };
}

/**
 * Returns the definitions without their code, for tools/list.
 *
 * @param {readonly Tool<never, unknown>[]} tools
 */
export function describeTools(tools) {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

/**
 * Runs one call. Unknown tools and bad arguments become isError results, not JSON-RPC errors.
 *
 * @template Context
 * @template Result
 * @param {readonly Tool<Context, Result>[]} tools
 * @param {{ name: string, arguments?: Arguments | undefined }} call
 * @param {Context} context
 * @returns {Promise<Result | TextResult>}
 */
export async function callTool(tools, call, context) {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return failure(`Unknown tool: ${call.name}`);
  try {
    return await tool.run(call.arguments ?? {}, context);
  } catch (error) {
    if (error instanceof ArgumentError) return failure(error.message);
    throw error;
  }
}

/**
 * @param {Arguments} args
 * @param {string} name
 * @param {string} [fallback] without one the argument is required
 */
export function stringArgument(args, name, fallback) {
  const value = args[name] ?? fallback;
  if (typeof value !== "string") throw new ArgumentError(`The argument "${name}" must be a string.`);
  return value;
}

/**
 * @param {Arguments} args
 * @param {string} name
 * @param {number} [fallback] without one the argument is required
 */
export function countArgument(args, name, fallback) {
  const value = args[name] ?? fallback;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
    throw new ArgumentError(`The argument "${name}" must be a whole number of 0 or more.`);
  }
  return value;
}
