// Turns the nodes of one syntax tree into a FileGraph. A language says which nodes matter and what they mean. This
// class tracks scopes, so a name only counts as a symbol or import if nothing nearer has the same name.

import {
  CALL_STEP,
  type FileEdge,
  type GraphExport,
  type GraphImport,
  type GraphLanguage,
  type GraphSymbol,
  type Incomplete,
  type Reference,
  type Relation,
  SUPER_STEP,
} from "../model/graph-model.js";
import { fileKey, symbolKey } from "../model/node-keys.js";
import { type Chain, chainOf, typeChain } from "./chains.js";
import {
  type FileNames,
  type Frame,
  isNamespace,
  isPrimitive,
  reduceReference,
  resolveChain,
  spell,
} from "./code-references.js";
import type { Definition, LanguageRules } from "./language-rules.js";
import type { Node } from "./parser.js";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface PendingEdge {
  readonly from: string;
  readonly relation: Relation;
  readonly line: number;
  readonly chain: Chain;
  readonly frame: Frame;
  readonly onlyKnown?: boolean;
}

const MAX_DEPTH = 24;
const MAX_SIGNATURE = 240;
const MAX_SYMBOLS = 50_000;
const MAX_EDGES = 100_000;

/** Collects the graph of one file. Can be used only once. */
export class GraphReader {
  readonly path: string;
  readonly text: string;
  readonly language: GraphLanguage;
  readonly imports: GraphImport[] = [];
  readonly exports: GraphExport[] = [];
  readonly namespaces = new Set<string>();
  /** Functions that have only been declared so far (C, C++). */
  readonly declaredOnly = new Set<string>();
  readonly #open: { readonly node: Node; readonly type: string; readonly end: number }[] = [];
  frame: Frame;
  incomplete: Incomplete | undefined;
  readonly #rules: LanguageRules;
  readonly #symbols = new Map<string, Mutable<GraphSymbol>>();
  readonly #pendingTypes = new Map<string, { chain: Chain; frame: Frame }>();
  readonly #pending: PendingEdge[] = [];
  readonly #edges: FileEdge[] = [];
  readonly #names: FileNames;
  readonly #dottedImports: { readonly names: readonly string[]; readonly local: string }[] = [];

  constructor(
    source: { readonly path: string; readonly text: string; readonly language: GraphLanguage },
    rules: LanguageRules,
  ) {
    this.path = source.path;
    this.text = source.text;
    this.language = source.language;
    this.#rules = rules;
    this.#names = { rules, symbols: this.#symbols, dottedImports: this.#dottedImports };
    this.frame = {
      parent: undefined,
      end: Number.POSITIVE_INFINITY,
      symbol: "",
      self: undefined,
      holdsMembers: false,
      bindings: new Map(),
      depth: 0,
    };
  }

