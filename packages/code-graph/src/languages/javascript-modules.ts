// Imports and exports in TypeScript and JavaScript.

import type { ImportedName } from "../model/graph-model.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { Node } from "../reading/parser.js";

/** Node types of functions without a declaration. */
export const FUNCTION_VALUES: ReadonlySet<string> = new Set([
  "arrow_function",
  "function_expression",
  "generator_function",
]);
/** Node types of the names in a destructuring pattern. */
export const PATTERN_NAMES: readonly string[] = ["identifier", "shorthand_property_identifier_pattern"];

const VALUE_WRAPPERS = new Set(["as_expression", "satisfies_expression", "parenthesized_expression"]);

/** Strips parentheses and type assertions. */
export function unwrap(value: Node | null): Node | null {
  let inner = value;
  while (inner !== null && VALUE_WRAPPERS.has(inner.type)) inner = inner.firstNamedChild;
  return inner;
}

/**
 * The node that names a value (variable, assignment or `export default`), or undefined if the value is nested in
 * another expression.
 */
export function holderOf(
  node: Node,
  reader: GraphReader,
):
  | { readonly node: Node; readonly type: "variable_declarator" | "assignment_expression" | "export_statement" }
  | undefined {
  const outer = reader.around();
  if (outer === undefined) return undefined;
  const { type } = outer;
  if (type !== "variable_declarator" && type !== "assignment_expression" && type !== "export_statement")
    return undefined;
  const held = unwrap(outer.node.childForFieldName(type === "assignment_expression" ? "right" : "value"));
  return held?.id === node.id ? { node: outer.node, type } : undefined;
}

/** Whether the declaration around the current declarator is exported. `level` is how many containers out it is. */
export function isExportedVariable(reader: GraphReader, level: number): boolean {
  return isDeclaration(reader.around(level)?.type) && reader.around(level + 1)?.type === "export_statement";
}

/** Whether a declarator is directly in the file or namespace, not in a nested block. */
export function isTopStatement(reader: GraphReader): boolean {
  let level = isDeclaration(reader.around()?.type) ? 1 : 0;
  if (reader.around(level)?.type === "export_statement") level++;
  const outer = reader.around(level);
  if (outer === undefined) return true;
  return outer.type === "statement_block" && isNamespace(reader.around(level + 1)?.type);
}

function isDeclaration(type: string | undefined): boolean {
  return type === "lexical_declaration" || type === "variable_declaration";
}

function isNamespace(type: string | undefined): boolean {
  return type === "internal_module" || type === "module";
}

/** Returns whether a declaration is exported, and records it if so. */
export function isExported(node: Node, reader: GraphReader): boolean {
  const outer = reader.around();
  if (outer?.type !== "export_statement") return false;
  if (reader.atTop) {
    const local = reader.field(node, "name") ?? "default";
    const before = reader.text.slice(outer.node.startIndex, node.startIndex);
    reader.exports.push({ name: /\bdefault\b/.test(before) ? "default" : local, local });
  }
  return true;
}

/** Visits a call; `import()` and `require()` are imports. */
export function visitCall(node: Node, reader: GraphReader): void {
  const callee = node.childForFieldName("function");
  if (callee === null) return;
  const type = callee.type;
  if (type === "import") {
    const specifier = stringArgument(node, reader);
    if (specifier !== undefined && !isBound(node, reader)) {
      reader.import({ specifier, kind: "dynamic", names: [], line: node.startPosition.row + 1 });
    }
    return;
  }
  if (type === "identifier" && reader.textOf(callee) === "require") {
    const specifier = stringArgument(node, reader);
    if (specifier !== undefined && !isBound(node, reader)) {
      reader.import({ specifier, kind: "require", names: [], line: node.startPosition.row + 1 });
    }
    if (specifier !== undefined) return;
  }
  // An immediately called function belongs to the code around it.
  if (FUNCTION_VALUES.has(type) || type === "parenthesized_expression") return;
  reader.call(reader.chain(callee), node);
}

