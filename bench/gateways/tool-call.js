// Calls a tool and reads its text.

/** A tool result with `isError`. */
export class ToolFailed extends Error {}

/** Returns the text of a tool's result. @param {Record<string, any>} result @returns {string} */
export function textOf({ content, isError }) {
  const text = content?.[0]?.text;
  if (isError === true || typeof text !== "string") throw new ToolFailed(String(text));
  return text;
}

/** @param {string} prefix of the tools' names @returns {import("./gateways.js").Gateway["call"]} */
export function callDirectly(prefix = "") {
  return async (client, tool, args, timeoutMs) =>
    textOf(await client.ask("tools/call", { name: `${prefix}${tool}`, arguments: args }, timeoutMs));
}
