// The tasks, in the order of the table. Each is done twice: `direct` with every tool of the servers in the model's
// list, `composite` with query and execute. Both do what a capable model would: independent calls in one turn, the best
// tool, and no unnecessary reading; with the composite surface it first has to find out what is available. Answers are
// built from the tools' results, and `check` throws if the task was not done.
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
