// Finds the values and comments in TOML text, with their place. The parser returns only the content.
import { isRecord } from "@trunkline/core";
import { parse, TomlError } from "smol-toml";

/** A value or a comment in a configuration file. */
export interface Token {
  /** `other`: a number, a date, true, false or null. */
  readonly kind: "text" | "other" | "comment";
  readonly start: number;
  readonly end: number;
  /** The keys that lead to the value. */
  readonly path: readonly string[];
  /** The text, without quotes; empty for other kinds. */
  readonly value: string;
  /** Where the list starts that the value is an item of. */
  readonly list?: number | undefined;
}

const LEXEMES =
  /#[^\r\n]*|"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[[\]{},=]|\r?\n|[^\s#"'[\]{},=]+/g;

/** Reads the keys of a dotted name such as `mcp_servers."my server".env`; undefined if it is not one. */
export function tomlKeys(dotted: string): string[] | undefined {
  try {
    let table: unknown = parse(`[${dotted}]`);
    const keys: string[] = [];
    while (isRecord(table)) {
      const [key] = Object.keys(table);
      if (key === undefined) break;
      keys.push(key);
      table = table[key];
    }
    return keys;
  } catch (error) {
    // A line of a list or a multi-line string that only looks like a header.
    if (error instanceof TomlError) return undefined;
    throw error;
  }
}

/** Returns the values and comments of a valid TOML text, in order. */
export function tomlTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let header: readonly string[] = [];
  let path: readonly string[] = [];
  /** The open brackets of the value: where each list starts, or undefined for an inline table. */
  let open: (number | undefined)[] = [];
  let state: "key" | "header" | "value" = "key";
  let name = "";
  for (const { 0: lexeme, index } of text.matchAll(LEXEMES)) {
    const span = { start: index, end: index + lexeme.length };
    if (lexeme.startsWith("#")) tokens.push({ ...span, kind: "comment", path: [], value: "" });
    else if (/^\r?\n$/.test(lexeme)) {
      if (state === "header") header = tomlKeys(name) ?? [];
      if (state === "value" && open.length > 0) continue;
      [state, name, open] = ["key", "", []];
    } else if (state === "key" && name === "" && lexeme === "[") state = "header";
    else if (state === "header") name += lexeme === "[" || lexeme === "]" ? "" : lexeme;
    else if (state === "key" && lexeme === "=") [state, path] = ["value", [...header, ...(tomlKeys(name) ?? [])]];
    else if (state === "key") name += lexeme;
    else if (lexeme === "[") open.push(index);
    else if (lexeme === "{") open.push(undefined);
    else if (lexeme === "]" || lexeme === "}") open.pop();
    else if (lexeme !== "," && lexeme !== "=" && !isKeyBefore(text, span.end)) {
      const nested = open.slice(0, -1).map(() => "");
      const inner = open.length > 0 && open.at(-1) === undefined ? [...path, ...nested, ""] : [...path, ...nested];
      const quotes = /^(?:"""|'''|"|')/.exec(lexeme)?.[0] ?? "";
      const value = lexeme.slice(quotes.length, lexeme.length - quotes.length);
      tokens.push({
        ...span,
        kind: quotes === "" ? "other" : "text",
        path: inner,
        list: open.at(-1),
        value: quotes === "" ? "" : value,
      });
    }
  }
  return tokens;
}

/** Whether a word in an inline table is a key: an equals sign follows, or a dot and another key. */
function isKeyBefore(text: string, end: number): boolean {
  return /^[ \t]*(?:=|\.)/.test(text.slice(end, end + 200));
}
