import type { ImportedName } from "../model/graph-model.js";
import type { Chain } from "../reading/chains.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";

export const pythonRules: LanguageRules = {
  plain: /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*$/u,
  separator: /\./,
  members: { attribute: ["object", "attribute"] },
  calls: { call: "function" },
  creations: {},
  wrappers: new Set(["parenthesized_expression", "await", "as_pattern", "named_expression"]),
  // `self` is a convention, not a keyword: methods bind their first parameter.
  selfNames: new Set(),
  superNames: new Set(),
  bareMembers: false,
  nodeTypes: [
    "class_definition",
    "function_definition",
    "lambda",
    "assignment",
    "type_alias_statement",
    "decorated_definition",
    "if_statement",
    "while_statement",
    "try_statement",
    "with_statement",
    "match_statement",
    "for_statement",
    "for_in_clause",
    "with_item",
    "except_clause",
    "call",
    "decorator",
    "import_statement",
    "import_from_statement",
  ],
  containers: new Set([
    "class_definition",
    "function_definition",
    "decorated_definition",
    "if_statement",
    "for_statement",
    "while_statement",
    "try_statement",
    "with_statement",
    "match_statement",
  ]),
  visit,
};

function visit(node: Node, type: string, reader: GraphReader): void {
  switch (type) {
    case "call": {
      const callee = node.childForFieldName("function");
      if (callee === null || reader.textOf(callee) === "super") return;
      reader.call(withSuper(reader.chain(callee)), node);
      return;
    }
    case "decorator": {
      const used = node.firstNamedChild;
      if (used !== null && used.type !== "call") reader.call(reader.chain(used), node);
      return;
    }
    case "class_definition":
      visitClass(node, reader);
      return;
    case "function_definition":
      visitFunction(node, reader);
      return;
    case "lambda": {
      reader.scope(node);
      const parameters = node.childForFieldName("parameters");
      if (parameters !== null) visitParameters(parameters, reader, undefined);
      return;
    }
    case "assignment":
      visitAssignment(node, reader);
      return;
    case "type_alias_statement": {
      const name = node.childForFieldName("left");
      if (name !== null && reader.atTop) {
        reader.define({ kind: "type", name: reader.textOf(name), node, leaf: true, exported: true });
      }
      return;
    }
    case "for_statement":
    case "for_in_clause": {
      const left = node.childForFieldName("left");
      if (left !== null) reader.localsIn(left, ["identifier"]);
      return;
    }
    case "with_item":
    case "except_clause": {
      const value = node.childForFieldName("value") ?? node.firstNamedChild;
      if (value?.type !== "as_pattern") return;
      const target = value.childForFieldName("alias");
      const made = value.firstNamedChild;
      if (target === null || made === null) return;
      // A context manager usually yields itself, but not always.
      reader.localsIn(target, ["identifier"]);
      return;
    }
    case "import_statement":
      visitImport(node, reader);
      return;
    case "import_from_statement":
      visitImportFrom(node, reader);
      return;
  }
}

/** Rewrites `super().save` to the `save` of a base class. */
function withSuper(chain: Chain): Chain {
  return chain[0] === "super" && chain[1] === "()" ? [SELF_SUPER, ...chain.slice(2)] : chain;
}

/** Bound in methods to whatever `super()` refers to there. */
const SELF_SUPER = "super()";

function visitClass(node: Node, reader: GraphReader): void {
  const name = reader.field(node, "name") ?? "";
  reader.define({ kind: "class", name, node, holdsMembers: true, exported: isPublic(name) });
  for (const base of node.childForFieldName("superclasses")?.namedChildren ?? []) {
    if (base.type === "keyword_argument") continue;
    const chain = base.type === "subscript" ? reader.typeFrom(reader.textOf(base)) : reader.chain(base);
    if (chain !== undefined) reader.relate("INHERITS", chain, base);
  }
}

function isPublic(name: string): boolean {
  return !name.startsWith("_") || /^__\w+__$/.test(name);
}

