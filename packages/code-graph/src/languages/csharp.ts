import type { SymbolKind } from "../model/graph-model.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";

const TYPES: Readonly<Record<string, SymbolKind>> = {
  class_declaration: "class",
  record_declaration: "class",
  struct_declaration: "struct",
  interface_declaration: "interface",
  enum_declaration: "enum",
};

export const csharpRules: LanguageRules = {
  plain: /^@?[\p{L}_][\p{L}\p{N}_]*(?:\??\.@?[\p{L}_][\p{L}\p{N}_]*)*$/u,
  separator: /\??\./,
  members: { member_access_expression: ["expression", "name"], conditional_access_expression: ["condition", "name"] },
  calls: { invocation_expression: "function" },
  creations: { object_creation_expression: "type" },
  wrappers: new Set(["parenthesized_expression", "await_expression", "postfix_unary_expression"]),
  selfNames: new Set(["this"]),
  superNames: new Set(["base"]),
  bareMembers: true,
  nodeTypes: [
    "using_directive",
    "namespace_declaration",
    "file_scoped_namespace_declaration",
    ...Object.keys(TYPES),
    "delegate_declaration",
    "base_list",
    "method_declaration",
    "constructor_declaration",
    "destructor_declaration",
    "operator_declaration",
    "local_function_statement",
    "property_declaration",
    "indexer_declaration",
    "field_declaration",
    "event_field_declaration",
    "local_declaration_statement",
    "lambda_expression",
    "anonymous_method_expression",
    "parameter",
    "foreach_statement",
    "catch_declaration",
    "invocation_expression",
    "object_creation_expression",
    "constructor_initializer",
  ],
  containers: new Set([...Object.keys(TYPES), "delegate_declaration"]),
  visit,
};

function isPublic(node: Node, reader: GraphReader): boolean {
  return node.namedChildren.some((child) => child.type === "modifier" && reader.textOf(child) === "public");
}

function visit(node: Node, type: string, reader: GraphReader): void {
  const kind = TYPES[type];
  if (kind !== undefined) {
    const name = reader.field(node, "name") ?? "";
    reader.define({
      kind,
      name,
      node,
      holdsMembers: true,
      exported: isPublic(node, reader),
      merge: isPartial(node, reader),
    });
    return;
  }
  switch (type) {
    case "invocation_expression": {
      const callee = node.childForFieldName("function");
      if (callee !== null) reader.call(reader.chain(ungeneric(callee)), node);
      return;
    }
    case "object_creation_expression": {
      const chain = reader.typeOf(node, "type");
      if (chain !== undefined) reader.call(chain, node);
      return;
    }
    case "constructor_initializer":
      if (/^:?\s*base\b/.test(reader.textOf(node))) reader.call(["base"], node);
      return;
    case "using_directive":
      visitUsing(node, reader);
      return;
    case "namespace_declaration":
    case "file_scoped_namespace_declaration": {
      const name = (reader.field(node, "name") ?? "").replace(/\s+/g, "");
      const outer = reader.frame.symbol;
      reader.namespaces.add(outer === "" ? name : `${outer}.${name}`);
      reader.define({
        kind: "module",
        name,
        node,
        holdsMembers: true,
        merge: true,
        exported: true,
        toEnd: type.startsWith("file"),
      });
      return;
    }
    case "delegate_declaration":
      reader.define({
        kind: "type",
        name: reader.field(node, "name") ?? "",
        node,
        leaf: true,
        exported: isPublic(node, reader),
      });
      return;
    case "base_list":
      visitBases(node, reader);
      return;
    case "method_declaration":
    case "constructor_declaration":
    case "destructor_declaration":
    case "operator_declaration":
    case "local_function_statement": {
      const name =
        type === "operator_declaration"
          ? `operator${reader.field(node, "operator") ?? ""}`
          : (reader.field(node, "name") ?? "");
      const defined = reader.define({
        kind: type === "local_function_statement" ? "function" : "method",
        name: type === "destructor_declaration" ? `~${name}` : name,
        node,
        type: reader.typeOf(node, "returns") ?? reader.typeOf(node, "type"),
        exported: isPublic(node, reader),
      });
      if (defined === undefined) reader.scope(node);
      return;
    }
    case "property_declaration":
      if (!reader.frame.holdsMembers) return;
      reader.define({
        kind: "property",
        name: reader.field(node, "name") ?? "",
        node,
        bodyStart:
          (node.childForFieldName("accessors") ?? node.childForFieldName("value"))?.startIndex ?? node.endIndex,
        type: reader.typeOf(node, "type"),
        exported: isPublic(node, reader),
      });
      return;
    case "indexer_declaration":
      reader.scope(node);
      return;
    case "field_declaration":
    case "event_field_declaration":
    case "local_declaration_statement":
      visitVariables(node, type, reader);
      return;
    case "lambda_expression":
    case "anonymous_method_expression": {
      reader.scope(node);
      const parameters = node.childForFieldName("parameters");
      if (parameters?.type === "implicit_parameter") reader.local(reader.textOf(parameters));
      return;
    }
    case "parameter":
    case "catch_declaration": {
      const name = reader.field(node, "name");
      if (name === undefined) return;
      // A record's parameters are its properties.
      if (reader.around()?.type === "record_declaration" && reader.frame.holdsMembers) {
        reader.define({ kind: "property", name, node, type: reader.typeOf(node, "type"), exported: true, leaf: true });
      } else if (!reader.frame.holdsMembers) reader.local(name, reader.typeOf(node, "type"));
      return;
    }
    case "foreach_statement": {
      const name = reader.field(node, "left");
      if (name !== undefined) reader.local(name, certainType(reader.typeOf(node, "type")));
      return;
    }
  }
}

