// Runs one task on one surface with the loop of `trunkline agent --name tools`, counts its tokens and checks the
// result.
import { approveAll, findAgent, textMessage } from "@trunkline/agent";
import { sum } from "./count.js";
import { scriptedModel } from "./scripted-model.js";

/** @typedef {import("./world.js").Surface} Surface */
/**
 * `input` is everything that was sent, turn after turn; `fresh` is the part not sent before in this task, which a
 * caching provider has to process; `freshWithoutTools` is the same if the tool list is already cached.
 * @typedef {{ turns: number, input: number, output: number, total: number, fresh: number, freshWithoutTools: number }}
 * Cost
 */

/**
 * Rejects if the task was not finished. @param {import("./tasks.js").Task} task @param {Surface} surface @param
 * {import("./world.js").World} world @returns {Promise<Cost>}
 */
export async function runTask(task, surface, world) {
  world.reset(task);
  const tools = world.tools[surface];
  const { model, turns } = scriptedModel(task[surface](), (title) => {
    const tool = tools.find((each) => each.title === title);
    if (tool === undefined) throw new Error(`No tool is called ${title}.`);
    return tool.name;
  });
  const { text, ended } = await findAgent("tools").run({
    model,
    tools,
    messages: [textMessage("user", task.say)],
    approve: approveAll,
    limits: { maxTurns: 20 },
    // Fixed, because a random key would change the token count slightly.
    frameKey: "5eed5eed5eed",
    // Tool results reach the model in full.
    maxResultChars: Number.POSITIVE_INFINITY,
  });
  if (ended !== "answer") throw new Error(`${task.name}, ${surface}: ended by ${ended}.`);
  task.check({ answer: text, world });
  const input = sum(turns.map((turn) => turn.input));
  const output = sum(turns.map((turn) => turn.output));
  // Each request starts with the previous one.
  const fresh = (turns.at(-1)?.input ?? 0) + output;
  const freshWithoutTools = fresh - (turns.at(-1)?.tools ?? 0);
  return { turns: turns.length, input, output, total: input + output, fresh, freshWithoutTools };
}
