/** Whether a value is a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a JSON object in which every value passes the check. */
export function isRecordOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is Record<string, T> {
  return isRecord(value) && Object.values(value).every(isItem);
}

/** Drops fields that are `undefined`. Options are spread over defaults with it, so that only given ones count. */
export function withoutUndefined<T extends object>(value: T | undefined): T {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, item]) => item !== undefined)) as T; // Drops absent keys only.
}

export function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** Serializes a value as JSON with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_, item: unknown) =>
      isRecord(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) : item,
    ) ?? "null"
  );
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
  /** The keys of the objects around; undefined for a list. */
  const around: (Keys | undefined)[] = [];
  let keys: Keys | undefined;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case CODE.openBrace:
        around.push(keys);
        keys = new Keys();
        break;
      case CODE.openBracket:
        around.push(keys);
        keys = undefined;
        break;
      case CODE.closeBrace:
      case CODE.closeBracket:
        keys = around.pop();
        break;
      case CODE.quote: {
        const start = at;
        at = endOfString(text, start);
        // Not JSON: the parser reports it.
        if (at === -1) return undefined;
        if (keys === undefined || !isFollowedByColon(text, at + 1)) break;
        const written = text.slice(start + 1, at);
        const key = written.includes("\\") ? parseJson(`"${written}"`) : written;
        if (typeof key !== "string") return undefined;
        if (!keys.add(key)) return key;
      }
    }
  }
  return undefined;
}

const CODE = {
  quote: 0x22,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  space: 0x20,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  tab: 0x09,
} as const;

/** With more keys than this, looking through a list would take longer than a set. */
const MAX_LISTED_KEYS = 16;

/** The keys of one object. Most objects have few, and a list is cheaper than a set then. */
class Keys {
  readonly #listed: string[] = [];
  #more: Set<string> | undefined;

  /** Returns false if the key is there already. */
  add(key: string): boolean {
    if (this.#listed.includes(key) || this.#more?.has(key) === true) return false;
    if (this.#listed.length < MAX_LISTED_KEYS) this.#listed.push(key);
    else {
      this.#more ??= new Set();
      this.#more.add(key);
    }
    return true;
  }
}

/** Returns where the string that begins at `start` ends; -1 if it does not. Not a regular expression: it can be long. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === CODE.backslash) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return -1;
}

function isFollowedByColon(text: string, from: number): boolean {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code === CODE.colon) return true;
    if (code !== CODE.space && code !== CODE.lineFeed && code !== CODE.carriageReturn && code !== CODE.tab)
      return false;
  }
}
