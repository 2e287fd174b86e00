// What a language tells the reader, and what the reader keeps while it reads.

import type { SymbolKind } from "../model/graph-model.js";
import type { Chain, ChainGrammar } from "./chains.js";
import type { GraphReader } from "./graph-reader.js";
import type { Node } from "./parser.js";

/** What a language adds to the reader. */
export interface LanguageRules extends ChainGrammar {
  /** Node types that {@link visit} is called for, in the order of the source. */
  readonly nodeTypes: readonly string[];
  /**
   * Node types among them that {@link GraphReader.around} answers with. Asking a node for its parent walks down from the
   * root, which takes long in a file with thousands of statements side by side.
   */
  readonly containers: ReadonlySet<string>;
  /** Words for the current object: `this`, `self`. */
  readonly selfNames: ReadonlySet<string>;
  /** Words for the base class. */
  readonly superNames: ReadonlySet<string>;
  /** Whether a method is called by its bare name inside its class. */
  readonly bareMembers: boolean;
  visit(node: Node, type: string, reader: GraphReader): void;
  /** Called once after the last node. */
  finish?(reader: GraphReader): void;
}

/** A definition that a language found. */
export interface Definition {
  readonly kind: SymbolKind;
  readonly name: string;
  readonly node: Node;
  /** Where the body begins, for the signature; absent: it is looked for. */
  readonly bodyStart?: number;
  readonly exported?: boolean;
  readonly type?: Chain | undefined;
  /** The class it belongs to where it is written outside of it, as a qualified name. */
  readonly container?: string;
  /** The class in this file that it is a member of although a method of it is where it is written. */
  readonly member?: string;
  /** Whether names inside are looked up in it: a class or namespace rather than a function. */
  readonly holdsMembers?: boolean;
  /** Whether `this` inside is its own. */
  readonly ownSelf?: boolean;
  /** Whether a second one of the same name is the same thing: an overload signature, a namespace opened again. */
  readonly merge?: boolean;
  /** Whether it goes on to the end of the file. */
  readonly toEnd?: boolean;
  /** Whether nothing can be inside. */
  readonly leaf?: boolean;
}