  /** Reads the tree. Stops at `deadline` (in `performance.now()` milliseconds) and keeps what it has found. */
  read(root: Node, deadline: number): void {
    let count = 0;
    for (const node of root.descendantsOfType(this.#rules.nodeTypes as string[])) {
      if ((++count & 255) === 0 && performance.now() > deadline) {
        this.#stop("time", "Reading the syntax tree took too long; the rest of the file is missing.");
        break;
      }
      while (node.startIndex >= this.frame.end && this.frame.parent !== undefined) this.frame = this.frame.parent;
      while (this.#open.length > 0 && node.startIndex >= (this.#open.at(-1)?.end ?? 0)) this.#open.pop();
      const type = node.type;
      this.#rules.visit(node, type, this);
      if (this.#rules.containers.has(type)) this.#open.push({ node, type, end: node.endIndex });
      if (this.#symbols.size > MAX_SYMBOLS || this.#pending.length > MAX_EDGES) {
        this.#stop(
          "count",
          `The file has more than ${MAX_SYMBOLS} symbols or ${MAX_EDGES} calls; the rest is missing.`,
        );
        break;
      }
    }
    this.#rules.finish?.(this);
    this.#settle();
  }

  get symbols(): GraphSymbol[] {
    return [...this.#symbols.values()];
  }

  get edges(): FileEdge[] {
    return this.#edges;
  }

  /** Returns the container around the current node, or `level` containers further out. */
  around(level = 0): { readonly node: Node; readonly type: string } | undefined {
    return this.#open[this.#open.length - 1 - level];
  }

  textOf(node: Node): string {
    return this.text.slice(node.startIndex, node.endIndex);
  }

  field(node: Node, name: string): string | undefined {
    const child = node.childForFieldName(name);
    return child === null ? undefined : this.text.slice(child.startIndex, child.endIndex);
  }

  chain(node: Node): Chain {
    return chainOf(node, this.text, this.#rules);
  }

  /** Returns the chain of the type in a field. */
  typeOf(node: Node, field: string): Chain | undefined {
    const source = this.field(node, field);
    return source === undefined ? undefined : typeChain(source, this.#rules);
  }

  typeFrom(source: string): Chain | undefined {
    return typeChain(source, this.#rules);
  }

  /** Adds a symbol and makes it the frame for everything inside. Returns its qualified name. */
  define(definition: Definition): string | undefined {
    const { name } = definition;
    if (name === "" || name.length > 200 || /[\s#]/.test(name.replace(/^#/, ""))) return undefined;
    const clean = name.replace(/^#/, "");
    if (this.frame.depth >= MAX_DEPTH) {
      this.#stop("depth", `Definitions nested more than ${MAX_DEPTH} deep count as part of the enclosing one.`);
      return undefined;
    }
    const outer = definition.container ?? definition.member ?? this.frame.symbol;
    const plain = outer === "" ? clean : `${outer}.${clean}`;
    const existing = this.#symbols.get(plain);
    let qualifiedName = plain;
    if (existing !== undefined && definition.merge !== true) {
      let number = 2;
      while (this.#symbols.has(`${plain}~${number}`)) number++;
      qualifiedName = `${plain}~${number}`;
    }
    if (existing === undefined || definition.merge !== true) this.#add(definition, qualifiedName, outer);
    else this.#extend(existing, definition);
    if (!this.frame.bindings.has(clean) && definition.container === undefined && definition.member === undefined) {
      this.frame.bindings.set(clean, { frame: this.frame, symbol: qualifiedName });
    }
    if (definition.type !== undefined && !this.#pendingTypes.has(qualifiedName)) {
      this.#pendingTypes.set(qualifiedName, { chain: definition.type, frame: this.frame });
    }
    if (definition.leaf !== true) this.#enter(definition, qualifiedName);
    return qualifiedName;
  }

  #add(definition: Definition, qualifiedName: string, outer: string): void {
    const { node } = definition;
    const start = node.startPosition;
    const end = this.#endOf(node);
    const signature = this.#signature(definition);
    const key = symbolKey(this.path, qualifiedName);
    this.#symbols.set(qualifiedName, {
      key,
      kind: definition.kind,
      name: definition.name.replace(/^#/, ""),
      qualifiedName,
      startLine: start.row + 1,
      startColumn: start.column + 1,
      endLine: end.line,
      endColumn: end.column,
      ...(signature === "" ? {} : { signature }),
      ...(definition.exported === undefined ? {} : { exported: definition.exported }),
    });
    const line = start.row + 1;
    this.#edges.push({ from: fileKey(this.path), to: key, relation: "DEFINES", line });
    if (definition.container !== undefined) {
      this.#pending.push({ from: key, relation: "CONTAINS", line, chain: outer.split("."), frame: this.#rootFrame() });
    } else if (outer !== "") {
      this.#edges.push({ from: symbolKey(this.path, outer), to: key, relation: "CONTAINS", line });
    }
  }

  /** Returns the end of a node. If the node includes its line break, the end is before it. */
  #endOf(node: Node): { line: number; column: number } {
    const { row, column } = node.endPosition;
    const end = node.endIndex;
    if (column > 0 || end <= node.startIndex || this.text[end - 1] !== "\n")
      return { line: row + 1, column: column + 1 };
    return { line: row, column: end - 1 - (this.text.lastIndexOf("\n", end - 2) + 1) + 1 };
  }

  /** Merges another definition of the same name into its symbol. */
  #extend(symbol: Mutable<GraphSymbol>, definition: Definition): void {
    const end = this.#endOf(definition.node);
    if (end.line > symbol.endLine) {
      symbol.endLine = end.line;
      symbol.endColumn = end.column;
    }
    if (definition.exported === true) symbol.exported = true;
  }

  #enter(definition: Definition, symbol: string): void {
    const holdsMembers = definition.holdsMembers === true;
    const self = holdsMembers
      ? symbol
      : definition.container !== undefined
        ? definition.container
        : definition.ownSelf === true && !this.frame.holdsMembers
          ? undefined
          : this.frame.self;
    this.frame = {
      parent: this.frame,
      end: definition.toEnd === true ? Number.POSITIVE_INFINITY : definition.node.endIndex,
      symbol,
      self,
      holdsMembers,
      bindings: new Map(),
      depth: this.frame.depth + 1,
    };
  }

  /** Opens a scope with local names that is not a symbol, such as a callback or a block. */
  scope(node: Node, options: { readonly ownSelf?: boolean; readonly container?: string } = {}): void {
    this.frame = {
      parent: this.frame,
      end: node.endIndex,
      symbol: options.container ?? this.frame.symbol,
      self: options.container ?? (options.ownSelf === true ? undefined : this.frame.self),
      holdsMembers: options.container !== undefined,
      bindings: new Map(),
      depth: this.frame.depth,
    };
  }

  /** Declares a variable or parameter. `chain` is its type or, with `isValue`, the value it is an alias of. */
  local(name: string, chain?: Chain, isValue = false): void {
    const existing = this.frame.bindings.get(name);
    if (existing === undefined) this.frame.bindings.set(name, { frame: this.frame, chain, isValue });
    else if (existing.symbol === undefined && existing.chain?.join(".") !== chain?.join("."))
      existing.chain = undefined;
  }

  /** Declares a name that refers to a symbol of this file in this scope, such as `self` in a Python method. */
  localSymbol(name: string, symbol: string): void {
    this.frame.bindings.set(name, { frame: this.frame, symbol });
  }

  /** Declares a name that refers to the base classes of a class in this file. */
  localSuper(name: string, owner: string): void {
    this.frame.bindings.set(name, { frame: this.frame, symbol: owner, steps: [SUPER_STEP] });
  }

  /** Returns the symbol a plain name refers to here, if any. */
  symbolBehind(name: string): string | undefined {
    for (let frame: Frame | undefined = this.frame; frame !== undefined; frame = frame.parent) {
      if (frame.holdsMembers) continue;
      const binding = frame.bindings.get(name);
      if (binding !== undefined) return binding.symbol;
    }
    return undefined;
  }

  /** Declares all identifiers of a pattern as locals. */
  localsIn(pattern: Node, types: readonly string[]): void {
    for (const name of pattern.descendantsOfType(types as string[])) this.local(this.textOf(name));
  }

  /** Adds an import. Its names are bound in the file, except for re-exports. */
  import(entry: GraphImport): void {
    this.imports.push(entry);
    if (entry.kind === "reexport") return;
    // Python and JavaScript also import inside functions. The name is bound at file level, so it is found from
    // everywhere.
    const frame = this.#rootFrame();
    for (const { local } of entry.names) {
      if (local === "*" || local === "") continue;
      if (local.includes(".")) this.#dottedImports.push({ names: local.split("."), local });
      else if (!frame.bindings.has(local)) frame.bindings.set(local, { frame, imported: true });
    }
  }

  /** Adds a call of whatever `callee` refers to. */
  call(callee: Chain, node: Node): void {
    this.relate("CALLS", callee, node);
  }

  /** Adds a call if the name turns out to be a symbol of this file. */
  maybeCall(callee: Chain, node: Node): void {
    this.#pending.push({
      from: this.#keyOf(this.frame.symbol),
      relation: "CALLS",
      line: node.startPosition.row + 1,
      chain: callee,
      frame: this.frame,
      onlyKnown: true,
    });
  }

  /** Adds a call by a path that local variables cannot shadow (`net::listen` in Rust). */
  callItem(callee: Chain, node: Node): void {
    const from = this.frame;
    if (!this.#rules.selfNames.has(callee[0] ?? "")) {
      while (this.frame.parent !== undefined && !this.inModule) this.frame = this.frame.parent;
    }
    this.relate("CALLS", callee, node, from.symbol);
    this.frame = from;
  }

  #keyOf(symbol: string): string {
    return symbol === "" ? fileKey(this.path) : symbolKey(this.path, symbol);
  }

  relate(relation: Relation, chain: Chain, node: Node, from: string = this.frame.symbol): void {
    if (chain.length === 0 || chain[chain.length - 1] === "" || chain[chain.length - 1] === CALL_STEP) return;
    this.#pending.push({
      from: this.#keyOf(from),
      relation,
      line: node.startPosition.row + 1,
      chain,
      frame: this.frame,
    });
  }

