// Runs one task on one side with the loop of `trunkline agent --name tools`, counts its tokens and checks the result.
import { approveAll, findAgent, textMessage } from "@trunkline/agent";
import { execute, learn, query } from "./composite.js";
import { sum } from "./count.js";
import { withMistakes } from "./mistakes.js";
import { scriptedModel } from "./scripted-model.js";

/** @typedef {import("./scripted-model.js").Call} Call */
/** @typedef {import("./scripted-model.js").Outcome} Outcome */
/** @typedef {import("./scripted-model.js").Policy} Policy */
/** @typedef {import("./tasks.js").Task} Task */
/** @typedef {import("./world.js").Side} Side */
/** @typedef {import("./world.js").World} World */
/**
 * `input` is everything that was sent, turn after turn; `fresh` is the part not sent before in this task, which a
 * caching provider has to process; `freshWithoutTools` is the same if the tool list and the instructions are already
 * cached. `asked` says whether the model had to find tools, and `askedOnce` whether the first answer was enough to call
 * them. @typedef {{ turns: number, input: number, output: number, total: number, fresh: number, freshWithoutTools:
 * number, mistakes: number, asked: boolean, askedOnce: boolean }} Cost
 */

/**
 * Rejects if the task was not finished. With a `seed`, the model makes mistakes. `show` receives each message with its
 * tokens.
 * @param {Task} task
 * @param {Side} side
 * @param {{ world: World, seed?: number | undefined, show?: ((line: string) => void) | undefined }} options
 * @returns {Promise<Cost>}
 */
export async function runTask(task, side, { world, seed, show }) {
  world.reset(task);
  const asking = { asked: false, askedOnce: true };
  const made = { count: 0 };
  const policy = policyOf(task, { side, world, asking });
  const { model, turns } = scriptedModel(seed === undefined ? policy : withMistakes(policy, { seed, task, made }), {
    instructions: side.instructions,
    resolve: (call) => resolved(call, side, world),
    show,
  });
  const system = side.instructions === "" ? [] : [textMessage("system", side.instructions)];
  const { text, ended } = await findAgent("tools").run({
    model,
    tools: side.tools,
    messages: [...system, textMessage("user", task.say)],
    approve: approveAll,
    limits: { maxTurns: 20 },
    // Fixed, because a random key would change the token count slightly.
    frameKey: "5eed5eed5eed",
    // Tool results reach the model in full.
    maxResultChars: Number.POSITIVE_INFINITY,
  });
  if (ended !== "answer") throw new Error(`${task.name}: ended by ${ended}.`);
  task.check({ answer: text, world });
  const input = sum(turns.map((turn) => turn.input));
  const output = sum(turns.map((turn) => turn.output));
  // Each request starts with the previous one.
  const fresh = (turns.at(-1)?.input ?? 0) + output;
  const freshWithoutTools = fresh - (turns.at(-1)?.cached ?? 0);
  const cost = { turns: turns.length, input, output, total: input + output, fresh, freshWithoutTools };
  return { ...cost, mistakes: made.count, ...asking };
}

/**
 * What a capable model does with the tools in its list. @param {Task} task @param {{ side: Side, world: World, asking: {
 * asked: boolean, askedOnce: boolean } }} options @returns {Policy}
 */
function* policyOf(task, { side, world, asking }) {
  const { listed, signed, own } = side;
  if (own.size === 0) return yield* task.direct();
  const needs = Object.entries(task.needs).map(([find, tools]) => /** @type {const} */ ([find, [tools].flat()]));
  const unknown = needs.filter(([, tools]) => tools.some((tool) => !listed.has(tool) && !signed.has(tool)));
  if (unknown.length > 0) {
    asking.asked = true;
    asking.askedOnce = yield* learn(Object.fromEntries(unknown));
  }
  const isListed = needs.some(([, tools]) => tools.some((tool) => listed.has(tool)));
  if (!isListed || task.isPipeline === true) return yield* task.composite();
  return yield* routed((task.auto ?? task.direct)(), { side, world });
}

/**
 * Calls tools in the model's list by their names, and the others through the gateway. @param {Policy} policy @param {{
 * side: Side, world: World }} options @returns {Policy}
 */
function* routed(policy, { side, world }) {
  let next = policy.next([]);
  while (next.done !== true) {
    const calls = next.value;
    const isListed = calls.map(({ tool }) => side.listed.has(tool) || tool.startsWith("trunkline."));
    const outcomes = yield calls.map((call, index) => (isListed[index] ? call : throughGateway(call, world)));
    next = policy.next(outcomes.map((outcome, index) => (isListed[index] ? outcome : unwrapped(outcome))));
  }
  return next.value;
}

/** @param {Call} call @param {World} world */
function throughGateway({ tool, args }, world) {
  const step = { op: tool, params: args };
  return world.isReadOnly(tool) ? query(step) : execute(step);
}

/** Returns the text of a tool's result from the gateway's answer. @param {Outcome} outcome @returns {Outcome} */
function unwrapped(outcome) {
  const answer = JSON.parse(outcome.text);
  const value = answer.results === undefined ? answer : answer.results[0]?.result;
  const text = value?.truncated === true ? undefined : (value?.text ?? value?.content);
  return { ...outcome, text: typeof text === "string" ? text : JSON.stringify(value) };
}

/**
 * Returns a call as the model writes it. A tool that is not in its list, which it takes for another by mistake, is
 * called through the gateway. @param {Call} call @param {Side} side @param {World} world @returns {{ name: string, args:
 * Record<string, unknown> }}
 */
function resolved({ tool: title, args }, side, world) {
  const tool = side.listed.get(title) ?? side.own.get(title.replace(/^trunkline\./, ""));
  if (tool !== undefined) return { name: tool.name, args };
  if (side.own.size === 0) throw new Error(`No tool is called ${title}.`);
  return resolved(throughGateway({ tool: title, args }, world), side, world);
}