/** Whether a declaration destructures the call's value and so handles the call. */
function isBound(node: Node, reader: GraphReader): boolean {
  const outer = reader.around();
  if (outer?.type !== "variable_declarator") return false;
  const value = unwrap(outer.node.childForFieldName("value"));
  return value?.id === node.id || (value?.type === "await_expression" && value.firstNamedChild?.id === node.id);
}

function stringArgument(node: Node, reader: GraphReader): string | undefined {
  const first = node.childForFieldName("arguments")?.firstNamedChild;
  if (first === null || first === undefined || first.type !== "string") return undefined;
  return unquote(reader.textOf(first));
}

function unquote(source: string): string {
  return source.slice(1, -1);
}

/** Handles `const { a, b: c } = require("./x")` and the same with `await import("./x")`. */
export function importedBy(name: Node, value: Node, reader: GraphReader): boolean {
  const awaited = value.type === "await_expression";
  const call = awaited ? value.firstNamedChild : value;
  if (call?.type !== "call_expression") return false;
  const callee = call.childForFieldName("function");
  if (callee === null) return false;
  const dynamic = callee.type === "import";
  if (!dynamic && reader.textOf(callee) !== "require") return false;
  const specifier = stringArgument(call, reader);
  if (specifier === undefined) return false;
  const names: ImportedName[] = [];
  if (dynamic && !awaited) reader.local(reader.textOf(name));
  else if (name.type === "identifier") names.push({ imported: "*", local: reader.textOf(name) });
  else if (name.type === "object_pattern") {
    for (const part of name.namedChildren) {
      if (part.type === "shorthand_property_identifier_pattern") {
        names.push({ imported: reader.textOf(part), local: reader.textOf(part) });
      } else if (part.type === "pair_pattern") {
        const local = part.childForFieldName("value");
        const imported = reader.field(part, "key");
        if (local?.type === "identifier" && imported !== undefined)
          names.push({ imported, local: reader.textOf(local) });
        else if (local !== null) reader.localsIn(local, PATTERN_NAMES);
      }
    }
  }
  reader.import({ specifier, kind: dynamic ? "dynamic" : "require", names, line: name.startPosition.row + 1 });
  return true;
}