function visitFunction(node: Node, reader: GraphReader): void {
  const name = reader.field(node, "name") ?? "";
  const owner = reader.frame.holdsMembers ? reader.frame.symbol : undefined;
  const defined = reader.define({
    kind: owner === undefined ? "function" : "method",
    name,
    node,
    type: reader.typeOf(node, "return_type"),
    exported: isPublic(name),
  });
  if (defined === undefined) reader.scope(node);
  const outer = reader.around();
  const decorated =
    outer?.type === "decorated_definition" ? reader.text.slice(outer.node.startIndex, node.startIndex) : "";
  const isStatic = /^\s*@staticmethod\b/m.test(decorated);
  const parameters = node.childForFieldName("parameters");
  if (parameters !== null) visitParameters(parameters, reader, isStatic ? undefined : owner);
}

function visitParameters(parameters: Node, reader: GraphReader, owner: string | undefined): void {
  let first = true;
  for (const parameter of parameters.namedChildren) {
    if (parameter.type === "comment") continue;
    const name =
      parameter.type === "identifier"
        ? parameter
        : (parameter.childForFieldName("name") ?? parameter.descendantsOfType("identifier")[0] ?? null);
    if (name === null) continue;
    const text = reader.textOf(name);
    if (first && owner !== undefined) {
      reader.localSymbol(text, owner);
      reader.localSuper(SELF_SUPER, owner);
    } else reader.local(text, reader.typeOf(parameter, "type"));
    first = false;
  }
}

function visitAssignment(node: Node, reader: GraphReader): void {
  const left = node.childForFieldName("left");
  if (left === null) return;
  const right = node.childForFieldName("right");
  const declared = reader.typeOf(node, "type");
  const known =
    declared ?? (right?.type === "call" || right?.type === "await" ? certain(reader.chain(right)) : undefined);
  if (left.type === "identifier") {
    const name = reader.textOf(left);
    const container = reader.around()?.type;
    if (reader.atTop ? container === undefined : reader.frame.holdsMembers && container === "class_definition") {
      reader.define({
        kind: reader.atTop ? "variable" : "property",
        name,
        node,
        bodyStart: right?.startIndex ?? node.endIndex,
        type: known,
        leaf: true,
        merge: true,
        exported: isPublic(name),
      });
    } else reader.local(name, known);
    return;
  }
  if (left.type === "attribute") {
    visitAttribute(left, node, known, reader);
    return;
  }
  if (left.type === "pattern_list" || left.type === "tuple_pattern") reader.localsIn(left, ["identifier"]);
}

function certain(chain: Chain): Chain | undefined {
  return chain[0] === "" ? undefined : chain;
}

/** Visits an assignment such as `self.store = Store()` in a method, which defines a property of the class. */
function visitAttribute(left: Node, node: Node, known: Chain | undefined, reader: GraphReader): void {
  const owner = reader.frame.self;
  const object = left.childForFieldName("object");
  if (owner === undefined || object === null || reader.symbolBehind(reader.textOf(object)) !== owner) return;
  const name = reader.field(left, "attribute") ?? "";
  const right = node.childForFieldName("right");
  reader.define({
    kind: "property",
    name,
    node,
    bodyStart: right?.startIndex ?? node.endIndex,
    // A property gets the declared type of the parameter stored in it.
    type: known ?? (right?.type === "identifier" ? [reader.textOf(right)] : undefined),
    member: owner,
    leaf: true,
    merge: true,
    exported: isPublic(name),
  });
}

function visitImport(node: Node, reader: GraphReader): void {
  for (const part of node.namedChildren) {
    const specifier = part.type === "aliased_import" ? (reader.field(part, "name") ?? "") : reader.textOf(part);
    const local = part.type === "aliased_import" ? (reader.field(part, "alias") ?? specifier) : specifier;
    reader.import({ specifier, kind: "import", names: [{ imported: "*", local }], line: node.startPosition.row + 1 });
  }
}

function visitImportFrom(node: Node, reader: GraphReader): void {
  const module = node.childForFieldName("module_name");
  if (module === null) return;
  const names: ImportedName[] = [];
  for (const part of node.childrenForFieldName("name")) {
    const imported = part.type === "aliased_import" ? (reader.field(part, "name") ?? "") : reader.textOf(part);
    const local = part.type === "aliased_import" ? (reader.field(part, "alias") ?? imported) : imported;
    names.push({ imported, local });
  }
  if (node.namedChildren.some((child) => child.type === "wildcard_import")) names.push({ imported: "*", local: "*" });
  const specifier = reader.textOf(module).replace(/\s+/g, "");
  reader.import({ specifier, kind: "import", names, line: node.startPosition.row + 1 });
}
