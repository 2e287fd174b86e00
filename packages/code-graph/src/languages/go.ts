import type { Chain } from "../reading/chains.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";

export const goRules: LanguageRules = {
  plain: /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*$/u,
  separator: /\./,
  members: { selector_expression: ["operand", "field"] },
  calls: { call_expression: "function" },
  creations: { composite_literal: "type" },
  wrappers: new Set([
    "parenthesized_expression",
    "unary_expression",
    "type_instantiation_expression",
    "expression_list",
  ]),
  selfNames: new Set(),
  superNames: new Set(),
  bareMembers: false,
  nodeTypes: [
    "package_clause",
    "import_spec",
    "function_declaration",
    "method_declaration",
    "func_literal",
    "type_spec",
    "type_alias",
    "const_spec",
    "var_spec",
    "field_declaration",
    "method_elem",
    "type_elem",
    "parameter_declaration",
    "variadic_parameter_declaration",
    "short_var_declaration",
    "range_clause",
    "call_expression",
  ],
  containers: new Set(),
  visit,
};

function isExported(name: string): boolean {
  return /^\p{Lu}/u.test(name);
}

function visit(node: Node, type: string, reader: GraphReader): void {
  switch (type) {
    case "call_expression": {
      const callee = node.childForFieldName("function");
      if (callee !== null && callee.type !== "func_literal") reader.call(reader.chain(callee), node);
      return;
    }
    case "package_clause": {
      const name = node.firstNamedChild;
      if (name !== null) reader.namespaces.add(reader.textOf(name));
      return;
    }
    case "import_spec": {
      const specifier = reader.field(node, "path")?.slice(1, -1) ?? "";
      const alias = reader.field(node, "name");
      // Without an alias, the name is the package's own, nearly always the last part of its path.
      const local = alias ?? packageName(specifier);
      const names = local === "_" ? [] : [{ imported: "*", local: local === "." ? "*" : local }];
      reader.import({ specifier, kind: "import", names, line: node.startPosition.row + 1 });
      return;
    }
    case "function_declaration": {
      const name = reader.field(node, "name") ?? "";
      const defined = reader.define({
        kind: "function",
        name,
        node,
        type: resultType(node, reader),
        exported: isExported(name),
      });
      if (defined === undefined) reader.scope(node);
      return;
    }
    case "method_declaration":
      visitMethod(node, reader);
      return;
    case "func_literal":
      reader.scope(node);
      return;
    case "type_spec":
    case "type_alias":
      visitType(node, reader);
      return;
    case "const_spec":
    case "var_spec":
      visitVariable(node, reader);
      return;
    case "field_declaration":
      visitField(node, reader);
      return;
    case "method_elem": {
      if (!reader.frame.holdsMembers) return;
      const name = reader.field(node, "name") ?? "";
      reader.define({
        kind: "method",
        name,
        node,
        type: resultType(node, reader),
        exported: isExported(name),
        leaf: true,
      });
      return;
    }
    case "type_elem": {
      // An embedded interface, but not a constraint such as `~int | ~string`.
      const only = node.namedChildCount === 1 ? node.firstNamedChild : null;
      if (!reader.frame.holdsMembers || only === null) return;
      const chain = reader.typeFrom(reader.textOf(only));
      if (chain !== undefined) reader.relate("INHERITS", chain, node);
      return;
    }
    case "parameter_declaration":
    case "variadic_parameter_declaration": {
      const isReceiverOrOwn = !reader.frame.holdsMembers;
      if (!isReceiverOrOwn) return;
      const chain = type === "parameter_declaration" ? reader.typeOf(node, "type") : undefined;
      for (const name of node.childrenForFieldName("name")) reader.local(reader.textOf(name), chain);
      return;
    }
    case "short_var_declaration":
      visitShortVariable(node, reader);
      return;
    case "range_clause": {
      const left = node.childForFieldName("left");
      if (left !== null) reader.localsIn(left, ["identifier"]);
      return;
    }
  }
}

