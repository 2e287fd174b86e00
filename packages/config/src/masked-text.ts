// The text of a configuration file for the screen, line by line as it is in the file. Shows the keys, and of the values
// only those of server entries, without their secrets: a file can have other secrets anywhere, even in comments. What an
// entry runs is shown in full, because the user approves it.
import { isSecretName, maskedSecret, redactedArgs, urlForApproval } from "@trunkline/core";
import { type Node, parseTree, visit as visitText } from "jsonc-parser";
import { type Token, tomlTokens } from "./toml-tokens.js";

/** Replaces everything that is not part of a server entry. */
const OMITTED = "…";

interface MaskOptions {
  readonly format: "json" | "toml";
  /** Where the tables of servers are. `*` stands for any key: `["projects", "*", "mcpServers"]`. */
  readonly tables: readonly (readonly string[])[];
}

/** The fields that say what runs. Zed has them below `command` too. */
const COMMAND_FIELDS: ReadonlySet<string> = new Set(["command", "path", "args", "cwd", "envFile"]);

/** Returns the text with as many lines as before. */
export function maskedText(text: string, { format, tables }: MaskOptions): string {
  const bare = text.replace(/^\uFEFF/, "");
  const tokens = format === "json" ? jsonTokens(bare) : tomlTokens(bare);
  const placed = tokens.map((token) => ({ token, place: placeOf(token.path, tables) }));
  const lists = argumentsOf(placed.filter(({ place }) => place === "field").map(({ token }) => token));
  let shown = "";
  let done = 0;
  for (const { token, place } of placed) {
    const original = bare.slice(token.start, token.end);
    const masked = shownToken(token, { place, original, inList: lists.get(token) });
    // A value or comment of several lines keeps its line breaks, so the others stay where they are.
    const breaks = masked === original ? "" : (original.match(/\r?\n/g) ?? []).join("");
    shown += bare.slice(done, token.start) + masked + breaks;
    done = token.end;
  }
  return shown + bare.slice(done);
}

/** Returns how many comments a configuration file has. */
export function countComments(text: string, format: MaskOptions["format"]): number {
  const bare = text.replace(/^\uFEFF/, "");
  const tokens = format === "json" ? jsonTokens(bare) : tomlTokens(bare);
  return tokens.filter(({ kind }) => kind === "comment").length;
}

/**
 * `command`: what a server runs. `field`: another field of its entry, or an item of its list. `nested`: below one, such as
 * a variable in `env`.
 */
type Place = "outside" | "command" | "field" | "nested";

function placeOf(path: readonly string[], tables: MaskOptions["tables"]): Place {
  const table = tables.find((keys) => keys.every((key, at) => key === "*" || path[at] === key));
  if (table === undefined || path.length < table.length + 2) return "outside";
  const [field = "", inner, ...deeper] = path.slice(table.length + 1);
  if (inner === undefined) return COMMAND_FIELDS.has(field) ? "command" : "field";
  return field === "command" && COMMAND_FIELDS.has(inner) && deeper.length === 0 ? "command" : "nested";
}

interface Shown {
  readonly place: Place;
  readonly original: string;
  /** The redacted value of an item of a list. */
  readonly inList: string | undefined;
}

function shownToken(token: Token, { place, original, inList }: Shown): string {
  if (token.kind === "comment")
    return original.startsWith("/*") ? "/* … */" : `${original.startsWith("#") ? "#" : "//"} …`;
  if (place === "outside") return /^(?:true|false|null)$/.test(original) ? original : JSON.stringify(OMITTED);
  if (place === "command") return original;
  const { value, path } = token;
  if (place === "nested") return JSON.stringify(maskedSecret(value));
  const name = path.at(-1) ?? "";
  const masked = isSecretName(name) ? maskedSecret(value) : (inList ?? shownField(name, value));
  return masked === value ? original : JSON.stringify(masked);
}

function shownField(name: string, value: string): string {
  const isUrl = /(?:url|uri|endpoint)$/i.test(name) || /^[a-z][a-z\d+.-]*:[\\/]{2}/i.test(value);
  return isUrl ? urlForApproval(value) : (redactedArgs([value])[0] ?? "");
}

/** Redacts the items of each list together: the word before one can say that it is a secret. */
function argumentsOf(tokens: readonly Token[]): ReadonlyMap<Token, string> {
  const lists = new Map<number, Token[]>();
  for (const token of tokens) {
    if (token.kind === "comment" || token.list === undefined) continue;
    const list = lists.get(token.list);
    if (list === undefined) lists.set(token.list, [token]);
    else list.push(token);
  }
  const shown = new Map<Token, string>();
  for (const items of lists.values()) {
    const redacted = redactedArgs(items.map(({ value }) => value));
    for (const [at, item] of items.entries()) shown.set(item, redacted[at] ?? maskedSecret(item.value));
  }
  return shown;
}

/** Returns the values and comments of a JSON text in order. */
function jsonTokens(text: string): Token[] {
  const tokens: Token[] = [];
  const visit = (node: Node, path: readonly string[], list?: number) => {
    if (node.type === "object") {
      for (const { children: [key, value] = [] } of node.children ?? [])
        if (key !== undefined && value !== undefined) visit(value, [...path, String(key.value)]);
    } else if (node.type === "array") {
      // A list inside a list is no longer a field.
      const inner = list === undefined ? path : [...path, ""];
      for (const item of node.children ?? []) visit(item, item.type === "object" ? [...inner, ""] : inner, node.offset);
    } else {
      const span = { start: node.offset, end: node.offset + node.length, path, list };
      tokens.push({ ...span, kind: node.type === "string" ? "text" : "other", value: String(node.value) });
    }
  };
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root !== undefined) visit(root, []);
  visitText(text, {
    onComment: (start, length) => tokens.push({ kind: "comment", start, end: start + length, path: [], value: "" }),
  });
  return tokens.sort((a, b) => a.start - b.start);
}
