// One task on one surface: played by the loop of `trunkline agent --name tools`, counted, and checked.
import { approveAll, findAgent, textMessage } from "@trunkline/agent";
import { sum } from "./count.js";
import { scriptedModel } from "./scripted-model.js";

/** @typedef {import("./world.js").Surface} Surface */
/**
 * `input` is all that was sent, turn after turn; `fresh` the part that had not been sent in this task before, which is what
 * a provider that caches reads anew; `freshWithoutTools` the same where it knew the tool list already.
 * @typedef {{ turns: number, input: number, output: number, total: number, fresh: number, freshWithoutTools: number }} Cost
 */

/** Rejects where the task was not finished. @param {import("./tasks.js").Task} task @param {Surface} surface @param {import("./world.js").World} world @returns {Promise<Cost>} */
export async function runTask(task, surface, world) {
  world.reset(task);
  const tools = world.tools[surface];
  const { model, turns } = scriptedModel(task[surface](), (title) => {
    const tool = tools.find((each) => each.title === title);
    if (tool === undefined) throw new Error(`There is no tool ${title}.`);
    return tool.name;
  });
  const { text, ended } = await findAgent("tools").run({
    model,
    tools,
    messages: [textMessage("user", task.say)],
    approve: approveAll,
    limits: { maxTurns: 20 },
    // A random one would cost a few tokens more or less.
    frameKey: "5eed5eed5eed",
    // What a tool returns reaches the model whole.
    maxResultChars: Number.POSITIVE_INFINITY,
  });
  if (ended !== "answer") throw new Error(`${task.name}, ${surface}: ended by ${ended}.`);
  task.check({ answer: text, world });
  const input = sum(turns.map((turn) => turn.input));
  const output = sum(turns.map((turn) => turn.output));
  // Each request begins with the one before it.
  const fresh = (turns.at(-1)?.input ?? 0) + output;
  const freshWithoutTools = fresh - (turns.at(-1)?.tools ?? 0);
  return { turns: turns.length, input, output, total: input + output, fresh, freshWithoutTools };
}
