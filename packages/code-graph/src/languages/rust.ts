import type { Chain } from "../reading/chains.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";

export const rustRules: LanguageRules = {
  plain: /^[\p{L}_][\p{L}\p{N}_]*(?:(?:::|\.)[\p{L}_][\p{L}\p{N}_]*)*$/u,
  separator: /::|\./,
  members: { field_expression: ["value", "field"], scoped_identifier: ["path", "name"] },
  calls: { call_expression: "function" },
  creations: { struct_expression: "name" },
  wrappers: new Set(["parenthesized_expression", "await_expression", "try_expression", "reference_expression"]),
  selfNames: new Set(["self", "Self"]),
  superNames: new Set(),
  bareMembers: false,
  nodeTypes: [
    "mod_item",
    "use_declaration",
    "extern_crate_declaration",
    "struct_item",
    "union_item",
    "enum_item",
    "trait_item",
    "type_item",
    "impl_item",
    "function_item",
    "function_signature_item",
    "closure_expression",
    "const_item",
    "static_item",
    "macro_definition",
    "field_declaration",
    "parameter",
    "let_declaration",
    "for_expression",
    "call_expression",
    "macro_invocation",
  ],
  containers: new Set(),
  visit,
};

function isPublic(node: Node): boolean {
  return node.namedChildren.some((child) => child.type === "visibility_modifier");
}

function visit(node: Node, type: string, reader: GraphReader): void {
  switch (type) {
    case "call_expression": {
      const callee = node.childForFieldName("function");
      if (callee === null) return;
      const plain = unturbo(callee);
      const chain = inModule(reader.chain(plain), reader);
      if (plain.type === "scoped_identifier") reader.callItem(chain, node);
      else reader.call(chain, node);
      return;
    }
    case "macro_invocation": {
      const name = node.childForFieldName("macro");
      if (name === null) return;
      const chain = reader.chain(name);
      reader.call([...chain.slice(0, -1), `${chain[chain.length - 1] ?? ""}!`], node);
      return;
    }
    case "mod_item": {
      const name = reader.field(node, "name") ?? "";
      if (node.childForFieldName("body") !== null) {
        reader.define({ kind: "module", name, node, holdsMembers: true, exported: isPublic(node) });
      } else {
        reader.import({
          specifier: name,
          kind: "mod",
          names: [{ imported: "*", local: name }],
          line: node.startPosition.row + 1,
        });
      }
      return;
    }
    case "extern_crate_declaration": {
      const name = reader.field(node, "name") ?? "";
      const local = reader.field(node, "alias") ?? name;
      reader.import({
        specifier: name,
        kind: "use",
        names: [{ imported: "*", local }],
        line: node.startPosition.row + 1,
      });
      return;
    }
    case "use_declaration": {
      const argument = node.childForFieldName("argument");
      const pub = isPublic(node);
      if (argument !== null) readUse(argument, "", pub, reader);
      return;
    }
    case "struct_item":
    case "union_item":
    case "enum_item":
      reader.define({
        kind: type === "enum_item" ? "enum" : "struct",
        name: reader.field(node, "name") ?? "",
        node,
        holdsMembers: true,
        exported: isPublic(node),
      });
      return;
    case "trait_item": {
      reader.define({
        kind: "trait",
        name: reader.field(node, "name") ?? "",
        node,
        holdsMembers: true,
        exported: isPublic(node),
      });
      for (const bound of node.childForFieldName("bounds")?.namedChildren ?? []) {
        const chain = bound.type === "lifetime" ? undefined : reader.typeFrom(reader.textOf(bound));
        if (chain !== undefined) reader.relate("INHERITS", chain, bound);
      }
      return;
    }
    case "type_item":
      reader.define({
        kind: "type",
        name: reader.field(node, "name") ?? "",
        node,
        bodyStart: node.endIndex,
        type: reader.typeOf(node, "type"),
        exported: isPublic(node),
        leaf: true,
      });
      return;
    case "impl_item":
      visitImpl(node, reader);
      return;
    case "function_item":
    case "function_signature_item": {
      const member = reader.frame.holdsMembers && !reader.inModule;
      const defined = reader.define({
        kind: member ? "method" : "function",
        name: reader.field(node, "name") ?? "",
        node,
        type: reader.typeOf(node, "return_type"),
        exported: isPublic(node),
      });
      if (defined === undefined) reader.scope(node);
      return;
    }
    case "closure_expression": {
      reader.scope(node);
      const parameters = node.childForFieldName("parameters");
      for (const parameter of parameters?.namedChildren ?? []) {
        if (parameter.type !== "parameter") reader.localsIn(parameter, ["identifier"]);
        if (parameter.type === "identifier") reader.local(reader.textOf(parameter));
      }
      return;
    }
    case "const_item":
    case "static_item": {
      const name = reader.field(node, "name") ?? "";
      if (reader.atTop || reader.frame.holdsMembers) {
        reader.define({
          kind: "variable",
          name,
          node,
          bodyStart: node.childForFieldName("value")?.startIndex ?? node.endIndex,
          type: reader.typeOf(node, "type"),
          exported: isPublic(node),
          leaf: true,
        });
      } else reader.local(name, reader.typeOf(node, "type"));
      return;
    }
    case "macro_definition": {
      const name = reader.field(node, "name") ?? "";
      reader.define({
        kind: "macro",
        name: `${name}!`,
        node,
        bodyStart: node.startIndex + "macro_rules! ".length + name.length,
        leaf: true,
      });
      return;
    }
    case "field_declaration":
      if (reader.frame.holdsMembers) {
        reader.define({
          kind: "property",
          name: reader.field(node, "name") ?? "",
          node,
          type: reader.typeOf(node, "type"),
          exported: isPublic(node),
          leaf: true,
        });
      }
      return;
    case "parameter": {
      const pattern = node.childForFieldName("pattern");
      if (pattern?.type === "identifier") reader.local(reader.textOf(pattern), reader.typeOf(node, "type"));
      else if (pattern !== null) reader.localsIn(pattern, ["identifier"]);
      return;
    }
    case "let_declaration":
      visitLet(node, reader);
      return;
    case "for_expression": {
      const pattern = node.childForFieldName("pattern");
      if (pattern !== null) reader.localsIn(pattern, ["identifier"]);
      return;
    }
  }
}

