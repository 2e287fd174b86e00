// Counts the tokens (o200k_base) sent to a provider. Each provider wraps names and texts in its own template; a small
// constant stands in for it.
import { countTokens } from "../../packages/gateway/dist/budget/tokens.js";

/** The overhead of a message, a call or a result. */
const AROUND = 4;
/** One tile of a small picture. */
const IMAGE = 255;

/** A cache, since texts are repeated every turn. @type {Map<string, Promise<number>>} */
const counted = new Map();

/** @param {string} text */
function tokensOf(text) {
  const known = counted.get(text);
  if (known !== undefined) return known;
  const count = countTokens(text, Number.POSITIVE_INFINITY).then((tokens) => tokens ?? Number.NaN);
  counted.set(text, count);
  return count;
}

/** @param {readonly import("@trunkline/agent").ModelTool[]} tools */
export async function toolTokens(tools) {
  return sum(
    await Promise.all(
      tools.map(({ name, description, inputSchema }) =>
        tokensOf(JSON.stringify({ name, description, parameters: inputSchema })),
      ),
    ),
  );
}

/** @param {import("@trunkline/agent").Message} message */
export async function messageTokens({ parts }) {
  return sum(await Promise.all(parts.map(async (part) => AROUND + (await partTokens(part)))));
}

/** @param {import("@trunkline/agent").MessagePart} part */
async function partTokens(part) {
  switch (part.type) {
    case "text":
    case "reasoning":
      return await tokensOf(part.text);
    case "image":
      return IMAGE;
    case "tool-call":
      return await callTokens(part);
    case "tool-result":
      return (await tokensOf(part.text)) + IMAGE * (part.images?.length ?? 0);
  }
}

/**
 * Counts the output of a model's turn: an answer, or calls. @param {string | readonly { name: string, args: unknown
 * }[]} said
 */
export async function answerTokens(said) {
  return typeof said === "string" ? await tokensOf(said) : sum(await Promise.all(said.map(callTokens)));
}

/** @param {{ name: string, args: unknown }} call */
async function callTokens({ name, args }) {
  return (await tokensOf(name)) + (await tokensOf(JSON.stringify(args)));
}

/** @param {readonly number[]} values */
export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
