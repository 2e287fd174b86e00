// The shape of a labelled change, and helpers to write one down in a few lines.

/**
 * `before` is the pinned definition, or null for a new tool of a known server. `others` are tools of other servers.
 * @typedef {Record<string, unknown>} Definition
 * @typedef {{ id: string, label: "benign" | "hostile", about: string, before: Definition | null, after: Definition,
 * server?: string, others?: { server: string, tool: string, gone?: boolean }[] }} LabelledChange
 */

/**
 * A tool with text parameters.
 *
 * @param {string} name
 * @param {string} description
 * @param {Record<string, string>} [params] descriptions by name
 * @param {Record<string, unknown>} [more] other fields, such as annotations
 * @returns {Definition}
 */
export function tool(name, description, params = {}, more = {}) {
  const properties = Object.fromEntries(
    Object.entries(params).map(([key, about]) => [key, { type: "string", description: about }]),
  );
  return { name, description, inputSchema: { type: "object", properties }, ...more };
}

/**
 * The same tool with another description.
 *
 * @param {Definition} before
 * @param {string} description
 * @param {Record<string, unknown>} [more]
 * @returns {Definition}
 */
export function reworded(before, description, more = {}) {
  return { ...before, description, ...more };
}

/** Writes ASCII with the invisible tag characters of Unicode. @param {string} text */
export function inTags(text) {
  return [...text].map((char) => String.fromCodePoint(0xe0000 + (char.codePointAt(0) ?? 0))).join("");
}

/** Writes bytes with variation selectors, which show nothing. @param {string} text */
export function inSelectors(text) {
  return [...Buffer.from(text)]
    .map((byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16))
    .join("");
}

/** @param {string} text */
export function inBase64(text) {
  return Buffer.from(text).toString("base64");
}