export function visitImport(node: Node, reader: GraphReader): void {
  const source = node.childForFieldName("source");
  const names: ImportedName[] = [];
  let specifier = source === null ? undefined : unquote(reader.textOf(source));
  const line = node.startPosition.row + 1;
  for (const clause of node.namedChildren) {
    if (clause.type === "import_require_clause") {
      const local = clause.firstNamedChild;
      specifier = reader.field(clause, "source")?.slice(1, -1) ?? specifier;
      if (local !== null && specifier !== undefined) {
        reader.import({ specifier, kind: "require", names: [{ imported: "*", local: reader.textOf(local) }], line });
      }
      return;
    }
    if (clause.type !== "import_clause") continue;
    for (const part of clause.namedChildren) {
      if (part.type === "identifier") names.push({ imported: "default", local: reader.textOf(part) });
      else if (part.type === "namespace_import") {
        const local = part.firstNamedChild;
        if (local !== null) names.push({ imported: "*", local: reader.textOf(local) });
      } else if (part.type === "named_imports") {
        for (const item of part.namedChildren) {
          const imported = reader.field(item, "name")?.replace(/^["']|["']$/g, "");
          if (imported !== undefined) names.push({ imported, local: reader.field(item, "alias") ?? imported });
        }
      }
    }
  }
  if (specifier !== undefined) reader.import({ specifier, kind: "import", names, line });
}

/** Visits an export statement; its declaration is visited separately. */
export function visitExport(node: Node, reader: GraphReader): void {
  if (!reader.atTop) return;
  const source = node.childForFieldName("source");
  const line = node.startPosition.row + 1;
  const clause = node.namedChildren.find((child) => child.type === "export_clause");
  const pairs = (clause?.namedChildren ?? [])
    .filter((item) => item.type === "export_specifier")
    .map((item) => {
      const local = reader.field(item, "name")?.replace(/^["']|["']$/g, "") ?? "";
      return { local, name: reader.field(item, "alias")?.replace(/^["']|["']$/g, "") ?? local };
    });
  if (source !== null) {
    const specifier = unquote(reader.textOf(source));
    const space = node.namedChildren.find((child) => child.type === "namespace_export")?.firstNamedChild;
    const names: ImportedName[] =
      clause !== undefined
        ? pairs.map(({ local, name }) => ({ imported: local, local: name }))
        : [{ imported: "*", local: space === null || space === undefined ? "*" : reader.textOf(space) }];
    reader.import({ specifier, kind: "reexport", names, line });
    return;
  }
  for (const { local, name } of pairs) reader.exports.push({ name, local });
  const value = node.childForFieldName("value");
  if (value?.type === "identifier") reader.exports.push({ name: "default", local: reader.textOf(value) });
  else if (value === null && clause === undefined) {
    // `export = name`
    const only = node.namedChildren.length === 1 ? node.firstNamedChild : null;
    if (only?.type === "identifier") reader.exports.push({ name: "=", local: reader.textOf(only) });
  }
}

/** Handles CommonJS `module.exports = …` and `exports.name = …`, and methods assigned to a prototype. */
export function visitAssignment(node: Node, reader: GraphReader): void {
  const left = node.childForFieldName("left");
  const right = node.childForFieldName("right");
  if (left?.type !== "member_expression" || right === null) return;
  const chain = reader.chain(left);
  const isFunction = FUNCTION_VALUES.has(right.type);
  if (chain[0] === "module" && chain[1] === "exports" && chain.length === 2) {
    exportValue(right, reader);
    return;
  }
  const exported =
    chain[0] === "exports" && chain.length === 2
      ? chain[1]
      : chain[0] === "module" && chain[1] === "exports" && chain.length === 3
        ? chain[2]
        : undefined;
  if (exported !== undefined) {
    if (right.type === "identifier") reader.exports.push({ name: exported, local: reader.textOf(right) });
    else {
      reader.exports.push({ name: exported, local: exported });
      if (isFunction && reader.atTop) {
        reader.define({
          kind: "function",
          name: exported,
          node,
          exported: true,
          bodyStart: right.childForFieldName("body")?.startIndex ?? node.endIndex,
        });
      }
    }
    return;
  }
  if (isFunction && chain.length === 3 && chain[1] === "prototype" && reader.hasSymbol(chain[0] ?? "")) {
    reader.define({
      kind: "method",
      name: chain[2] ?? "",
      node,
      container: chain[0] ?? "",
      bodyStart: right.childForFieldName("body")?.startIndex ?? node.endIndex,
    });
  }
}

function exportValue(right: Node, reader: GraphReader): void {
  if (FUNCTION_VALUES.has(right.type)) {
    const name = reader.field(right, "name") ?? "default";
    reader.exports.push({ name: "=", local: name });
    if (reader.atTop) {
      const bodyStart = right.childForFieldName("body")?.startIndex ?? right.endIndex;
      reader.define({ kind: "function", name, node: right, exported: true, bodyStart, ownSelf: true });
    }
    return;
  }
  if (right.type === "class") {
    reader.exports.push({ name: "=", local: reader.field(right, "name") ?? "default" });
    return;
  }
  if (right.type === "identifier") reader.exports.push({ name: "=", local: reader.textOf(right) });
  if (right.type !== "object") return;
  for (const part of right.namedChildren) {
    if (part.type === "shorthand_property_identifier")
      reader.exports.push({ name: reader.textOf(part), local: reader.textOf(part) });
    else if (part.type === "pair") {
      const value = part.childForFieldName("value");
      const name = reader.field(part, "key");
      if (value?.type === "identifier" && name !== undefined)
        reader.exports.push({ name, local: reader.textOf(value) });
    }
  }
}
