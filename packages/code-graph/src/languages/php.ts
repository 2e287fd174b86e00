import type { SymbolKind } from "../model/graph-model.js";
import type { Chain } from "../reading/chains.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";

const TYPES: Readonly<Record<string, SymbolKind>> = {
  class_declaration: "class",
  interface_declaration: "interface",
  trait_declaration: "trait",
  enum_declaration: "enum",
};

const NAME = "[\\p{L}_][\\p{L}\\p{N}_]*";

export const phpRules: LanguageRules = {
  plain: new RegExp(`^(?:\\\\|\\$)?${NAME}(?:(?:\\\\|\\??->|::\\$?)${NAME})*$`, "u"),
  separator: /\\|\??->|::\$?/,
  members: {
    member_access_expression: ["object", "name"],
    nullsafe_member_access_expression: ["object", "name"],
    scoped_property_access_expression: ["scope", "name"],
    class_constant_access_expression: ["scope", "name"],
  },
  calls: {
    function_call_expression: "function",
    member_call_expression: ["object", "name"],
    nullsafe_member_call_expression: ["object", "name"],
    scoped_call_expression: ["scope", "name"],
  },
  creations: { object_creation_expression: "" },
  wrappers: new Set(["parenthesized_expression"]),
  selfNames: new Set(["$this", "self", "static"]),
  superNames: new Set(["parent"]),
  bareMembers: false,
  nodeTypes: [
    "namespace_definition",
    "namespace_use_declaration",
    "require_expression",
    "require_once_expression",
    "include_expression",
    "include_once_expression",
    ...Object.keys(TYPES),
    "base_clause",
    "class_interface_clause",
    "use_declaration",
    "method_declaration",
    "function_definition",
    "anonymous_function",
    "arrow_function",
    "property_declaration",
    "const_declaration",
    "simple_parameter",
    "variadic_parameter",
    "property_promotion_parameter",
    "assignment_expression",
    "function_call_expression",
    "member_call_expression",
    "nullsafe_member_call_expression",
    "scoped_call_expression",
    "object_creation_expression",
  ],
  containers: new Set(),
  visit,
};

function isPublic(node: Node, reader: GraphReader): boolean {
  return !node.namedChildren.some((child) => child.type === "visibility_modifier" && reader.textOf(child) !== "public");
}

function visit(node: Node, type: string, reader: GraphReader): void {
  const kind = TYPES[type];
  if (kind !== undefined) {
    reader.define({ kind, name: reader.field(node, "name") ?? "", node, holdsMembers: true, exported: true });
    return;
  }
  switch (type) {
    case "function_call_expression": {
      const callee = node.childForFieldName("function");
      if (callee !== null && callee.type !== "parenthesized_expression") reader.call(reader.chain(callee), node);
      return;
    }
    case "member_call_expression":
    case "nullsafe_member_call_expression":
    case "scoped_call_expression": {
      const object = node.childForFieldName("object") ?? node.childForFieldName("scope");
      const name = node.childForFieldName("name");
      if (object !== null && name?.type === "name") reader.call([...reader.chain(object), reader.textOf(name)], node);
      return;
    }
    case "object_creation_expression": {
      const made = node.firstNamedChild;
      if (made?.type === "name" || made?.type === "qualified_name" || made?.type === "relative_scope")
        reader.call(reader.chain(made), node);
      return;
    }
    case "namespace_definition": {
      const name = reader.field(node, "name") ?? "";
      if (name !== "") reader.namespaces.add(name.replace(/\s+/g, ""));
      return;
    }
    case "namespace_use_declaration":
      visitUse(node, reader);
      return;
    case "require_expression":
    case "require_once_expression":
    case "include_expression":
    case "include_once_expression":
      visitInclude(node, reader);
      return;
    case "base_clause":
    case "class_interface_clause":
      for (const base of node.namedChildren) {
        reader.relate(type === "base_clause" ? "INHERITS" : "IMPLEMENTS", reader.chain(base), base);
      }
      return;
    case "use_declaration":
      for (const used of node.namedChildren) {
        if (used.type === "name" || used.type === "qualified_name") reader.relate("INHERITS", reader.chain(used), used);
      }
      return;
    case "method_declaration":
    case "function_definition": {
      const member = type === "method_declaration";
      if (member && !reader.frame.holdsMembers) {
        reader.scope(node);
        return;
      }
      const defined = reader.define({
        kind: member ? "method" : "function",
        name: reader.field(node, "name") ?? "",
        node,
        type: reader.typeOf(node, "return_type"),
        exported: isPublic(node, reader),
      });
      if (defined === undefined) reader.scope(node);
      return;
    }
    case "anonymous_function":
    case "arrow_function":
      reader.scope(node);
      return;
    case "property_declaration": {
      if (!reader.frame.holdsMembers) return;
      for (const element of node.namedChildren) {
        if (element.type !== "property_element") continue;
        const name = element.childForFieldName("name") ?? element.firstNamedChild;
        if (name !== null) defineProperty(node, reader.textOf(name).slice(1), reader);
      }
      return;
    }
    case "const_declaration":
      for (const element of node.namedChildren) {
        const name = element.type === "const_element" ? element.firstNamedChild : null;
        if (name === null || (!reader.atTop && !reader.frame.holdsMembers)) continue;
        reader.define({
          kind: reader.atTop ? "variable" : "property",
          name: reader.textOf(name),
          node,
          leaf: true,
          exported: isPublic(node, reader),
        });
      }
      return;
    case "simple_parameter":
    case "variadic_parameter":
    case "property_promotion_parameter":
      visitParameter(node, type, reader);
      return;
    case "assignment_expression": {
      const left = node.childForFieldName("left");
      const right = node.childForFieldName("right");
      if (left?.type !== "variable_name" || right === null) return;
      const chain: Chain = reader.chain(right);
      const known = right.type.endsWith("_function") || chain[0] === "" ? undefined : chain;
      reader.local(reader.textOf(left), known);
      return;
    }
  }
}

