import type { SymbolKind } from "../model/graph-model.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";

const TYPES: Readonly<Record<string, SymbolKind>> = {
  class_declaration: "class",
  record_declaration: "class",
  interface_declaration: "interface",
  annotation_type_declaration: "interface",
  enum_declaration: "enum",
};

export const javaRules: LanguageRules = {
  plain: /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)*$/u,
  separator: /\./,
  members: { field_access: ["object", "field"] },
  calls: { method_invocation: ["object", "name"] },
  creations: { object_creation_expression: "type" },
  wrappers: new Set(["parenthesized_expression"]),
  selfNames: new Set(["this"]),
  superNames: new Set(["super"]),
  bareMembers: true,
  nodeTypes: [
    "package_declaration",
    "import_declaration",
    ...Object.keys(TYPES),
    "superclass",
    "super_interfaces",
    "extends_interfaces",
    "method_declaration",
    "constructor_declaration",
    "compact_constructor_declaration",
    "field_declaration",
    "constant_declaration",
    "lambda_expression",
    "formal_parameter",
    "spread_parameter",
    "local_variable_declaration",
    "enhanced_for_statement",
    "catch_formal_parameter",
    "resource",
    "method_invocation",
    "object_creation_expression",
    "explicit_constructor_invocation",
    "method_reference",
  ],
  containers: new Set(),
  visit,
};

function isPublic(node: Node, reader: GraphReader): boolean {
  const first = node.firstNamedChild;
  return first?.type === "modifiers" && /\bpublic\b/.test(reader.textOf(first));
}

function visit(node: Node, type: string, reader: GraphReader): void {
  const kind = TYPES[type];
  if (kind !== undefined) {
    reader.define({
      kind,
      name: reader.field(node, "name") ?? "",
      node,
      holdsMembers: true,
      exported: isPublic(node, reader),
    });
    return;
  }
  switch (type) {
    case "method_invocation": {
      const object = node.childForFieldName("object");
      const name = reader.field(node, "name") ?? "";
      reader.call(object === null ? [name] : [...reader.chain(object), name], node);
      return;
    }
    case "object_creation_expression": {
      const chain = reader.typeOf(node, "type");
      if (chain !== undefined) reader.call(chain, node);
      // An anonymous class has its own `this`.
      if (node.namedChildren.some((child) => child.type === "class_body")) reader.scope(node, { ownSelf: true });
      return;
    }
    case "explicit_constructor_invocation": {
      if (reader.field(node, "constructor") === "super") reader.call(["super"], node);
      return;
    }
    case "method_reference": {
      const object = node.firstNamedChild;
      const name = node.lastNamedChild;
      if (object === null || name === null || object.id === name.id) return;
      reader.call([...reader.chain(object), reader.textOf(name)], node);
      return;
    }
    case "package_declaration": {
      const name = node.namedChildren.find(
        (child) => child.type === "scoped_identifier" || child.type === "identifier",
      );
      if (name !== undefined) reader.namespaces.add(reader.textOf(name));
      return;
    }
    case "import_declaration":
      visitImport(node, reader);
      return;
    case "superclass":
    case "super_interfaces":
    case "extends_interfaces": {
      const list = type === "superclass" ? node.namedChildren : (node.firstNamedChild?.namedChildren ?? []);
      for (const base of list) {
        const chain = reader.typeFrom(reader.textOf(base));
        if (chain !== undefined) reader.relate(type === "super_interfaces" ? "IMPLEMENTS" : "INHERITS", chain, base);
      }
      return;
    }
    case "method_declaration":
    case "constructor_declaration":
    case "compact_constructor_declaration": {
      if (!reader.frame.holdsMembers) {
        reader.scope(node);
        return;
      }
      const defined = reader.define({
        kind: "method",
        name: reader.field(node, "name") ?? "",
        node,
        type: type === "method_declaration" ? reader.typeOf(node, "type") : undefined,
        exported: isPublic(node, reader),
      });
      if (defined === undefined) reader.scope(node);
      return;
    }
    case "field_declaration":
    case "constant_declaration":
    case "local_variable_declaration": {
      const chain = reader.typeOf(node, "type");
      for (const declarator of node.childrenForFieldName("declarator")) {
        const name = reader.field(declarator, "name") ?? "";
        const value = declarator.childForFieldName("value");
        if (type === "local_variable_declaration" || !reader.frame.holdsMembers) {
          const inferred = chain?.[0] === "var" && value !== null ? reader.chain(value) : chain;
          reader.local(name, inferred?.[0] === "" ? undefined : inferred);
        } else {
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
        }
      }
      return;
    }
    case "lambda_expression": {
      reader.scope(node);
      const parameters = node.childForFieldName("parameters");
      if (parameters !== null && parameters.type !== "formal_parameters") reader.localsIn(parameters, ["identifier"]);
      return;
    }
    case "formal_parameter":
    case "spread_parameter":
    case "catch_formal_parameter":
    case "resource":
    case "enhanced_for_statement": {
      const name = reader.field(node, "name");
      if (name !== undefined) reader.local(name, reader.typeOf(node, "type"));
      return;
    }
  }
}

function visitImport(node: Node, reader: GraphReader): void {
  const source = reader
    .textOf(node)
    .replace(/^\s*import\s+|\s*;\s*$/g, "")
    .replace(/\s+/g, " ");
  const isStatic = source.startsWith("static ");
  const path = source.replace(/^static /, "").replace(/\s/g, "");
  const line = node.startPosition.row + 1;
  const at = path.lastIndexOf(".");
  const last = path.slice(at + 1);
  if (last === "*") {
    reader.import({ specifier: path.slice(0, at), kind: "import", names: [{ imported: "*", local: "*" }], line });
  } else if (isStatic) {
    reader.import({ specifier: path.slice(0, at), kind: "import", names: [{ imported: last, local: last }], line });
  } else reader.import({ specifier: path, kind: "import", names: [{ imported: "*", local: last }], line });
}
