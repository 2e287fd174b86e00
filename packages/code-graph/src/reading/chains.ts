// Represents expressions and types as chains of names: `this.hub.servers()` is `["this", "hub", "servers", "()"]`. An
// empty first name stands for an expression without a name, such as a literal.

import { CALL_STEP } from "../model/graph-model.js";
import type { Node } from "./parser.js";

/** How a grammar writes the parts of chains. Fields are those of tree-sitter. */
export interface ChainGrammar {
  /** Matches the text of a chain without calls; the match is split at `separator`. */
  readonly plain: RegExp;
  readonly separator: RegExp;
  /** Node type → the fields of the left side and of the name on the right. */
  readonly members: Readonly<Record<string, readonly [string, string]>>;
  /** Node type → the field of the callee, or the fields of the receiver and the name if the call itself has both. */
  readonly calls: Readonly<Record<string, string | readonly [string, string]>>;
  /** Node type → the field of the class; `""` means the first named child that is not a keyword. */
  readonly creations: Readonly<Record<string, string>>;
  /** Transparent node types: the first named child stands for them. */
  readonly wrappers: ReadonlySet<string>;
}

const MAX_STEPS = 12;

/** A chain; undefined if it does not end in a name. */
export type Chain = readonly string[];

/** Returns the chain of an expression. An unreadable one has an empty root. */
export function chainOf(node: Node, text: string, grammar: ChainGrammar): Chain {
  const steps: string[] = [];
  let current: Node | null = node;
  while (current !== null && steps.length < MAX_STEPS) {
    const source = text.slice(current.startIndex, current.endIndex);
    if (source.length < 200 && grammar.plain.test(source)) {
      steps.push(
        ...source
          .split(grammar.separator)
          .filter((part) => part !== "")
          .reverse(),
      );
      return steps.reverse();
    }
    const type: string = current.type;
    const member = grammar.members[type];
    if (member !== undefined) {
      const name = current.childForFieldName(member[1]);
      if (name === null) break;
      steps.push(...lastNames(text.slice(name.startIndex, name.endIndex), grammar).reverse());
      current = current.childForFieldName(member[0]);
      continue;
    }
    const call = grammar.calls[type];
    if (call !== undefined) {
      steps.push(CALL_STEP);
      if (typeof call === "string") current = current.childForFieldName(call);
      else {
        const name = current.childForFieldName(call[1]);
        if (name === null) break;
        steps.push(text.slice(name.startIndex, name.endIndex));
        current = current.childForFieldName(call[0]);
        if (current === null) return steps.reverse();
      }
      continue;
    }
    const creation = grammar.creations[type];
    if (creation !== undefined) {
      steps.push(CALL_STEP);
      const made: Node | null = creation === "" ? current.firstNamedChild : current.childForFieldName(creation);
      const name = made === null ? undefined : typeChain(text.slice(made.startIndex, made.endIndex), grammar);
      if (name === undefined) break;
      steps.push(...[...name].reverse());
      return steps.reverse();
    }
    if (!grammar.wrappers.has(type)) break;
    current = current.firstNamedChild;
  }
  steps.push("");
  return steps.reverse();
}

function lastNames(source: string, grammar: ChainGrammar): string[] {
  if (grammar.plain.test(source)) return source.split(grammar.separator).filter((part) => part !== "");
  const bare = source.replace(/<[\s\S]*$/, "").trim();
  return [/[\p{L}\p{N}_$]+$/u.exec(bare)?.[0] ?? bare.slice(0, 100)];
}

/** Types that stand for their content when a method is called on the value. */
const TRANSPARENT = new Set([
  "Promise",
  "PromiseLike",
  "Awaited",
  "Readonly",
  "Partial",
  "Required",
  "NonNullable",
  "Optional",
  "type",
  "Awaitable",
  "Coroutine",
  "Final",
  "ClassVar",
  "Annotated",
  "Box",
  "Rc",
  "Arc",
  "unique_ptr",
  "shared_ptr",
]);

const MODIFIERS = /^(?:readonly|const|struct|mut|dyn)\b|\?$/;

/** Returns the chain of a written type; undefined if it is not a single named type (a union, an array, a function). */
export function typeChain(source: string, grammar: ChainGrammar): Chain | undefined {
  let type = source.trim();
  // Most types are a plain name.
  const bare = type.startsWith(":") ? type.slice(1).trimStart() : type;
  if (bare.length <= 200 && grammar.plain.test(bare) && !MODIFIERS.test(bare)) {
    return bare.split(grammar.separator).filter((part) => part !== "");
  }
  for (let round = 0; round < 6; round++) {
    type = type
      .replace(/^(?::|\?|->|readonly\b|const\b|struct\b|mut\b|dyn\b|&|\*|'\w+\s)\s*/, "")
      .replace(/\s*(?:\*|&|\?)+$/, "")
      .replace(/^(["'])([\w.]+)\1$/, "$2")
      .trim();
    const inUnion = type.split("|").map((part) => part.trim());
    if (inUnion.length > 1) {
      const named = inUnion.filter((part) => !/^(?:undefined|null|None|nil)$/.test(part));
      if (named.length !== 1) return undefined;
      type = named[0] ?? "";
      continue;
    }
    if (type.length > 200) return undefined;
    if (grammar.plain.test(type)) return type.split(grammar.separator).filter((part) => part !== "");
    const generic = /^([\w$.:\\]+?)(?:::)?[<[]([\s\S]*)[>\]]$/.exec(type);
    if (generic === null) continue;
    const outer = generic[1] ?? "";
    const lastName = outer.split(/[.:\\]+/).pop() ?? "";
    type = TRANSPARENT.has(lastName) ? firstArgument(generic[2] ?? "") : outer;
    if (!TRANSPARENT.has(lastName) && (generic[2] ?? "") === "") return undefined;
  }
  return undefined;
}

function firstArgument(args: string): string {
  let depth = 0;
  for (let index = 0; index < args.length; index++) {
    const char = args[index];
    if (char === "<" || char === "[" || char === "(") depth++;
    else if (char === ">" || char === "]" || char === ")") depth--;
    else if (char === "," && depth === 0) return args.slice(0, index);
  }
  return args;
}
