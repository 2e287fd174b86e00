// C and C++. Both use the C++ grammar. C++ keywords that are plain names in C are masked before a C file is parsed.
import type { Chain } from "../reading/chains.js";
import type { GraphReader } from "../reading/graph-reader.js";
import type { LanguageRules } from "../reading/language-rules.js";
import type { Node } from "../reading/parser.js";

const CPP_WORDS =
  /\b(?:alignas|alignof|and|bitand|bitor|bool|catch|class|co_await|co_return|co_yield|compl|concept|consteval|constexpr|constinit|const_cast|decltype|delete|dynamic_cast|explicit|export|final|friend|import|module|mutable|namespace|new|noexcept|not|nullptr|operator|or|override|private|protected|public|reinterpret_cast|requires|static_assert|static_cast|template|this|throw|try|typeid|typename|using|virtual|xor)\b/g;

/** Masks words that are names in C, keeping the length. Names are read from the original. */
export function maskCppWords(text: string): string {
  return text.replace(CPP_WORDS, (word) => (word === "bool" ? word : `_${word.slice(1)}`));
}

const NAME = "[~\\p{L}_][\\p{L}\\p{N}_]*";

export const cppRules: LanguageRules = {
  plain: new RegExp(`^(?:::)?${NAME}(?:(?:::|\\.|->)${NAME})*$`, "u"),
  separator: /::|\.|->/,
  members: {
    field_expression: ["argument", "field"],
    qualified_identifier: ["scope", "name"],
  },
  calls: { call_expression: "function" },
  creations: { new_expression: "type" },
  wrappers: new Set(["parenthesized_expression", "pointer_expression", "template_function"]),
  selfNames: new Set(["this"]),
  superNames: new Set(),
  bareMembers: true,
  nodeTypes: [
    "preproc_include",
    "preproc_def",
    "preproc_function_def",
    "namespace_definition",
    "namespace_alias_definition",
    "class_specifier",
    "struct_specifier",
    "union_specifier",
    "enum_specifier",
    "type_definition",
    "alias_declaration",
    "concept_definition",
    "base_class_clause",
    "function_definition",
    "lambda_expression",
    "field_declaration",
    "declaration",
    "parameter_declaration",
    "optional_parameter_declaration",
    "for_range_loop",
    "call_expression",
    "new_expression",
  ],
  containers: new Set(["type_definition", "class_specifier", "struct_specifier", "union_specifier", "enum_specifier"]),
  visit,
};

export const cRules: LanguageRules = { ...cppRules, bareMembers: false, selfNames: new Set() };

