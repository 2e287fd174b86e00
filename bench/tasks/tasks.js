// The tasks, in the order of the table. Each is done twice: `direct` with every tool of the servers in the model's list,
// `composite` with query and execute. Both are what an able model would do: independent calls in one turn, the tool that
// fits best, and no reading of what is not needed; on the composite side it first has to find out what there is. Answers are
// made from what the tools returned, and `check` throws where the task was not done.
import { EVERYTHING } from "./everything.js";
import { FILES } from "./files.js";
import { LARGE } from "./large.js";
import { MEMORY } from "./memory.js";

/**
 * @typedef {import("./scripted-model.js").Policy} Policy
 * @typedef {{ answer: string, world: import("./world.js").World }} Done
 * @typedef {{
 *   name: string,
 *   say: string,
 *   files?: Readonly<Record<string, string>>,
 *   memory?: readonly object[],
 *   direct: () => Policy,
 *   composite: () => Policy,
 *   check: (done: Done) => void,
 * }} Task
 */

/** @type {readonly Task[]} */
export const TASKS = [...EVERYTHING, ...FILES, ...MEMORY, ...LARGE];
