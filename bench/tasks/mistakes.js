// A model that sometimes chooses wrong: the first time a task needs a tool, it picks the second-best one in one of ten
// cases, sees what comes back, and makes the right call in its next turn. The same tools are mistaken in the same tasks
// on every surface.
import { createHash } from "node:crypto";

/** @typedef {import("./scripted-model.js").Call} Call */
/** @typedef {import("./scripted-model.js").Policy} Policy */
/** @typedef {import("./composite.js").Step} Step */
/** @typedef {Record<string, any>} Args */

const RATE = 0.1;

/**
 * The tool that is taken for another, with the arguments a model would then send. Each mistake can be recovered from.
 * @typedef {Readonly<Record<string, (args: Args) => { tool: string, args: Args }>>} SecondBest
 */

/** @type {SecondBest} */
const USUAL = {
  "everything.get-sum": ({ a, b }) => ({ tool: "everything.echo", args: { message: `${a} + ${b}` } }),
  "everything.get-structured-content": () => annotated(false),
  "everything.get-tiny-image": () => annotated(true),
  "everything.get-annotated-message": ({ messageType }) => ({
    tool: "everything.echo",
    args: { message: `${messageType}` },
  }),
  "everything.get-resource-links": ({ count }) => ({
    tool: "everything.get-resource-reference",
    args: { resourceType: "Text", resourceId: count },
  }),
  "everything.get-resource-reference": () => ({ tool: "everything.get-resource-links", args: { count: 1 } }),
  "everything.trigger-long-running-operation": () => annotated(false),
  "everything.echo": () => annotated(false),
  "everything.get-env": () => annotated(false),
  "files.read_text_file": ({ path }) => ({ tool: "files.get_file_info", args: { path } }),
  "files.get_file_info": ({ path }) => ({ tool: "files.list_directory", args: { path: folderOf(path) } }),
  "files.read_media_file": ({ path }) => ({ tool: "files.get_file_info", args: { path } }),
  "files.read_multiple_files": ({ paths }) => ({ tool: "files.read_text_file", args: { path: paths[0] } }),
  "files.write_file": ({ path, content }) => ({
    tool: "files.edit_file",
    args: { path, edits: [{ oldText: "", newText: content }] },
  }),
  "files.edit_file": ({ path }) => ({ tool: "files.get_file_info", args: { path } }),
  "files.move_file": ({ source }) => ({ tool: "files.get_file_info", args: { path: source } }),
  "files.create_directory": ({ path }) => ({ tool: "files.list_directory", args: { path } }),
  "files.list_directory": ({ path }) => ({ tool: "files.list_directory_with_sizes", args: { path } }),
  "files.list_directory_with_sizes": ({ path }) => ({ tool: "files.list_directory", args: { path } }),
  "files.list_allowed_directories": () => ({ tool: "files.list_directory", args: { path: "." } }),
  "files.directory_tree": ({ path }) => ({ tool: "files.list_directory", args: { path } }),
  "files.search_files": ({ path }) => ({ tool: "files.list_directory", args: { path } }),
  "memory.create_entities": ({ entities }) => ({
    tool: "memory.add_observations",
    args: {
      observations: entities.map((/** @type {Args} */ { name, observations }) => ({
        entityName: name,
        contents: observations,
      })),
    },
  }),
  "memory.create_relations": ({ relations }) => opened(relations.map((/** @type {Args} */ { from }) => from)),
  "memory.add_observations": ({ observations }) => ({
    tool: "memory.create_entities",
    args: {
      entities: observations.map((/** @type {Args} */ { entityName, contents }) => ({
        name: entityName,
        entityType: "person",
        observations: contents,
      })),
    },
  }),
  "memory.delete_entities": ({ entityNames }) => opened(entityNames),
  "memory.delete_relations": ({ relations }) => opened(relations.map((/** @type {Args} */ { from }) => from)),
  "memory.delete_observations": ({ deletions }) =>
    opened(deletions.map((/** @type {Args} */ { entityName }) => entityName)),
  "memory.search_nodes": ({ query }) => opened([query]),
  "memory.open_nodes": ({ names }) => ({ tool: "memory.search_nodes", args: { query: names.join(" ") } }),
  "memory.read_graph": () => ({ tool: "memory.search_nodes", args: { query: "everything" } }),
};

/** @param {boolean} includeImage */
function annotated(includeImage) {
  return { tool: "everything.get-annotated-message", args: { messageType: "success", includeImage } };
}

/** @param {string[]} names */
function opened(names) {
  return { tool: "memory.open_nodes", args: { names } };
}

/** @param {string} path */
function folderOf(path) {
  return path.slice(0, Math.max(0, path.lastIndexOf("/"))) || ".";
}

/** Decides from the task and the tool, so that every surface has the same mistakes. @param {string} text */
function isMistaken(text) {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32 < RATE;
}

/**
 * Follows a policy with mistakes in between; `seed` and the task's name decide where. Counts them in `made`.
 * @param {Policy} policy
 * @param {{ seed: number, task: import("./tasks.js").Task, made: { count: number } }} options
 * @returns {Policy}
 */
export function* withMistakes(policy, { seed, task, made }) {
  const secondBest = { ...USUAL, ...task.secondBest };
  /** The tools chosen so far; each is chosen once. @type {Set<string>} */
  const chosen = new Set();
  let next = policy.next([]);
  while (next.done !== true) {
    const calls = next.value;
    /** @type {Set<string>} */
    const wrongNow = new Set(
      calls
        .flatMap(toolsOf)
        .filter((tool) => !chosen.has(tool) && secondBest[tool] !== undefined)
        .filter((tool) => isMistaken(`${seed} ${task.name} ${tool}`)),
    );
    for (const tool of calls.flatMap(toolsOf)) chosen.add(tool);
    made.count += wrongNow.size;
    const isWrong = calls.map((call) => toolsOf(call).some((tool) => wrongNow.has(tool)));
    const said = calls.map((call, index) => (isWrong[index] ? mistaken(call, wrongNow, secondBest) : call));
    const outcomes = [...(yield said)];
    const again = [...calls.entries()].filter(([index]) => isWrong[index]);
    if (again.length > 0) {
      const right = yield again.map(([, call]) => call);
      for (const [at, [index]] of again.entries()) outcomes[index] = /** @type {(typeof right)[0]} */ (right[at]);
    }
    next = policy.next(outcomes);
  }
  return next.value;
}

/** The steps of a call to `query` or `execute`, with their key. @param {Call} call */
function stepsOf({ args }) {
  const key = ["steps", "operations"].find((name) => Array.isArray(args[name])) ?? "";
  return { key, steps: /** @type {Step[]} */ (args[key] ?? []) };
}

/** The upstream tools in a call. @param {Call} call */
function toolsOf(call) {
  return [call.tool, ...stepsOf(call).steps.map(({ op }) => op)];
}

/**
 * Replaces tools in a call by their second best.
 * @param {Call} call
 * @param {ReadonlySet<string>} wrong
 * @param {SecondBest} secondBest
 * @returns {Call}
 */
function mistaken(call, wrong, secondBest) {
  if (wrong.has(call.tool)) return secondBest[call.tool]?.(call.args) ?? call;
  const { key, steps } = stepsOf(call);
  const changed = steps.map((step) => {
    const second = wrong.has(step.op) ? secondBest[step.op]?.(step.params ?? {}) : undefined;
    return second === undefined ? step : { ...step, op: second.tool, params: second.args };
  });
  return { tool: call.tool, args: { ...call.args, [key]: changed } };
}
