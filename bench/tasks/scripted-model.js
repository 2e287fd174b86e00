// A model that follows a policy: a generator that yields the calls of a turn, receives their results, and returns the
// answer. It implements the model port, so the loop, its frames and its system prompt are the real ones, and each
// request is counted as a provider would receive it.
import { unframeOutput } from "@trunkline/agent";
import { answerTokens, messageTokens, sum, toolTokens } from "./count.js";

/** @typedef {{ tool: string, args: Record<string, unknown> }} Call */
/** @typedef {{ text: string, images: readonly { mediaType: string }[], isError: boolean }} Outcome */
/** @typedef {Generator<Call[], string, Outcome[]>} Policy */
/**
 * The cost of a turn; `cached` is the part of the input that earlier tasks have sent too: the tool list and the
 * instructions. @typedef {{ input: number, output: number, cached: number }} Turn
 */
/** @typedef {import("@trunkline/agent").Message} Message */

/**
 * Creates the model. `turns` collects the cost of its turns so far; `resolve` turns a call into what the model writes.
 * @param {Policy} policy
 * @param {{
 *   instructions: string,
 *   resolve: (call: Call) => { name: string, args: Record<string, unknown> },
 *   show?: ((line: string) => void) | undefined,
 * }} options
 */
export function scriptedModel(policy, { instructions, resolve, show }) {
  /** @type {Turn[]} */
  const turns = [];
  /** @type {import("@trunkline/agent").Model} */
  const model = {
    provider: "scripted",
    id: "scripted",
    async *stream({ messages, tools = [] }) {
      const counts = await Promise.all(messages.map(messageTokens));
      const guide = messages.findIndex(({ parts: [part] }) => part?.type === "text" && part.text === instructions);
      const list = await toolTokens(tools);
      const next = policy.next(outcomesOf(messages.at(-1)));
      const said = next.done === true ? next.value : next.value.map(asEvent);
      const output = await answerTokens(said);
      turns.push({ cached: list + (counts[guide] ?? 0), input: list + sum(counts), output });
      if (turns.length === 1) show?.(`[${list}] ${tools.length} tools: ${shown(tools)}`);
      // Later turns only add the results of the last one.
      const from = turns.length === 1 ? 0 : messages.length - 1;
      for (const [index, { parts }] of messages.entries())
        if (index >= from) show?.(`[${counts[index]}] ${shown(parts)}`);
      show?.(`[${output}] > ${shown(said)}`);
      if (typeof said === "string") yield { type: "text", text: said };
      else yield* said;
      yield { type: "finish", reason: typeof said === "string" ? "stop" : "tool-calls" };
    },
  };

  /** @param {Call} call @param {number} index */
  function asEvent(call, index) {
    const id = `call-${turns.length + 1}-${index + 1}`;
    return /** @type {const} */ ({ type: "tool-call", id, ...resolve(call) });
  }
  return { model, turns };
}

const SHOWN_CHARS = 3000;

/** @param {unknown} said */
function shown(said) {
  const text = JSON.stringify(said);
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)} … (${text.length} characters)` : text;
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