function certainType(chain: readonly string[] | undefined): readonly string[] | undefined {
  return chain?.[0] === "var" ? undefined : chain;
}

function isPartial(node: Node, reader: GraphReader): boolean {
  return node.namedChildren.some((child) => child.type === "modifier" && reader.textOf(child) === "partial");
}

function ungeneric(node: Node): Node {
  return node.type === "generic_name" ? (node.firstNamedChild ?? node) : node;
}

/**
 * Visits base types. Treats a base whose name starts with `I` and a capital as an interface, because the syntax does
 * not say.
 */
function visitBases(node: Node, reader: GraphReader): void {
  const owner = reader.around()?.type;
  node.namedChildren.forEach((base) => {
    const named = base.type === "primary_constructor_base_type" ? (base.childForFieldName("type") ?? base) : base;
    const chain = base.type === "argument_list" ? undefined : reader.typeFrom(reader.textOf(named));
    const last = chain?.[chain.length - 1];
    if (chain === undefined || last === undefined || owner === "enum_declaration") return;
    const isInterface = owner === "struct_declaration" || /^I\p{Lu}/u.test(last);
    reader.relate(owner !== "interface_declaration" && isInterface ? "IMPLEMENTS" : "INHERITS", chain, base);
  });
}

function visitVariables(node: Node, type: string, reader: GraphReader): void {
  const declaration = node.namedChildren.find((child) => child.type === "variable_declaration");
  if (declaration === undefined) return;
  const chain = reader.typeOf(declaration, "type");
  for (const declarator of declaration.namedChildren) {
    if (declarator.type !== "variable_declarator") continue;
    const name = reader.field(declarator, "name") ?? "";
    const value = declarator.namedChildCount > 1 ? declarator.lastNamedChild : null;
    if (type !== "local_declaration_statement" && reader.frame.holdsMembers) {
      reader.define({
        kind: "property",
        name,
        node,
        bodyStart: value?.startIndex ?? node.endIndex,
        type: chain,
        exported: isPublic(node, reader),
        leaf: true,
        merge: true,
      });
    } else {
      const inferred = chain?.[0] === "var" ? (value === null ? undefined : reader.chain(value)) : chain;
      reader.local(name, inferred?.[0] === "" ? undefined : inferred);
    }
  }
}

function visitUsing(node: Node, reader: GraphReader): void {
  const line = node.startPosition.row + 1;
  const alias = reader.field(node, "name");
  const source = reader.textOf(node).replace(/\s*;\s*$/, "");
  const isStatic = /^(?:global\s+)?using\s+static\b/.test(source);
  const path = source
    .replace(/^(?:global\s+)?using\s+(?:static\s+)?(?:[\w@]+\s*=\s*)?/, "")
    .replace(/^global::|<[\s\S]*$|\s/g, "");
  const local = alias ?? "*";
  reader.import({
    specifier: path,
    kind: isStatic || alias !== undefined ? "import" : "use",
    names: [{ imported: "*", local }],
    line,
  });
}
