// Command-line options of the test servers. All servers accept the network options and add their own.

import { parseArgs } from "node:util";

const networkOptions = /** @type {const} */ ({
  http: { type: "boolean", default: false },
  sse: { type: "boolean", default: false },
  port: { type: "string", default: "0" },
  host: { type: "string", default: "127.0.0.1" },
  "ready-file": { type: "string" },
  "end-with-stdin": { type: "boolean", default: false },
  "legacy-only": { type: "boolean", default: false },
});

/**
 * @typedef {object} NetworkOptions
 * @property {boolean} http serve Streamable HTTP at /mcp
 * @property {boolean} sse serve HTTP+SSE at /sse and /messages
 * @property {string} port 0 lets the system choose
 * @property {string} host
 * @property {string | undefined} [ready-file] where to write the URL once the server listens
 * @property {boolean} legacy-only no support for 2026-07-28, like most servers today
 * @property {boolean} end-with-stdin also end a network server when stdin closes, so it never outlives its test
 */

/**
 * Reads process.argv; throws on an unknown option, which ends the server with a message on stderr.
 *
 * @template {NonNullable<import("node:util").ParseArgsConfig["options"]>} Own
 * @param {Own} own the server's own options, as parseArgs takes them
 * @returns {ReturnType<typeof parseArgs<{ options: typeof networkOptions & Own }>>["values"]}
 */
export function readOptions(own) {
  return parseArgs({ options: { ...networkOptions, ...own } }).values;
}

/**
 * @param {string} text
 * @param {string} option its name, for the message
 */
export function wholeNumber(text, option) {
  if (!/^\d+$/.test(text)) throw new Error(`${option} takes a whole number, not "${text}"`);
  return Number(text);
}
