// Syntax tree nodes, read directly from the parser's memory. The library makes five calls to write a node before each
// query and as many to read one back, and searches lists for names. With thousands of nodes per file, that took a good
// part of the time. The layout is that of web-tree-sitter's own `Node`, whose version is pinned; a test compares the
// two node by node. The types are written out here, because those of the library do not compile without more packages,
// and the types of a store lead to these.

interface Position {
  row: number;
  column: number;
}

/** The parts of a node that language rules use. The library's own nodes have all of them too. */
export interface Node {
  id: number;
  startIndex: number;
  endIndex: number;
  readonly startPosition: Position;
  readonly endPosition: Position;
  readonly type: string;
  readonly isNamed: boolean;
  readonly hasError: boolean;
  readonly children: Node[];
  readonly namedChildren: Node[];
  readonly namedChildCount: number;
  readonly firstNamedChild: Node | null;
  readonly lastNamedChild: Node | null;
  readonly parent: Node | null;
  childForFieldName(name: string): Node | null;
  childrenForFieldName(name: string): Node[];
  descendantsOfType(types: string | string[]): Node[];
}

/** The part of the parser's WebAssembly module used here. `tree` is an address. */
interface Memory {
  /** Replaced when the memory grows. */
  readonly HEAP32: Int32Array;
  _malloc(bytes: number): number;
  _free(address: number): void;
  _ts_init(): number;
  _ts_tree_root_node_wasm(tree: number): void;
  _ts_node_symbol_wasm(tree: number): number;
  _ts_node_end_index_wasm(tree: number): number;
  _ts_node_end_point_wasm(tree: number): void;
  _ts_node_is_named_wasm(tree: number): number;
  _ts_node_has_error_wasm(tree: number): number;
  _ts_node_parent_wasm(tree: number): void;
  _ts_node_children_wasm(tree: number): void;
  _ts_node_named_children_wasm(tree: number): void;
  _ts_node_named_child_count_wasm(tree: number): number;
  _ts_node_named_child_wasm(tree: number, index: number): void;
  _ts_node_child_by_field_id_wasm(tree: number, field: number): void;
  _ts_node_children_by_field_id_wasm(tree: number, field: number): void;
  _ts_node_descendants_of_type_wasm(
    tree: number,
    symbols: number,
    count: number,
    startRow: number,
    startColumn: number,
    endRow: number,
    endColumn: number,
  ): void;
}

const NEEDED: readonly (keyof Memory)[] = [
  "HEAP32",
  "_malloc",
  "_free",
  "_ts_init",
  "_ts_tree_root_node_wasm",
  "_ts_node_symbol_wasm",
  "_ts_node_end_index_wasm",
  "_ts_node_end_point_wasm",
  "_ts_node_is_named_wasm",
  "_ts_node_has_error_wasm",
  "_ts_node_parent_wasm",
  "_ts_node_children_wasm",
  "_ts_node_named_children_wasm",
  "_ts_node_named_child_count_wasm",
  "_ts_node_named_child_wasm",
  "_ts_node_child_by_field_id_wasm",
  "_ts_node_children_by_field_id_wasm",
  "_ts_node_descendants_of_type_wasm",
];
/** In 32-bit words: id, index, row, column, context. */
const NODE_WORDS = 5;

/** A parser's memory, and where the library exchanges nodes in it. */
export interface NodeMemory {
  readonly memory: Memory;
  /** In 32-bit words. */
  readonly transfer: number;
}

/**
 * Returns the memory of the module the library was started with; undefined if something else started the library first,
 * in which case only the library's own nodes are available.
 */
export function nodeMemory(module: object): NodeMemory | undefined {
  if (NEEDED.some((name) => !(name in module))) return undefined;
  // The module has each of these members.
  const memory = module as Memory;
  return { memory, transfer: memory._ts_init() >> 2 };
}

/** Names that are the same for all trees of a language. */
interface Names {
  readonly types: readonly string[];
  readonly fields: ReadonlyMap<string, number>;
  readonly symbols: WeakMap<readonly string[], Int32Array>;
}

/** The parts of the library's tree used here. */
export interface SyntaxTree {
  readonly rootNode: Node;
  readonly language: Grammar;
  delete(): void;
}

interface Grammar {
  readonly types: readonly string[];
  readonly fields: readonly (string | null)[];
}

const known = new WeakMap<Grammar, Names>();

function namesOf(language: Grammar): Names {
  let names = known.get(language);
  if (names === undefined) {
    const fields = new Map<string, number>();
    // Keep the first of several with the same name, as the library does.
    for (const [id, name] of language.fields.entries()) if (name && !fields.has(name)) fields.set(name, id);
    names = { types: language.types, fields, symbols: new WeakMap() };
    known.set(language, names);
  }
  return names;
}

function symbolsOf(names: Names, types: readonly string[]): Int32Array {
  let symbols = names.symbols.get(types);
  if (symbols === undefined) {
    const wanted = new Set(types);
    symbols = Int32Array.from([...names.types.keys()].filter((id) => wanted.has(names.types[id] ?? "")));
    names.symbols.set(types, symbols);
  }
  return symbols;
}

