import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";

/** Positions where a bare name is a statement or an argument, so it can be a call without arguments. */
const STATEMENTS = [
  "program",
  "body_statement",
  "block_body",
  "then",
  "else",
  "begin",
  "argument_list",
  "if_modifier",
  "unless_modifier",
];
const VISIBILITY = new Set(["private", "public", "protected"]);

export const rubyRules: LanguageRules = {
  plain: /^(?:::)?[\p{L}_][\p{L}\p{N}_]*[?!]?(?:(?:::|&?\.)[\p{L}_][\p{L}\p{N}_]*[?!]?)*$/u,
  separator: /::|&?\./,
  members: { scope_resolution: ["scope", "name"] },
  calls: { call: ["receiver", "method"] },
  creations: {},
  wrappers: new Set(["parenthesized_statements"]),
  selfNames: new Set(["self"]),
  superNames: new Set(["super"]),
  bareMembers: true,
  nodeTypes: [
    "module",
    "class",
    "singleton_class",
    "method",
    "singleton_method",
    "block",
    "do_block",
    "lambda",
    "method_parameters",
    "block_parameters",
    "lambda_parameters",
    "assignment",
    "call",
    "super",
    ...STATEMENTS,
  ],
  containers: new Set(),
  visit,
};

function visit(node: Node, type: string, reader: GraphReader): void {
  if (!node.isNamed) return;
  switch (type) {
    case "call":
      visitCall(node, reader);
      return;
    case "super":
      if (node.parent?.type !== "call" || node.parent.childForFieldName("method")?.id !== node.id)
        reader.call(["super", methodName(reader)], node);
      return;
    case "module":
    case "class": {
      const path = (reader.field(node, "name") ?? "").split("::").filter((part) => part !== "");
      const name = path.join(".");
      reader.define({
        kind: type,
        name,
        node,
        holdsMembers: true,
        merge: true,
        exported: true,
        bodyStart: headEnd(node),
      });
      const base = node.childForFieldName("superclass")?.firstNamedChild;
      if (base !== null && base !== undefined) reader.relate("INHERITS", reader.chain(base), base);
      return;
    }
    case "singleton_class":
      // `class << self`: its methods belong to the surrounding class.
      if (reader.field(node, "value") === "self") return;
      reader.scope(node, { ownSelf: true });
      return;
    case "method":
    case "singleton_method": {
      const defined = reader.define({
        kind: reader.frame.self === undefined ? "function" : "method",
        name: reader.field(node, "name") ?? "",
        node,
        bodyStart: headEnd(node),
        exported: true,
      });
      if (defined === undefined) reader.scope(node);
      return;
    }
    case "block":
    case "do_block":
    case "lambda":
      reader.scope(node);
      return;
    case "method_parameters":
    case "block_parameters":
    case "lambda_parameters":
      reader.localsIn(node, ["identifier"]);
      return;
    case "assignment":
      visitAssignment(node, reader);
      return;
    default:
      // A bare name is a call unless it is a local variable; only methods of this file count.
      for (const child of node.namedChildren) {
        const name = child.type === "identifier" ? reader.textOf(child) : "";
        if (name !== "" && !VISIBILITY.has(name)) reader.maybeCall([name], child);
      }
  }
}

function headEnd(node: Node): number {
  const parts =
    node.childForFieldName("superclass") ?? node.childForFieldName("parameters") ?? node.childForFieldName("name");
  return parts?.endIndex ?? node.endIndex;
}

function methodName(reader: GraphReader): string {
  const symbol = reader.frame.symbol;
  return symbol.slice(symbol.lastIndexOf(".") + 1).replace(/~\d+$/, "");
}

function visitAssignment(node: Node, reader: GraphReader): void {
  const left = node.childForFieldName("left");
  const right = node.childForFieldName("right");
  if (left === null) return;
  if (left.type === "constant" && (reader.atTop || reader.frame.holdsMembers)) {
    reader.define({
      kind: "variable",
      name: reader.textOf(left),
      node,
      bodyStart: right?.startIndex ?? node.endIndex,
      leaf: true,
      exported: true,
      merge: true,
    });
  } else if (left.type === "identifier") {
    const chain = right?.type === "call" ? instance(reader.chain(right)) : undefined;
    reader.local(reader.textOf(left), chain);
  } else if (left.type === "left_assignment_list") reader.localsIn(left, ["identifier"]);
}

/** Returns the type of an instance: `Helper.new` is a `Helper`; the results of other methods are unknown. */
function instance(chain: readonly string[]): readonly string[] | undefined {
  const at = chain.indexOf("new");
  return at > 0 && chain.length === at + 2 && chain[0] !== "" ? [...chain.slice(0, at), "()"] : undefined;
}

function visitCall(node: Node, reader: GraphReader): void {
  const receiver = node.childForFieldName("receiver");
  const method = node.childForFieldName("method");
  if (method === null) return;
  const name = reader.textOf(method);
  if (receiver === null) {
    if (name === "require" || name === "require_relative" || name === "load" || name === "autoload") {
      visitRequire(node, name, reader);
      return;
    }
    if (name === "super") {
      reader.call(["super", methodName(reader)], node);
      return;
    }
    if (reader.frame.holdsMembers && !reader.atTop && visitDeclaration(node, name, reader)) return;
    if (name === "new" && reader.frame.self !== undefined) {
      reader.call(["self"], node);
      return;
    }
    // A local variable cannot be called this way, so one with the same name does not matter.
    reader.call([name], node);
    return;
  }
  const chain = reader.chain(receiver);
  if (name === "new") {
    reader.call(chain, node);
    return;
  }
  if (name === "class") return;
  reader.call([...collapse(chain), name], node);
}

/** Shortens chains: `Helper.new.run` is the `run` of a `Helper`, and `self.class.open` the `open` of the class. */
function collapse(chain: readonly string[]): readonly string[] {
  const result: string[] = [];
  for (let index = 0; index < chain.length; index++) {
    const isClass = chain[index] === "class" && index === 1 && chain[0] === "self";
    const isNew = chain[index] === "new" && index > 0;
    if (isClass || isNew) {
      if (chain[index + 1] === "()") index++;
      if (isNew) result.push("()");
    } else result.push(chain[index] ?? "");
  }
  return result;
}

function visitRequire(node: Node, name: string, reader: GraphReader): void {
  const argument = node.childForFieldName("arguments")?.namedChildren.find((child) => child.type === "string");
  if (argument === undefined) return;
  reader.import({
    specifier: reader.textOf(argument).slice(1, -1),
    kind: "require",
    names: [{ imported: "*", local: "*" }],
    line: node.startPosition.row + 1,
    relative: name === "require_relative",
  });
}

/** Visits a declaration in a class body that looks like a call. */
function visitDeclaration(node: Node, name: string, reader: GraphReader): boolean {
  const args = node.childForFieldName("arguments")?.namedChildren ?? [];
  switch (name) {
    case "include":
    case "prepend":
    case "extend":
      for (const part of args) {
        if (part.type === "constant" || part.type === "scope_resolution")
          reader.relate("IMPLEMENTS", reader.chain(part), part);
      }
      return true;
    case "attr_reader":
    case "attr_writer":
    case "attr_accessor":
      for (const part of args) {
        if (part.type === "simple_symbol") {
          reader.define({
            kind: "property",
            name: reader.textOf(part).slice(1),
            node: part,
            leaf: true,
            merge: true,
            exported: true,
          });
        }
      }
      return true;
    case "private":
    case "public":
    case "protected":
    case "private_constant":
    case "module_function":
      return true;
    default:
      return false;
  }
}
