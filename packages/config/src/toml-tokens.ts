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
  /** As it is written, without quotes; empty for comments. */
  readonly value: string;
  /** Where the list starts that the value is an item of. */
  readonly list?: number;
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

/** A list or an inline table that is open. */
interface OpenValue {
  /** Where it starts, if it is a list. */
  readonly list: number | undefined;
  /** The keys that lead to its items. */
  readonly path: readonly string[];
}

/** Returns the values and comments of a valid TOML text, in order. */
export function tomlTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let header: readonly string[] = [];
  /** The keys that lead to the current value. */
  let path: readonly string[] = [];
  const open: OpenValue[] = [];
  let state: "key" | "header" | "value" = "key";
  let name = "";
  for (const { 0: lexeme, index } of text.matchAll(LEXEMES)) {
    const span = { start: index, end: index + lexeme.length };
    const outer = open.at(-1);
    const isInList = outer?.list !== undefined;
    if (lexeme.startsWith("#")) tokens.push({ ...span, kind: "comment", path: [], value: "" });
    else if (/^\r?\n$/.test(lexeme)) {
      if (outer !== undefined) continue;
      if (state === "header") header = tomlKeys(name) ?? [];
      [state, name] = ["key", ""];
    } else if (state === "header") name += lexeme === "[" || lexeme === "]" ? "" : lexeme;
    else if (state === "key" && name === "" && lexeme === "[") state = "header";
    else if (state === "key" && lexeme === "=")
      [state, path] = ["value", [...(outer?.path ?? header), ...(tomlKeys(name) ?? [])]];
    else if (lexeme === "]" || lexeme === "}") {
      open.pop();
      state = "value";
    } else if (state === "key") name += lexeme;
    else if (lexeme === "[" || lexeme === "{") {
      const isTable = lexeme === "{";
      // A list or a table inside a list is no longer a field.
      open.push({ list: isTable ? undefined : index, path: isInList ? [...outer.path, ""] : path });
      if (isTable) [state, name] = ["key", ""];
    } else if (lexeme === ",") {
      if (!isInList) [state, name] = ["key", ""];
    } else if (lexeme !== "=") {
      const quotes = /^(?:"""|'''|"|')/.exec(lexeme)?.[0] ?? "";
      tokens.push({
        ...span,
        kind: quotes === "" ? "other" : "text",
        path: isInList ? outer.path : path,
        list: outer?.list,
        value: lexeme.slice(quotes.length, lexeme.length - quotes.length),
      });
    }
  }
  return tokens;
}
