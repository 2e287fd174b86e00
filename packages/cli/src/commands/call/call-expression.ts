// A call in one word, as in a program: `docs.get_sum(a: 2, b: 3)`.
import { firstChars, TrunklineError } from "@trunkline/core";

interface WrittenCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

/** Deeper values are a mistake, and would exhaust the stack. */
const DEEPEST = 100;

/**
 * Parses `tool(name: value, …)`; undefined if the text has no parentheses. Values are JSON, and also strings in single
 * quotes, keys without quotes and commas at the end.
 */
export function readCall(text: string): WrittenCall | undefined {
  const open = text.indexOf("(");
  if (open > 0 && !text.includes(")")) {
    throw new TrunklineError("USAGE", `The call has no closing parenthesis: ${text}`, {
      hint: "Write it as in `docs.get_sum(a: 2, b: 3)`.",
    });
  }
  if (open <= 0 || !text.trimEnd().endsWith(")")) return undefined;
  const reader = new Reader(text, open + 1);
  const args = reader.members(")", 0);
  reader.end();
  return { tool: text.slice(0, open).trim(), args };
}

class Reader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  /** Reads `name: value` pairs up to the closing character. */
  members(close: ")" | "}", depth: number): Record<string, unknown> {
    const found = new Map<string, unknown>();
    while (!this.#takes(close)) {
      const start = this.#at;
      const key = this.#key();
      if (key === undefined || !this.#takes(":")) throw this.#fault("expected `name: value`", start);
      if (found.has(key)) throw this.#fault(`"${key}" is given twice`, start);
      found.set(key, this.#value(depth + 1));
      if (!this.#takes(",") && !this.#isAt(close)) throw this.#fault(`expected "," or "${close}"`);
    }
    // Unlike an assignment, this keeps a key such as `__proto__` as data.
    return Object.fromEntries(found);
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#fault("nothing may follow");
  }

  #value(depth: number): unknown {
    if (depth > DEEPEST) throw this.#fault("the value is nested too deeply");
    if (this.#takes("{")) return this.members("}", depth);
    if (this.#takes("[")) return this.#items(depth);
    const start = this.#at;
    const quoted = this.#string();
    if (quoted !== undefined) return quoted;
    const [word = ""] = this.#match(/[^\s,:(){}[\]"']+/y) ?? [];
    if (/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(word)) {
      const value: unknown = JSON.parse(word.toLowerCase());
      if (typeof value !== "number" || Number.isFinite(value)) return value;
    }
    throw this.#fault(word === "" ? "expected a value" : `"${word}" is not a value; quote text`, start);
  }

  #items(depth: number): unknown[] {
    const items: unknown[] = [];
    while (!this.#takes("]")) {
      items.push(this.#value(depth + 1));
      if (!this.#takes(",") && !this.#isAt("]")) throw this.#fault('expected "," or "]"');
    }
    return items;
  }

  #key(): string | undefined {
    return this.#string() ?? this.#match(/[\p{L}_$][\p{L}\p{N}_$-]*/uy)?.[0];
  }

  #string(): string | undefined {
    this.#space();
    const start = this.#at;
    const [whole] = this.#match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/sy) ?? [];
    if (whole === undefined) return undefined;
    const body = whole.slice(1, -1);
    // A JSON string, with line breaks as they are, and with single quotes around it.
    const json = body.replace(/\\.|["\n\r\t]/gs, (part) => {
      if (part === "\\'") return "'";
      return part.length === 1 ? JSON.stringify(part).slice(1, -1) : part;
    });
    try {
      return JSON.parse(`"${json}"`) as string; // a string literal
    } catch {
      throw this.#fault("the text is not a valid string", start);
    }
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    this.#space();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #takes(character: string): boolean {
    const isThere = this.#isAt(character);
    if (isThere) this.#at += 1;
    return isThere;
  }

  #isAt(character: string): boolean {
    this.#space();
    return this.#text[this.#at] === character;
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #fault(what: string, at = this.#at): TrunklineError {
    const rest = this.#text.slice(at).trim();
    const near = rest === "" ? "at the end" : `at "${firstChars(rest, 20)}"`;
    return new TrunklineError("USAGE", `The call cannot be read ${near}: ${what}.`, {
      hint: `For example: trunkline call 'docs.get_sum(a: 2, b: 3, note: "text")'`,
    });
  }
}