/** Strips type arguments: `parse::<u8>` is a call of `parse`. */
function unturbo(node: Node): Node {
  return node.type === "generic_function" ? (node.childForFieldName("function") ?? node) : node;
}

/** Resolves a module path: `self::x` is not a member of the current object, and `super::x` leaves the module. */
function inModule(chain: Chain, reader: GraphReader): Chain {
  if (chain[0] !== "super") return chain[0] === "crate" ? ["crate", ...chain.slice(1)] : chain;
  let rest = chain;
  let ups = 0;
  while (rest[0] === "super") {
    rest = rest.slice(1);
    ups++;
  }
  return reader.inModule || reader.frame.symbol !== "" ? reader.pathUp(ups, rest) : chain;
}

function visitImpl(node: Node, reader: GraphReader): void {
  const owner = reader.typeOf(node, "type");
  const name = owner?.[owner.length - 1];
  if (owner === undefined || name === undefined) {
    reader.scope(node);
    return;
  }
  const container = reader.frame.symbol === "" || owner.length > 1 ? owner.join(".") : `${reader.frame.symbol}.${name}`;
  const trait = node.childForFieldName("trait");
  if (trait !== null) {
    const chain = reader.typeFrom(reader.textOf(trait));
    if (chain !== undefined && reader.hasSymbol(container)) reader.relate("IMPLEMENTS", chain, trait, container);
    else if (chain !== undefined) reader.relate("IMPLEMENTS", chain, trait);
  }
  reader.scope(node, { container });
}

function visitLet(node: Node, reader: GraphReader): void {
  const pattern = node.childForFieldName("pattern");
  const value = node.childForFieldName("value");
  if (pattern === null) return;
  if (pattern.type !== "identifier") {
    reader.localsIn(pattern, ["identifier"]);
    return;
  }
  const declared = reader.typeOf(node, "type");
  const chain = declared === undefined && value !== null ? reader.chain(value) : undefined;
  reader.local(reader.textOf(pattern), declared ?? (chain?.[0] === "" ? undefined : chain));
}

function readUse(node: Node, prefix: string, pub: boolean, reader: GraphReader): void {
  const join = (path: string) => (prefix === "" ? path : `${prefix}::${path}`);
  const add = (path: string, local: string) => {
    const at = path.lastIndexOf("::");
    const specifier = at === -1 ? path : path.slice(0, at);
    const imported = at === -1 ? "*" : path.slice(at + 2);
    const line = node.startPosition.row + 1;
    reader.import({ specifier, kind: "use", names: [{ imported, local }], line });
    if (pub && local !== "*") reader.exports.push({ name: local, local });
  };
  switch (node.type) {
    case "use_list":
      for (const part of node.namedChildren) readUse(part, prefix, pub, reader);
      return;
    case "scoped_use_list": {
      const list = node.childForFieldName("list");
      if (list !== null) readUse(list, join(reader.field(node, "path") ?? ""), pub, reader);
      return;
    }
    case "use_as_clause":
      add(join(reader.field(node, "path") ?? ""), reader.field(node, "alias") ?? "");
      return;
    case "use_wildcard": {
      const path = node.firstNamedChild;
      const specifier = path === null ? prefix : join(reader.textOf(path));
      reader.import({
        specifier,
        kind: "use",
        names: [{ imported: "*", local: "*" }],
        line: node.startPosition.row + 1,
      });
      return;
    }
    case "self": {
      const name = prefix.slice(prefix.lastIndexOf("::") + 1).replace(/^:+/, "");
      add(prefix, name);
      return;
    }
    default: {
      const path = join(reader.textOf(node).replace(/\s+/g, ""));
      add(path, path.slice(path.lastIndexOf("::") + 1).replace(/^:+/, ""));
      return;
    }
  }
}