function visit(node: Node, type: string, reader: GraphReader): void {
  switch (type) {
    case "call_expression": {
      const callee = node.childForFieldName("function");
      if (callee !== null && callee.type !== "lambda_expression") reader.call(reader.chain(callee), node);
      return;
    }
    case "new_expression": {
      const chain = reader.typeOf(node, "type");
      if (chain !== undefined) reader.call(chain, node);
      return;
    }
    case "preproc_include": {
      const path = reader.field(node, "path") ?? "";
      const specifier = path.slice(1, -1);
      if (specifier === "") return;
      const relative = path.startsWith('"');
      reader.import({
        specifier,
        kind: "include",
        names: [{ imported: "*", local: "*" }],
        line: node.startPosition.row + 1,
        relative,
      });
      return;
    }
    case "preproc_def":
    case "preproc_function_def": {
      const name = reader.field(node, "name") ?? "";
      const value = node.childForFieldName("value");
      // An include guard is not a constant of the program.
      if (value === null && type === "preproc_def") return;
      const kind = type === "preproc_def" ? "variable" : "macro";
      reader.define({
        kind,
        name,
        node,
        bodyStart: value?.startIndex ?? node.endIndex,
        exported: true,
        leaf: true,
        merge: true,
      });
      return;
    }
    case "namespace_definition": {
      const name = (reader.field(node, "name") ?? "").replace(/\s*::\s*(?:inline\s+)?/g, ".");
      if (name === "") {
        reader.scope(node);
        return;
      }
      reader.define({ kind: "module", name, node, holdsMembers: true, merge: true, exported: true });
      return;
    }
    case "namespace_alias_definition":
      reader.local(reader.field(node, "name") ?? "");
      return;
    case "class_specifier":
    case "struct_specifier":
    case "union_specifier":
    case "enum_specifier":
      visitType(node, type, reader);
      return;
    case "type_definition":
      visitTypedef(node, reader);
      return;
    case "alias_declaration":
    case "concept_definition":
      reader.define({
        kind: "type",
        name: reader.field(node, "name") ?? "",
        node,
        type: reader.typeOf(node, "type"),
        leaf: true,
        exported: true,
      });
      return;
    case "base_class_clause":
      for (const base of node.namedChildren) {
        if (base.type === "access_specifier" || base.type === "comment") continue;
        const chain = reader.typeFrom(reader.textOf(base));
        if (chain !== undefined) reader.relate("INHERITS", chain, base);
      }
      return;
    case "function_definition":
      visitFunction(node, reader, true);
      return;
    case "lambda_expression":
      reader.scope(node);
      return;
    case "field_declaration":
    case "declaration":
      visitDeclaration(node, type, reader);
      return;
    case "parameter_declaration":
    case "optional_parameter_declaration": {
      const declarator = node.childForFieldName("declarator");
      const name = declarator === null ? undefined : declaredName(declarator, reader);
      // Skip parameters of a declaration without a body.
      if (name === undefined || reader.atTop || reader.frame.holdsMembers) return;
      const plain = declarator !== null && /^[\s*&]*\w+$/.test(reader.textOf(declarator));
      reader.local(name, plain ? reader.typeOf(node, "type") : undefined);
      return;
    }
    case "for_range_loop": {
      const declarator = node.childForFieldName("declarator");
      if (declarator !== null) reader.localsIn(declarator, ["identifier"]);
      return;
    }
  }
}

function visitType(node: Node, type: string, reader: GraphReader): void {
  const body = node.childForFieldName("body");
  if (body === null) return;
  const name = reader.typeOf(node, "name");
  const kind = type === "class_specifier" ? "class" : type === "enum_specifier" ? "enum" : "struct";
  const plain = name?.[name.length - 1] ?? "";
  if (plain === "") {
    // `typedef struct { … } name_t`: the struct takes the type's name.
    const outer = reader.around();
    const alias = outer?.type === "type_definition" ? (reader.field(outer.node, "declarator") ?? "") : "";
    if (/^\w+$/.test(alias))
      reader.define({ kind, name: alias, node, bodyStart: body.startIndex, holdsMembers: true, exported: true });
    else if (kind !== "enum") reader.scope(node);
    return;
  }
  const container = name !== undefined && name.length > 1 ? name.slice(0, -1).join(".") : undefined;
  reader.define({
    kind,
    name: plain,
    node,
    bodyStart: body.startIndex,
    holdsMembers: true,
    exported: true,
    leaf: kind === "enum",
    ...(container === undefined ? {} : { container }),
  });
}

function visitTypedef(node: Node, reader: GraphReader): void {
  const type = node.childForFieldName("type");
  const declarator = node.childForFieldName("declarator");
  if (declarator === null) return;
  const name = declaredName(declarator, reader);
  const own = type === null ? undefined : reader.field(type, "name");
  const hasBody = type?.childForFieldName("body") !== null && type?.childForFieldName("body") !== undefined;
  if (name === undefined || (own === undefined && hasBody) || own === name) return;
  const chain = type === null ? undefined : own === undefined ? reader.typeFrom(reader.textOf(type)) : [own];
  reader.define({
    kind: "type",
    name,
    node,
    bodyStart: type?.childForFieldName("body")?.startIndex ?? node.endIndex,
    type: chain,
    exported: true,
    leaf: true,
  });
}

/** Finds the name inside pointers, arrays, references and parentheses. */
function declaredName(declarator: Node, reader: GraphReader): string | undefined {
  let current: Node | null = declarator;
  for (let depth = 0; current !== null && depth < 16; depth++) {
    switch (current.type) {
      case "identifier":
      case "field_identifier":
      case "type_identifier":
      case "qualified_identifier":
      case "destructor_name":
      case "operator_name":
      case "operator_cast":
        return reader.textOf(current);
      case "template_function":
        current = current.childForFieldName("name");
        break;
      default:
        current = current.childForFieldName("declarator") ?? current.firstNamedChild;
    }
  }
  return undefined;
}

