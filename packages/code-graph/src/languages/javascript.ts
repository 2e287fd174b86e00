// TypeScript, TSX, JavaScript and JSX: the grammars share their node types, except for types.
import type { Chain } from "../reading/chains.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";
import {
  FUNCTION_VALUES,
  holderOf,
  importedBy,
  isExported,
  isExportedVariable,
  isTopStatement,
  PATTERN_NAMES,
  unwrap,
  visitAssignment,
  visitCall,
  visitExport,
  visitImport,
} from "./javascript-modules.js";

export const javascriptRules: LanguageRules = {
  plain: /^[\p{L}_$#][\p{L}\p{N}_$]*(?:\??\.#?[\p{L}_$][\p{L}\p{N}_$]*)*$/u,
  separator: /\??\.#?/,
  members: { member_expression: ["object", "property"], nested_type_identifier: ["module", "name"] },
  calls: { call_expression: "function" },
  creations: { new_expression: "constructor" },
  wrappers: new Set(["parenthesized_expression", "await_expression", "non_null_expression", "satisfies_expression"]),
  selfNames: new Set(["this"]),
  superNames: new Set(["super"]),
  bareMembers: false,
  nodeTypes: [
    "function_declaration",
    "generator_function_declaration",
    "function_signature",
    "function_expression",
    "generator_function",
    "arrow_function",
    "class_declaration",
    "abstract_class_declaration",
    "class",
    "method_definition",
    "method_signature",
    "abstract_method_signature",
    "public_field_definition",
    "field_definition",
    "property_signature",
    "interface_declaration",
    "type_alias_declaration",
    "enum_declaration",
    "internal_module",
    "module",
    "variable_declarator",
    "pair",
    "required_parameter",
    "optional_parameter",
    "formal_parameters",
    "catch_clause",
    "for_in_statement",
    "extends_clause",
    "class_heritage",
    "implements_clause",
    "extends_type_clause",
    "call_expression",
    "new_expression",
    "decorator",
    "jsx_opening_element",
    "jsx_self_closing_element",
    "import_statement",
    "export_statement",
    "assignment_expression",
    "lexical_declaration",
    "variable_declaration",
    "statement_block",
    "switch_body",
    "for_statement",
    "function_type",
    "constructor_type",
  ],
  containers: new Set([
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "variable_declarator",
    "assignment_expression",
    "statement_block",
    "switch_body",
    "for_statement",
    "for_in_statement",
    "function_type",
    "constructor_type",
    "internal_module",
    "module",
    ...FUNCTION_VALUES,
  ]),
  visit,
  finish(reader) {
    // `export { a }` can come before or after `a`.
    for (const { local } of reader.exports) reader.markExported(local);
  },
};

function visit(node: Node, type: string, reader: GraphReader): void {
  switch (type) {
    case "call_expression":
      visitCall(node, reader);
      return;
    case "new_expression": {
      const made = node.childForFieldName("constructor");
      if (made !== null) reader.call(reader.chain(made), node);
      return;
    }
    case "variable_declarator":
      visitVariable(node, reader);
      return;
    case "arrow_function":
    case "function_expression":
    case "generator_function":
      visitFunctionValue(node, type, reader);
      return;
    case "function_declaration":
    case "generator_function_declaration":
    case "function_signature":
      reader.define({
        kind: "function",
        name: reader.field(node, "name") ?? "default",
        node,
        exported: isExported(node, reader),
        type: reader.typeOf(node, "return_type"),
        ownSelf: true,
        // Overloads are one function, and so are the branches of a condition.
        merge: true,
      });
      return;
    case "class":
      if (!node.isNamed) return;
      visitClassValue(node, reader);
      return;
    case "class_declaration":
    case "abstract_class_declaration":
      reader.define({
        kind: "class",
        name: reader.field(node, "name") ?? "default",
        node,
        exported: isExported(node, reader),
        holdsMembers: true,
      });
      return;
    case "interface_declaration":
      reader.define({
        kind: "interface",
        name: reader.field(node, "name") ?? "",
        node,
        exported: isExported(node, reader),
        holdsMembers: true,
        merge: true,
      });
      return;
    case "type_alias_declaration":
      reader.define({
        kind: "type",
        name: reader.field(node, "name") ?? "",
        node,
        exported: isExported(node, reader),
        type: reader.typeOf(node, "value"),
        bodyStart: node.childForFieldName("value")?.startIndex ?? node.endIndex,
        holdsMembers: true,
      });
      return;
    case "enum_declaration":
      reader.define({
        kind: "enum",
        name: reader.field(node, "name") ?? "",
        node,
        exported: isExported(node, reader),
        leaf: true,
      });
      return;
    case "internal_module":
    case "module": {
      if (!node.isNamed) return;
      const name = reader.field(node, "name")?.replace(/^["']|["']$/g, "") ?? "";
      reader.define({
        kind: "module",
        name,
        node,
        exported: isExported(node, reader),
        holdsMembers: true,
        merge: true,
      });
      return;
    }
    case "method_definition":
    case "method_signature":
    case "abstract_method_signature":
      visitMethod(node, type, reader);
      return;
    case "public_field_definition":
    case "field_definition":
    case "property_signature":
      visitField(node, reader);
      return;
    case "pair":
      visitPair(node, reader);
      return;
    case "required_parameter":
    case "optional_parameter":
      visitParameter(node, reader);
      return;
    case "formal_parameters":
      if (reader.language === "javascript")
        for (const child of node.namedChildren) reader.localsIn(child, PATTERN_NAMES);
      return;
    case "catch_clause": {
      const parameter = node.childForFieldName("parameter");
      if (parameter !== null) reader.localsIn(parameter, PATTERN_NAMES);
      return;
    }
    case "for_in_statement": {
      const left = node.childForFieldName("left");
      if (left !== null && node.childForFieldName("kind") !== null) reader.localsIn(left, PATTERN_NAMES);
      return;
    }
    case "class_heritage":
      // In TypeScript this node holds clauses, which are visited separately.
      if (reader.language === "javascript" && node.firstNamedChild !== null) {
        reader.relate("INHERITS", reader.chain(node.firstNamedChild), node);
      }
      return;
    case "extends_clause": {
      const value = node.childForFieldName("value");
      if (value !== null) reader.relate("INHERITS", reader.chain(value), value);
      return;
    }
    case "implements_clause":
    case "extends_type_clause":
      for (const base of node.namedChildren) {
        const chain = reader.typeFrom(reader.textOf(base));
        if (chain !== undefined) reader.relate(type === "implements_clause" ? "IMPLEMENTS" : "INHERITS", chain, base);
      }
      return;
    case "decorator": {
      const used = node.firstNamedChild;
      if (used !== null && used.type !== "call_expression") reader.call(reader.chain(used), node);
      return;
    }
    case "jsx_opening_element":
    case "jsx_self_closing_element": {
      // The framework calls the component. Lowercase elements are the browser's own.
      const name = reader.field(node, "name") ?? "";
      if (/^\p{Lu}|\./u.test(name)) reader.call(name.split("."), node);
      return;
    }
    case "import_statement":
      visitImport(node, reader);
      return;
    case "export_statement":
      visitExport(node, reader);
      return;
    case "assignment_expression":
      visitAssignment(node, reader);
      return;
  }
}

function visitVariable(node: Node, reader: GraphReader): void {
  const name = node.childForFieldName("name");
  if (name === null) return;
  const value = unwrap(node.childForFieldName("value"));
  if (value !== null && importedBy(name, value, reader)) return;
  if (name.type !== "identifier") {
    if (reader.atTop && isExportedVariable(reader, 0)) {
      for (const part of name.descendantsOfType(PATTERN_NAMES as string[])) {
        reader.define({ kind: "variable", name: reader.textOf(part), node: part, exported: true, leaf: true });
        reader.exports.push({ name: reader.textOf(part), local: reader.textOf(part) });
      }
    } else reader.localsIn(name, PATTERN_NAMES);
    return;
  }
  const text = reader.textOf(name);
  // A function value takes the name of its variable and is handled when it is visited.
  if (value !== null && (FUNCTION_VALUES.has(value.type) || value.type === "class")) return;
  const declared = reader.typeOf(node, "type");
  const isConst = reader.text.startsWith("const", reader.around()?.node.startIndex ?? 0);
  const known: Chain | undefined = declared ?? (value !== null && isConst ? valueChain(value, reader) : undefined);
  const inNamespace = reader.frame.holdsMembers;
  if ((!reader.atTop && !inNamespace) || !isTopStatement(reader)) {
    const isValue = declared === undefined && (value?.type === "identifier" || value?.type === "member_expression");
    reader.local(text, known, isValue);
    return;
  }
  const exported = isExportedVariable(reader, 0);
  if (exported && reader.atTop) reader.exports.push({ name: text, local: text });
  reader.define({
    kind: "variable",
    name: text,
    node,
    exported,
    bodyStart: value?.startIndex ?? node.endIndex,
    type: known,
    holdsMembers: value?.type === "object",
    leaf: value?.type !== "object",
    merge: true,
  });
}

function valueChain(value: Node, reader: GraphReader): Chain | undefined {
  switch (value.type) {
    case "this":
    case "identifier":
    case "member_expression":
    case "call_expression":
    case "new_expression":
    case "await_expression":
    case "non_null_expression": {
      const chain = reader.chain(value);
      return chain[0] === "" ? undefined : chain;
    }
    default:
      return undefined;
  }
}

function visitFunctionValue(node: Node, type: string, reader: GraphReader): void {
  const holder = holderOf(node, reader);
  // In a function assigned to a prototype, `this` is the object.
  const isMethod = holder?.type === "assignment_expression" && reader.frame.end === holder.node.endIndex;
  const ownSelf = type !== "arrow_function" && !isMethod;
  const single = node.childForFieldName("parameter");
  if (holder?.type === "variable_declarator") {
    const name = holder.node.childForFieldName("name");
    if (name?.type === "identifier") {
      const text = reader.textOf(name);
      const exported = isExportedVariable(reader, 1);
      if (exported && reader.atTop) reader.exports.push({ name: text, local: text });
      const defined = reader.define({
        kind: "function",
        name: text,
        node: holder.node,
        exported,
        bodyStart: node.childForFieldName("body")?.startIndex ?? node.endIndex,
        type: reader.typeOf(node, "return_type"),
        ownSelf,
      });
      if (defined === undefined) reader.scope(node, { ownSelf });
    } else reader.scope(node, { ownSelf });
  } else if (holder?.type === "export_statement" && reader.atTop) {
    reader.exports.push({ name: "default", local: "default" });
    reader.define({
      kind: "function",
      name: "default",
      node,
      exported: true,
      type: reader.typeOf(node, "return_type"),
      ownSelf,
    });
  } else reader.scope(node, { ownSelf });
  if (single !== null) reader.local(reader.textOf(single));
}

function visitClassValue(node: Node, reader: GraphReader): void {
  const holder = holderOf(node, reader);
  const name =
    holder?.type === "variable_declarator"
      ? (reader.field(holder.node, "name") ?? "")
      : (reader.field(node, "name") ?? "");
  const isAssigned = holder?.type === "assignment_expression" && reader.field(holder.node, "left") === "module.exports";
  const isDefault = reader.atTop && (holder?.type === "export_statement" || isAssigned);
  const exported = isDefault || (holder?.type === "variable_declarator" && isExportedVariable(reader, 1));
  if (isDefault && !isAssigned) reader.exports.push({ name: "default", local: name === "" ? "default" : name });
  else if (exported && reader.atTop) reader.exports.push({ name, local: name });
  const defined = reader.define({
    kind: "class",
    name: name === "" && isDefault ? "default" : name,
    node,
    exported,
    holdsMembers: true,
  });
  if (defined === undefined) reader.scope(node, { ownSelf: true });
}

function visitMethod(node: Node, type: string, reader: GraphReader): void {
  const name = node.childForFieldName("name");
  const named = name !== null && name.type !== "computed_property_name" && name.type !== "string";
  if (!named || !reader.frame.holdsMembers) {
    // A method of an unnamed object.
    if (type === "method_definition") reader.scope(node, { ownSelf: true });
    return;
  }
  // A getter and a setter are one property, and overloads are one method.
  reader.define({
    kind: "method",
    name: reader.textOf(name),
    node,
    type: reader.typeOf(node, "return_type"),
    exported: !isPrivate(node, name, reader),
    merge: true,
  });
}

function isPrivate(node: Node, name: Node, reader: GraphReader): boolean {
  // Modifiers come before the name. Most members have none, and listing all children is slow.
  if (name.startIndex === node.startIndex) return false;
  return node.children.some((child) => child.type === "accessibility_modifier" && reader.textOf(child) === "private");
}

function visitField(node: Node, reader: GraphReader): void {
  const name = node.childForFieldName("name") ?? node.childForFieldName("property");
  if (name === null || !reader.frame.holdsMembers || name.type === "computed_property_name" || name.type === "string")
    return;
  const value = node.childForFieldName("value");
  const isFunction = value !== null && FUNCTION_VALUES.has(value.type);
  const declared = reader.typeOf(node, "type");
  reader.define({
    kind: isFunction ? "method" : "property",
    name: reader.textOf(name),
    node,
    bodyStart: value?.startIndex ?? node.endIndex,
    type: isFunction
      ? reader.typeOf(value, "return_type")
      : (declared ?? (value?.type === "new_expression" ? reader.chain(value) : undefined)),
    exported: !isPrivate(node, name, reader),
    merge: true,
  });
}

/** Visits `{ list: () => … }` in an object assigned to a variable. */
function visitPair(node: Node, reader: GraphReader): void {
  const value = node.childForFieldName("value");
  const key = node.childForFieldName("key");
  if (value === null || key?.type !== "property_identifier" || !reader.frame.holdsMembers) return;
  if (!FUNCTION_VALUES.has(value.type)) return;
  reader.define({
    kind: "method",
    name: reader.textOf(key),
    node,
    bodyStart: value.childForFieldName("body")?.startIndex ?? node.endIndex,
  });
}

function isInType(reader: GraphReader): boolean {
  const type = reader.around()?.type;
  return type === "function_type" || type === "constructor_type";
}

function visitParameter(node: Node, reader: GraphReader): void {
  const pattern = node.childForFieldName("pattern");
  // Skip parameters in function types.
  if (pattern === null || isInType(reader)) return;
  if (pattern.type !== "identifier") {
    reader.localsIn(pattern, PATTERN_NAMES);
    return;
  }
  const type = reader.typeOf(node, "type");
  const name = reader.textOf(pattern);
  const outer = reader.frame.parent;
  const isProperty =
    pattern.startIndex !== node.startIndex &&
    node.children.some((child) => child.type === "accessibility_modifier" || child.type === "readonly");
  if (isProperty && outer?.holdsMembers === true) {
    const inner = reader.frame;
    reader.frame = outer;
    reader.define({
      kind: "property",
      name,
      node,
      type,
      leaf: true,
      merge: true,
      exported: !isPrivate(node, pattern, reader),
    });
    reader.frame = inner;
  }
  reader.local(name, type);
}
