// How deep a file may be nested. The parsers call themselves for each level, so a file of brackets would exhaust the
// stack; levels are counted before.
import { createScanner } from "jsonc-parser";

/** Configuration files have about six. */
export const MAX_LEVELS = 100;

export const TOO_DEEP = `it is nested more than ${MAX_LEVELS} levels deep`;

/** Whether the content of a file, whose parser does not call itself, is nested too deeply for the code that reads it. */
export function isTooDeep(content: unknown): boolean {
  let values = [content];
  for (let level = 0; level < MAX_LEVELS; level++)
    values = values.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  return values.some((value) => typeof value === "object" && value !== null);
}

/** Returns where the first list or object begins that is too deep in a JSON text; undefined if none is. */
export function tooDeepAt(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let level = 0;
  for (;;) {
    scanner.scan();
    const at = scanner.getTokenOffset();
    if (at >= text.length) return undefined;
    const token = text[at];
    if (token === "{" || token === "[") level++;
    else if (token === "}" || token === "]") level--;
    if (level > MAX_LEVELS) return at;
  }
}