function packageName(specifier: string): string {
  const parts = specifier.split("/");
  const last = parts.pop() ?? "";
  const name = /^v\d+$/.test(last) ? (parts.pop() ?? last) : last;
  return name.replace(/^go-|[-.]go$|\.v\d+$/g, "").replace(/-/g, "_");
}

/** Returns the type of the first result, on which methods are called; the second is often an error. */
function resultType(node: Node, reader: GraphReader): Chain | undefined {
  const result = node.childForFieldName("result");
  if (result === null) return undefined;
  const first = result.type === "parameter_list" ? result.firstNamedChild?.childForFieldName("type") : result;
  return first === null || first === undefined ? undefined : reader.typeFrom(reader.textOf(first));
}

function visitMethod(node: Node, reader: GraphReader): void {
  const receiver = node.childForFieldName("receiver")?.firstNamedChild;
  const name = reader.field(node, "name") ?? "";
  const owner = receiver === null || receiver === undefined ? undefined : reader.typeOf(receiver, "type");
  const container = owner?.length === 1 ? owner[0] : undefined;
  const defined = reader.define({
    kind: "method",
    name,
    node,
    type: resultType(node, reader),
    exported: isExported(name),
    ...(container === undefined ? {} : { container }),
  });
  if (defined === undefined) reader.scope(node);
}

function visitType(node: Node, reader: GraphReader): void {
  const name = reader.field(node, "name") ?? "";
  const value = node.childForFieldName("type");
  const kind = value?.type === "struct_type" ? "struct" : value?.type === "interface_type" ? "interface" : "type";
  if (!reader.atTop) {
    reader.local(name);
    return;
  }
  reader.define({
    kind,
    name,
    node,
    exported: isExported(name),
    bodyStart:
      value === null ? node.endIndex : kind === "type" ? node.endIndex : value.startIndex + value.type.indexOf("_"),
    holdsMembers: kind !== "type",
    leaf: kind === "type",
    type: kind === "type" && value !== null ? reader.typeFrom(reader.textOf(value)) : undefined,
  });
}

function visitVariable(node: Node, reader: GraphReader): void {
  const value = node.childForFieldName("value");
  const names = node.childrenForFieldName("name").filter((name) => name.isNamed);
  const known =
    reader.typeOf(node, "type") ?? (names.length === 1 && value !== null ? valueChain(value, reader) : undefined);
  for (const name of names) {
    const text = reader.textOf(name);
    if (text === "_") continue;
    if (reader.atTop) {
      reader.define({
        kind: "variable",
        name: text,
        node,
        bodyStart: value?.startIndex ?? node.endIndex,
        exported: isExported(text),
        type: known,
        leaf: true,
      });
    } else reader.local(text, known);
  }
}

function valueChain(value: Node, reader: GraphReader): Chain | undefined {
  const first = value.type === "expression_list" ? value.firstNamedChild : value;
  if (first === null) return undefined;
  // `&Server{}` has the type as written; other operators change the type.
  if (first.type === "unary_expression" && !reader.textOf(first).startsWith("&")) return undefined;
  const chain = reader.chain(first);
  return chain[0] === "" ? undefined : chain;
}

function visitField(node: Node, reader: GraphReader): void {
  if (!reader.frame.holdsMembers) return;
  const names = node.childrenForFieldName("name");
  const type = reader.typeOf(node, "type");
  if (names.length === 0) {
    // An embedded type: its methods are promoted.
    const last = type?.[type.length - 1];
    if (type === undefined || last === undefined) return;
    reader.relate("INHERITS", type, node);
    reader.define({ kind: "property", name: last, node, type, exported: isExported(last), leaf: true });
    return;
  }
  for (const name of names) {
    const text = reader.textOf(name);
    if (text !== "_")
      reader.define({ kind: "property", name: text, node, type, exported: isExported(text), leaf: true });
  }
}

function visitShortVariable(node: Node, reader: GraphReader): void {
  const left = node.childForFieldName("left");
  const right = node.childForFieldName("right");
  if (left === null) return;
  left.namedChildren.forEach((name, index) => {
    if (name.type !== "identifier") return;
    const text = reader.textOf(name);
    if (text !== "_") reader.local(text, index === 0 && right !== null ? valueChain(right, reader) : undefined);
  });
}