  hasSymbol(qualifiedName: string): boolean {
    return this.#symbols.has(qualifiedName);
  }

  /** Marks a symbol as usable from other files. */
  markExported(qualifiedName: string): void {
    const symbol = this.#symbols.get(qualifiedName);
    if (symbol !== undefined) symbol.exported = true;
  }

  /** Whether the current position is at the top level or directly in a member container. */
  get atTop(): boolean {
    return this.frame.parent === undefined;
  }

  /** Whether the current position is directly in a namespace or module. */
  get inModule(): boolean {
    return this.frame.holdsMembers && isNamespace(this.frame, this.#names);
  }

  /** Returns `rest` as seen from `ups` modules further out; outside the file it starts with `super`. */
  pathUp(ups: number, rest: Chain): Chain {
    const modules: string[] = [];
    for (let frame: Frame | undefined = this.frame; frame !== undefined; frame = frame.parent) {
      if (frame.holdsMembers && isNamespace(frame, this.#names)) modules.push(frame.symbol);
    }
    if (ups > modules.length) return ["super", ...rest];
    const module = modules[ups];
    return module === undefined ? rest : [...module.split("."), ...rest];
  }

  #rootFrame(): Frame {
    let frame = this.frame;
    while (frame.parent !== undefined) frame = frame.parent;
    return frame;
  }

  #stop(reason: Incomplete["reason"], message: string): void {
    this.incomplete ??= { reason, message };
  }

  #signature(definition: Definition): string {
    const { node } = definition;
    const from = node.startIndex;
    const body = definition.bodyStart ?? node.childForFieldName("body")?.startIndex ?? node.endIndex;
    // Signatures can be long, but the important part is at the front.
    const raw = this.text.slice(from, Math.min(Math.max(body, from), from + 4 * MAX_SIGNATURE));
    const line = raw
      .replace(/\s+/g, " ")
      .replace(/\s*(?:=>|[{=:])\s*$/, "")
      .trim();
    return line.length > MAX_SIGNATURE ? `${line.slice(0, MAX_SIGNATURE - 1)}…` : line;
  }

  /** Resolves what each chain refers to once all names are known. */
  #settle(): void {
    for (const [name, { chain, frame }] of this.#pendingTypes) {
      const symbol = this.#symbols.get(name);
      const type = resolveChain(chain, frame, this.#names, { asType: true });
      if (symbol !== undefined && type.root !== "unknown" && !isPrimitive(type)) symbol.type = type;
    }
    this.#settleMembers();
    const seen = new Set<string>();
    this.#pending.sort((a, b) => a.line - b.line);
    for (const { from, relation, line, chain, frame, onlyKnown } of this.#pending) {
      const target = reduceReference(resolveChain(chain, frame, this.#names), this.#symbols);
      if (onlyKnown === true && target.root !== "symbol") continue;
      const name = spell(chain);
      const done = target.root === "symbol" && target.steps.length === 0;
      const to = done ? symbolKey(this.path, target.of) : undefined;
      const identity = `${from}\n${relation}\n${to ?? `${target.root} ${target.of} ${target.steps.join(".")} ${name}`}`;
      if (seen.has(identity)) continue;
      seen.add(identity);
      // A member written outside its class names the class, so the edge is found in reverse.
      if (relation === "CONTAINS") {
        if (to !== undefined) this.#edges.push({ from: to, to: from, relation, line });
        else this.#edges.push({ from, relation, line, name, target });
      } else this.#edges.push(to === undefined ? { from, relation, line, name, target } : { from, to, relation, line });
    }
  }

  /** Makes members of a class that is not in this file refer to the class by name. */
  #settleMembers(): void {
    for (const [index, edge] of this.#edges.entries()) {
      if (edge.relation !== "CONTAINS" || edge.to === undefined) continue;
      const outer = edge.from.slice(edge.from.lastIndexOf("#") + 1);
      if (this.#symbols.has(outer)) continue;
      const [of, ...steps] = outer.split(".");
      const target: Reference = { root: "global", of: of ?? "", steps };
      this.#edges[index] = { from: edge.to, relation: "CONTAINS", line: edge.line, name: outer, target };
    }
  }
}