/** Returns the root of a tree. No node can be used after the tree is deleted. */
export function rootOf(tree: SyntaxTree, { memory, transfer }: NodeMemory): Node {
  // The library keeps the tree's address there.
  const address = (tree as unknown as { readonly 0: number })[0];
  memory._ts_tree_root_node_wasm(address);
  return new MemoryNode({ memory, transfer, tree: address, names: namesOf(tree.language) }, transfer);
}

interface Place extends NodeMemory {
  readonly tree: number;
  readonly names: Names;
}

class MemoryNode implements Node {
  readonly id: number;
  readonly startIndex: number;
  readonly #place: Place;
  readonly #row: number;
  readonly #column: number;
  readonly #context: number;
  #type: string | undefined;
  #end = -1;

  /** Reads the node at `at`, in words. */
  constructor(place: Place, at: number) {
    const heap = place.memory.HEAP32;
    this.#place = place;
    // `at` and the following words are inside the memory.
    this.id = heap[at] as number;
    this.startIndex = heap[at + 1] as number;
    this.#row = heap[at + 2] as number;
    this.#column = heap[at + 3] as number;
    this.#context = heap[at + 4] as number;
  }

  get startPosition(): { row: number; column: number } {
    return { row: this.#row, column: this.#column };
  }

  get type(): string {
    if (this.#type === undefined) {
      const { names, tree } = this.#place;
      this.#type = names.types[this.#hand()._ts_node_symbol_wasm(tree)] || "ERROR";
    }
    return this.#type;
  }

  get endIndex(): number {
    if (this.#end < 0) this.#end = this.#hand()._ts_node_end_index_wasm(this.#place.tree);
    return this.#end;
  }

  get endPosition(): { row: number; column: number } {
    const memory = this.#hand();
    memory._ts_node_end_point_wasm(this.#place.tree);
    const { transfer } = this.#place;
    return { row: memory.HEAP32[transfer] as number, column: memory.HEAP32[transfer + 1] as number };
  }

  get isNamed(): boolean {
    return this.#hand()._ts_node_is_named_wasm(this.#place.tree) === 1;
  }

  get hasError(): boolean {
    return this.#hand()._ts_node_has_error_wasm(this.#place.tree) === 1;
  }

  get parent(): Node | null {
    this.#hand()._ts_node_parent_wasm(this.#place.tree);
    return this.#one();
  }

  get children(): Node[] {
    this.#hand()._ts_node_children_wasm(this.#place.tree);
    return this.#list();
  }

  get namedChildren(): Node[] {
    this.#hand()._ts_node_named_children_wasm(this.#place.tree);
    return this.#list();
  }

  get namedChildCount(): number {
    return this.#hand()._ts_node_named_child_count_wasm(this.#place.tree);
  }

  get firstNamedChild(): Node | null {
    return this.#namedChild(0);
  }

  get lastNamedChild(): Node | null {
    return this.#namedChild(this.namedChildCount - 1);
  }

  #namedChild(index: number): Node | null {
    this.#hand()._ts_node_named_child_wasm(this.#place.tree, index);
    return this.#one();
  }

  childForFieldName(name: string): Node | null {
    const field = this.#place.names.fields.get(name);
    if (field === undefined) return null;
    this.#hand()._ts_node_child_by_field_id_wasm(this.#place.tree, field);
    return this.#one();
  }

  childrenForFieldName(name: string): Node[] {
    const field = this.#place.names.fields.get(name);
    if (field === undefined) return [];
    this.#hand()._ts_node_children_by_field_id_wasm(this.#place.tree, field);
    return this.#list();
  }

  descendantsOfType(types: string | string[]): Node[] {
    const { names, tree } = this.#place;
    const symbols = symbolsOf(names, typeof types === "string" ? [types] : types);
    const memory = this.#hand();
    const address = memory._malloc(symbols.byteLength);
    memory.HEAP32.set(symbols, address >> 2);
    memory._ts_node_descendants_of_type_wasm(tree, address, symbols.length, 0, 0, 0, 0);
    const found = this.#list();
    memory._free(address);
    return found;
  }

  /** Writes the node where the module expects it. */
  #hand(): Memory {
    const { memory, transfer } = this.#place;
    const heap = memory.HEAP32;
    heap[transfer] = this.id;
    heap[transfer + 1] = this.startIndex;
    heap[transfer + 2] = this.#row;
    heap[transfer + 3] = this.#column;
    heap[transfer + 4] = this.#context;
    return memory;
  }

  /** Reads the node the module returned. */
  #one(): Node | null {
    const { memory, transfer } = this.#place;
    return memory.HEAP32[transfer] === 0 ? null : new MemoryNode(this.#place, transfer);
  }

  /** Reads the nodes the module returned, which have their own piece of memory. */
  #list(): Node[] {
    const { memory, transfer } = this.#place;
    const count = memory.HEAP32[transfer] as number;
    const address = memory.HEAP32[transfer + 1] as number;
    const nodes: Node[] = [];
    for (let number = 0; number < count; number++) {
      nodes.push(new MemoryNode(this.#place, (address >> 2) + number * NODE_WORDS));
    }
    if (count > 0) memory._free(address);
    return nodes;
  }
}