function functionDeclarator(declarator: Node | null): Node | undefined {
  let current = declarator;
  for (let depth = 0; current !== null && depth < 16; depth++) {
    if (current.type === "function_declarator") {
      // `int (*visit)(int)` is a variable.
      return current.childForFieldName("declarator")?.type === "parenthesized_declarator" ? undefined : current;
    }
    if (current.type === "init_declarator") return undefined;
    current =
      current.childForFieldName("declarator") ??
      (current.type === "reference_declarator" ? current.firstNamedChild : null);
  }
  return undefined;
}

function visitFunction(node: Node, reader: GraphReader, hasBody: boolean): void {
  const declarator = functionDeclarator(node.childForFieldName("declarator"));
  const inner = declarator?.childForFieldName("declarator");
  const full = inner === null || inner === undefined ? undefined : declaredName(inner, reader);
  if (full === undefined) {
    if (hasBody) reader.scope(node);
    return;
  }
  const parts = full.startsWith("operator")
    ? [full.replace(/\s+/g, "")]
    : full
        .replace(/<[^<>]*>/g, "")
        .split(/\s*::\s*/)
        .filter((part) => part !== "");
  const name = (parts.pop() ?? "").replace(/\s+/g, "");
  const container = parts.length === 0 ? undefined : parts.join(".");
  const isMember = container !== undefined || (reader.frame.holdsMembers && !reader.inModule);
  const isStatic = node.namedChildren.some(
    (child) => child.type === "storage_class_specifier" && reader.textOf(child) === "static",
  );
  const outer = container ?? reader.frame.symbol;
  const declared = outer === "" ? name : `${outer}.${name}`;
  const again = reader.declaredOnly.has(declared);
  if (hasBody) reader.declaredOnly.delete(declared);
  else if (reader.hasSymbol(declared)) return;
  else reader.declaredOnly.add(declared);
  const defined = reader.define({
    kind: isMember ? "method" : "function",
    name,
    node,
    bodyStart: node.childForFieldName("body")?.startIndex ?? node.endIndex,
    type: reader.typeOf(node, "type"),
    exported: isMember || !isStatic,
    merge: again,
    ...(container === undefined ? {} : { container }),
    leaf: !hasBody,
  });
  if (defined === undefined && hasBody) reader.scope(node);
}

function visitDeclaration(node: Node, type: string, reader: GraphReader): void {
  const declarators = node.childrenForFieldName("declarator");
  const member = type === "field_declaration";
  if (member && !reader.frame.holdsMembers) return;
  const isTop = reader.atTop || reader.frame.holdsMembers;
  const chain = reader.typeOf(node, "type");
  const isStatic = node.namedChildren.some(
    (child) => child.type === "storage_class_specifier" && reader.textOf(child) === "static",
  );
  for (const declarator of declarators) {
    if (functionDeclarator(declarator) !== undefined) {
      if (isTop) visitFunction(node, reader, false);
      continue;
    }
    const name = declaredName(declarator, reader);
    if (name === undefined || name === "") continue;
    const value = declarator.type === "init_declarator" ? declarator.childForFieldName("value") : null;
    const known = isAuto(chain) && value !== null ? valueChain(value, reader) : chain;
    // A declaration in a block of the file, such as `#if`, still belongs to the file.
    if (isTop && !name.includes("::")) {
      reader.define({
        kind: member ? "property" : "variable",
        name,
        node,
        bodyStart: value?.startIndex ?? node.endIndex,
        type: known,
        exported: member || !isStatic,
        leaf: true,
        merge: true,
      });
    } else reader.local(name, known);
  }
}

function isAuto(chain: Chain | undefined): boolean {
  return chain?.length === 1 && chain[0] === "auto";
}

function valueChain(value: Node, reader: GraphReader): Chain | undefined {
  const chain = reader.chain(value);
  return chain[0] === "" ? undefined : chain;
}
