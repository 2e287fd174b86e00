// The rules a language gives the reader, and the state the reader tracks.

import type { SymbolKind } from "../model/graph-model.js";
import type { Chain, ChainGrammar } from "./chains.js";
import type { GraphReader } from "./graph-reader.js";
import type { Node } from "./parser.js";

export interface LanguageRules extends ChainGrammar {
  /** Node types that {@link visit} is called for, in source order. */
  readonly nodeTypes: readonly string[];
  /**
   * Node types that {@link GraphReader.around} returns. Asking a node for its parent would walk down from the root,
   * which is slow in a file with thousands of sibling statements.
   */
  readonly containers: ReadonlySet<string>;
  /** Words for the current object: `this`, `self`. */
  readonly selfNames: ReadonlySet<string>;
  /** Words for the base class. */
  readonly superNames: ReadonlySet<string>;
  /** Whether methods are called by their bare name inside the class. */
  readonly bareMembers: boolean;
  visit(node: Node, type: string, reader: GraphReader): void;
  /** Called once after the last node. */
  finish?(reader: GraphReader): void;
}

export interface Definition {
  readonly kind: SymbolKind;
  readonly name: string;
  readonly node: Node;
  /** Where the body starts, used to cut the signature; searched for if absent. */
  readonly bodyStart?: number;
  readonly exported?: boolean;
  readonly type?: Chain;
  /** The qualified name of the class, if the symbol is written outside it. */
  readonly container?: string;
  /** The class in this file that the symbol is a member of, even though it is written inside a method. */
  readonly member?: string;
  /** Whether names inside the symbol are looked up in it: true for a class or namespace, not for a function. */
  readonly holdsMembers?: boolean;
  /** Whether the symbol has its own `this`. */
  readonly ownSelf?: boolean;
  /** Whether a second definition of the same name is the same symbol, such as an overload or a reopened namespace. */
  readonly merge?: boolean;
  /** Whether the symbol extends to the end of the file. */
  readonly toEnd?: boolean;
  /** Whether the symbol cannot contain anything. */
  readonly leaf?: boolean;
}
