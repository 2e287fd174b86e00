// The tasks, in the order of the table. Each is done on every surface: `direct` with every tool of the servers in the
// model's list, `composite` with query and execute, after finding what it `needs`. All do what a capable model would:
// independent calls in one turn, the best tool, and no unnecessary reading. Answers are built from the tools' results,
// and `check` throws if the task was not done.
import { EVERYTHING } from "./everything.js";
import { FILES } from "./files.js";
import { LARGE } from "./large.js";
import { MEMORY } from "./memory.js";
import { SECOND } from "./second-set.js";

/**
 * @typedef {import("./scripted-model.js").Policy} Policy
 * @typedef {{ answer: string, world: import("./world.js").World }} Done
 * @typedef {{
 *   name: string,
 *   say: string,
 *   files?: Readonly<Record<string, string | Uint8Array>>,
 *   memory?: readonly object[],
 *   direct: () => Policy,
 *   needs: Readonly<Record<string, string | readonly string[]>>,
 *   composite: () => Policy,
 *   isPipeline?: true,
 *   auto?: () => Policy,
 *   secondBest?: import("./mistakes.js").SecondBest,
 *   check: (done: Done) => void,
 * }} Task
 * `needs` has the tools by the words a model would search for. If some of them are in the model's list next to `query`
 * and `execute`, it follows `auto`, which defaults to `direct`, and calls the others with `query` or `execute`. It
 * follows `composite` for an `isPipeline` task: a pipeline takes fewer turns than the same tools one by one, or keeps a
 * large result out of the context.
 */

/** @typedef {{ name: string, tasks: readonly Task[] }} TaskSet */

/** @type {readonly TaskSet[]} */
export const SETS = [
  { name: "first set", tasks: [...EVERYTHING, ...FILES, ...MEMORY, ...LARGE] },
  { name: "second set", tasks: SECOND },
];
