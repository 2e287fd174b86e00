// Changes one property in JSON text and leaves every other character alone. jsonc-parser's own edits lose or move
// comments between properties, and configuration files are full of those.
import { createScanner, findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

/** Sets a value at the path, creating missing objects on the way. */
export function setJson(text: string, path: readonly string[], value: unknown): string {
  const root = rootOf(text);
  if (root === undefined) return `${stringify(nest(path, value), styleOf(text))}\n`;
  for (let depth = path.length; depth > 0; depth--) {
    const node = findNodeAtLocation(root, path.slice(0, depth));
    if (node === undefined) continue;
    if (depth === path.length) return replaceValue(text, node, value);
    return insertProperty(text, node, path[depth] ?? "", nest(path.slice(depth + 1), value));
  }
  return insertProperty(text, root, path[0] ?? "", nest(path.slice(1), value));
}

/** Removes the property at the path. A comment on its own line above the property stays. */
export function removeJson(text: string, path: readonly string[]): string {
  const root = rootOf(text);
  const property = root === undefined ? undefined : findNodeAtLocation(root, [...path])?.parent;
  if (property?.parent === undefined) return text;
  const siblings = property.parent.children ?? [];
  const index = siblings.indexOf(property);
  const end = endOf(property);
  const comma = commaAfter(text, end);
  const previous = siblings[index - 1];
  const isLast = index === siblings.length - 1;

  const lineStart = startOfLine(text, property.offset);
  const ownsLineStart = text.slice(lineStart, property.offset).trim() === "";
  const until = endOfLineComment(text, comma ?? end);
  const ownsLineEnd = /^[^\S\n]*(\r?\n|$)/.test(text.slice(until));
  let result: string;
  if (ownsLineStart && ownsLineEnd) {
    // A whole line, including its line break.
    const nextLine = until + (/^[^\S\n]*(?:\r?\n)?/.exec(text.slice(until))?.[0].length ?? 0);
    result = text.slice(0, lineStart) + text.slice(nextLine);
  } else {
    const from = comma ?? end;
    const spaces = isLast ? 0 : (/^\s*/.exec(text.slice(from))?.[0].length ?? 0);
    const head = text.slice(0, property.offset);
    result = (isLast && previous !== undefined ? head.replace(/[ \t]+$/, "") : head) + text.slice(from + spaces);
  }
  // The removed property was the last one and had no trailing comma, so the one before it must not have one either.
  if (isLast && comma === undefined && previous !== undefined) {
    const dangling = commaAfter(text, endOf(previous));
    if (dangling !== undefined) result = result.slice(0, dangling - 1) + result.slice(dangling);
  }
  return result;
}

function rootOf(text: string): Node | undefined {
  return parseTree(text, [], { allowTrailingComma: true });
}

function replaceValue(text: string, node: Node, value: unknown): string {
  const written = stringify(value, styleOf(text), indentAt(text, node.offset));
  return text.slice(0, node.offset) + written + text.slice(endOf(node));
}

function insertProperty(text: string, object: Node, name: string, value: unknown): string {
  const style = styleOf(text);
  const close = endOf(object) - 1;
  const last = object.children?.at(-1);
  const outer = indentAt(text, object.offset);
  const inner = last === undefined ? outer + style.indent : indentOf(text, last, outer + style.indent);
  const written = indentedBy(`${JSON.stringify(name)}: ${stringify(value, style)}`, inner, style.eol);
  if (last === undefined && text.slice(object.offset + 1, close).trim() === "") {
    return `${text.slice(0, object.offset + 1)}${style.eol}${inner}${written}${style.eol}${outer}${text.slice(close)}`;
  }
  const comma = last === undefined ? undefined : commaAfter(text, endOf(last));
  const trailing = comma === undefined ? "" : ",";
  // Insert after the last comment, so every comment stays with its property.
  const before = text.slice(0, close).trimEnd();
  const closing = text.slice(before.length, close).includes("\n")
    ? text.slice(before.length)
    : `${style.eol}${outer}${text.slice(close)}`;
  const head =
    last === undefined || comma !== undefined ? before : `${before.slice(0, endOf(last))},${before.slice(endOf(last))}`;
  return `${head}${style.eol}${inner}${written}${trailing}${closing}`;
}

/** Returns the offset after the next comma, skipping comments; undefined if there is none. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getPosition() : undefined;
}

/** Returns the offset after a comment on the same line, or the offset itself if there is none. */
function endOfLineComment(text: string, offset: number): number {
  const found = /^[^\S\n]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\n])*\*\/(?=[^\S\n]*(?:\r?\n|$)))/.exec(text.slice(offset));
  return offset + (found?.[0].length ?? 0);
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Returns the leading white space of the line at this offset. */
function indentAt(text: string, offset: number): string {
  return /^[^\S\n]*/.exec(text.slice(startOfLine(text, offset)))?.[0] ?? "";
}

/** Returns the indent of a property that starts its own line. */
function indentOf(text: string, property: Node, fallback: string): string {
  const before = text.slice(startOfLine(text, property.offset), property.offset);
  return before.trim() === "" ? before : fallback;
}

interface Style {
  indent: string;
  eol: string;
}

/** Detects the file's indent and line endings. */
function styleOf(text: string): Style {
  const indent = /^\{?[^\S\n]*\r?\n([ \t]+)\S/m.exec(text)?.[1] ?? /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  return { indent, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

function stringify(value: unknown, style: Style, base = ""): string {
  return indentedBy(JSON.stringify(value, null, style.indent) ?? "null", base, style.eol);
}

function indentedBy(text: string, indent: string, eol: string): string {
  return text.split(/\r?\n/).join(eol + indent);
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}