function defineProperty(node: Node, name: string, reader: GraphReader): void {
  const value = node.childForFieldName("default_value");
  reader.define({
    kind: "property",
    name,
    node,
    bodyStart: value?.startIndex ?? node.endIndex,
    type: reader.typeOf(node, "type"),
    exported: isPublic(node, reader),
    leaf: true,
    merge: true,
  });
}

function visitParameter(node: Node, type: string, reader: GraphReader): void {
  const name = reader.field(node, "name");
  if (name === undefined || reader.frame.holdsMembers) return;
  const outer = reader.frame.parent;
  if (type === "property_promotion_parameter" && outer?.holdsMembers === true) {
    const inner = reader.frame;
    reader.frame = outer;
    defineProperty(node, name.replace(/^&?\$/, ""), reader);
    reader.frame = inner;
  }
  reader.local(name, reader.typeOf(node, "type"));
}

function visitUse(node: Node, reader: GraphReader): void {
  const line = node.startPosition.row + 1;
  const group = node.childForFieldName("body");
  const space = group === null ? undefined : node.namedChildren.find((child) => child.type === "namespace_name");
  const prefix = space === undefined ? "" : reader.textOf(space);
  for (const clause of (group ?? node).namedChildren) {
    if (clause.type !== "namespace_use_clause") continue;
    const named = clause.namedChildren.find((child) => child.type === "qualified_name" || child.type === "name");
    if (named === undefined) continue;
    const path = `${prefix === "" ? "" : `${prefix}\\`}${reader.textOf(named)}`.replace(/^\\/, "").replace(/\s+/g, "");
    const local = reader.field(clause, "alias") ?? path.slice(path.lastIndexOf("\\") + 1);
    reader.import({ specifier: path, kind: "use", names: [{ imported: "*", local }], line });
  }
}

function visitInclude(node: Node, reader: GraphReader): void {
  const source = reader.textOf(node);
  const literal = /(["'])([^"'$]+)\1\s*\)?\s*$/.exec(source)?.[2];
  if (literal === undefined) return;
  const fromHere = source.includes("__DIR__") || source.includes("dirname(__FILE__)");
  const up = source.includes("dirname(__DIR__)");
  const specifier = up
    ? `..${literal.startsWith("/") ? "" : "/"}${literal}`
    : fromHere
      ? literal.replace(/^\//, "")
      : literal;
  reader.import({ specifier, kind: "include", names: [], line: node.startPosition.row + 1, relative: true });
}
