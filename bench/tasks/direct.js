// How a capable model uses tools from a list.

/** @param {string} tool @param {Record<string, unknown>} [args] @returns {import("./scripted-model.js").Call} */
export function call(tool, args = {}) {
  return { tool, args };
}
