// A model that follows a policy: a generator that yields the calls of a turn, receives their results, and returns the
// answer. It implements the model port, so the loop, its frames and its system prompt are the real ones, and each
// request is counted as a provider would receive it.
import { unframeOutput } from "@trunkline/agent";
import { answerTokens, messageTokens, toolTokens } from "./count.js";

/** @typedef {{ tool: string, args: Record<string, unknown> }} Call */
/** @typedef {{ text: string, images: readonly { mediaType: string }[], isError: boolean }} Outcome */
/** @typedef {Generator<Call[], string, Outcome[]>} Policy */
/**
 * The cost of a turn; `tools` is the tool list's share of the input. @typedef {{ input: number, output: number, tools:
 * number }} Turn
 */
/** @typedef {import("@trunkline/agent").Message} Message */

/**
 * Creates the model. `turns` collects the cost of its turns so far.
 * @param {Policy} policy
 * @param {(title: string) => string} wireName
 */
export function scriptedModel(policy, wireName) {
  /** @type {Turn[]} */
  const turns = [];
  /** @type {import("@trunkline/agent").Model} */
  const model = {
    provider: "scripted",
    id: "scripted",
    async *stream({ messages, tools = [] }) {
      const list = await toolTokens(tools);
      const counts = await Promise.all(messages.map(messageTokens));
      const next = policy.next(outcomesOf(messages.at(-1)));
      const said = next.done === true ? next.value : next.value.map(asEvent);
      turns.push({
        tools: list,
        input: list + counts.reduce((sum, count) => sum + count, 0),
        output: await answerTokens(said),
      });
      if (typeof said === "string") yield { type: "text", text: said };
      else yield* said;
      yield { type: "finish", reason: typeof said === "string" ? "stop" : "tool-calls" };
    },
  };

  /** @param {Call} call @param {number} index */
  function asEvent({ tool, args }, index) {
    const id = `call-${turns.length + 1}-${index + 1}`;
    return /** @type {const} */ ({ type: "tool-call", id, name: wireName(tool), args });
  }
  return { model, turns };
}

/** Returns the results of the last turn's calls. @param {Message | undefined} last @returns {Outcome[]} */
function outcomesOf(last) {
  if (last?.role !== "tool") return [];
  return last.parts.flatMap((part) =>
    part.type === "tool-result"
      ? [{ text: unframeOutput(part.text), images: part.images ?? [], isError: part.isError === true }]
      : [],
  );
}
