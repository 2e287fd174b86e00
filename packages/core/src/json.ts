/** Whether a value is a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Parses JSON in which no object repeats a key; undefined for anything else. For text whose reader decides what may
 * run: with `{"op": "add", "op": "restore"}`, different readers see different things.
 */
export function parseUniqueJson(text: string): unknown {
  return repeatedKey(text) === undefined ? parseJson(text) : undefined;
}

/** Returns the first key that an object in this JSON text repeats, however it is escaped. Takes linear time. */
export function repeatedKey(text: string): string | undefined {
  /** The keys of each open object; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") open.push(new Set());
    else if (character === "[") open.push(undefined);
    else if (character === "}" || character === "]") open.pop();
    else if (character === '"') {
      const start = at;
      at = endOfString(text, start);
      // Not JSON: the parser reports it.
      if (at === -1) return undefined;
      const keys = open.at(-1);
      if (keys === undefined || !isFollowedByColon(text, at + 1)) continue;
      const written = text.slice(start + 1, at);
      const key = written.includes("\\") ? parseJson(`"${written}"`) : written;
      if (typeof key !== "string") return undefined;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}

/** Returns where the string that begins at `start` ends; -1 if it does not. Not a regular expression: it can be long. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === "\\") before--;
    if ((end - before) % 2 === 0) return end;
  }
  return -1;
}

function isFollowedByColon(text: string, from: number): boolean {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  return text[at] === ":";
}
