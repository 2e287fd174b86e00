// How an able model uses tools that it has a list of.

/** @param {string} tool @param {Record<string, unknown>} [args] @returns {import("./scripted-model.js").Call} */
export function call(tool, args = {}) {
  return { tool, args };
}
