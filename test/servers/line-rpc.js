// Newline-delimited JSON-RPC over stdin and stdout, without an SDK.

import { createInterface } from "node:readline";
import { exitOnSignals } from "./lifetime.js";

/**
 * Reads messages until stdin closes, one at a time, then ends the process. Skips lines that are not JSON.
 *
 * @param {(message: unknown) => Promise<void> | void} onMessage
 */
export async function readLines(onMessage) {
  exitOnSignals();
  for await (const line of createInterface({ input: process.stdin })) {
    const message = parse(line);
    if (message !== undefined) await onMessage(message);
  }
  process.exit(0);
}

/** @param {unknown} message */
export function writeLine(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/**
 * @param {string} line
 * @returns {unknown}
 */
function parse(line) {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
