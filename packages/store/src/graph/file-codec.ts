// How a document's part of the graph is stored: JSON in a zstd frame, in arrays instead of objects. The document itself is
// node 0, and its symbols are nodes 1 and up, so no key of its own is written out. FORMAT.md describes both forms.
import { compress, decompress } from "@cloudpss/zstd/wasm";
import {
  type FileEdge,
  type FileFacts,
  fileKey,
  type GraphEdge,
  IMPORT_KINDS,
  NODE_TYPES,
  nameOf,
  REFERENCE_ROOTS,
  RELATIONS,
  type Reference,
  type SymbolFacts,
  type SymbolKind,
  symbolKey,
} from "@trunkline/code-graph";
import { TrunklineError } from "@trunkline/core";
import { expandedSize } from "../engine/content/zstd-frame.js";

/** What resolution found out about a document. */
export interface FileLinks {
  readonly edges: readonly GraphEdge[];
  /** The lookup keys that the document asked for. */
  readonly dependsOn: readonly string[];
}

type PackedReference = readonly [root: number, of: string, ...steps: string[]];
type PackedSymbol = readonly [
  kind: number,
  qualifiedName: string,
  exported: number,
  name: string | 0,
  type: PackedReference | 0,
];
/** An edge ends at a node (a number, or the key of another file's node), or at a name and a reference. */
type PackedEdge =
  | readonly [from: number | string, relation: number, line: number, to: number | string]
  | readonly [from: number | string, relation: number, line: number, name: string, ...target: PackedReference];
type PackedImport = readonly [specifier: string, kind: number, line: number, relative: number, ...names: string[]];
type PackedLink = readonly [target: string, line: number, anchor?: string];
type PackedFacts = readonly [
  language: FileFacts["language"] | 0,
  symbols: readonly PackedSymbol[],
  edges: readonly PackedEdge[],
  imports: readonly PackedImport[],
  exports: readonly string[],
  links: readonly PackedLink[],
  namespaces: readonly string[],
  mentions: readonly string[],
  config: FileFacts["config"] | 0,
];
/** Edges column by column. A negative node is a position in `others`, counted from -1. */
type PackedLinks = readonly [
  from: readonly number[],
  relation: readonly number[],
  line: readonly number[],
  to: readonly number[],
  others: readonly string[],
  dependsOn: readonly string[],
];

const EXPORTED = [undefined, true, false] as const;

export function encodeFacts(facts: FileFacts): Uint8Array {
  const numbers = ownNumbers(facts);
  const node = (key: string) => numbers.get(key) ?? key;
  const packed: PackedFacts = [
    facts.language ?? 0,
    facts.symbols.map(({ kind, qualifiedName, exported, name, type }) => [
      NODE_TYPES.indexOf(kind),
      qualifiedName,
      EXPORTED.indexOf(exported),
      name === nameOf(qualifiedName) ? 0 : name,
      type === undefined ? 0 : packReference(type),
    ]),
    facts.edges.map(({ from, relation, line, to, name = "", target = UNKNOWN }) => {
      const start = [node(from), RELATIONS.indexOf(relation), line] as const;
      return to === undefined ? [...start, name, ...packReference(target)] : [...start, node(to)];
    }),
    facts.imports.map(({ specifier, kind, line, relative, names }) => [
      specifier,
      IMPORT_KINDS.indexOf(kind),
      line,
      relative ? 1 : 0,
      ...names.flatMap(({ imported, local }) => [imported, local]),
    ]),
    facts.exports.flatMap(({ name, local }) => [name, local]),
    facts.links.map(({ target, line, anchor }) => (anchor === undefined ? [target, line] : [target, line, anchor])),
    facts.namespaces,
    facts.mentions,
    facts.config ?? 0,
  ];
  return pack(packed);
}

/** Decodes only the symbols, which is all that a query needs. */
export function decodeSymbols(bytes: Uint8Array, path: string): SymbolFacts[] {
  // Written by encodeFacts.
  const [, symbols] = unpack(bytes) as PackedFacts;
  return symbols.map((symbol) => unpackSymbol(symbol, path));
}

export function decodeFacts(bytes: Uint8Array, path: string): FileFacts {
  // Written by encodeFacts.
  const packed = unpack(bytes) as PackedFacts;
  const [language, symbols, edges, imports, exports, links, namespaces, mentions, config] = packed;
  const own = symbols.map((symbol) => unpackSymbol(symbol, path));
  const key = keysOf(path, own);
  return {
    path,
    language: language === 0 ? undefined : language,
    symbols: own,
    edges: edges.map((edge) => unpackEdge(edge, key)),
    imports: imports.map(([specifier, kind, line, relative, ...names]) => ({
      specifier,
      kind: IMPORT_KINDS[kind] ?? "import",
      line,
      names: pairsOf(names).map(([imported, local]) => ({ imported, local })),
      ...(relative === 1 ? { relative: true } : {}),
    })),
    exports: pairsOf(exports).map(([name, local]) => ({ name, local })),
    links: links.map(([target, line, anchor]) => ({ target, line, ...(anchor === undefined ? {} : { anchor }) })),
    namespaces,
    mentions,
    ...(config === 0 || config === undefined ? {} : { config }),
  };
}

export function encodeLinks({ edges, dependsOn }: FileLinks, facts: FileFacts): Uint8Array {
  const numbers = ownNumbers(facts);
  const others: string[] = [];
  const node = (key: string): number => {
    const known = numbers.get(key);
    if (known !== undefined) return known;
    others.push(key);
    numbers.set(key, -others.length);
    return -others.length;
  };
  let before = 0;
  const packed: PackedLinks = [
    edges.map(({ from }) => node(from)),
    edges.map(({ relation, resolved }) => RELATIONS.indexOf(relation) * 2 + (resolved ? 1 : 0)),
    edges.map(({ line = 0 }) => {
      const distance = line - before;
      before = line;
      return distance;
    }),
    edges.map(({ to }) => node(to)),
    others,
    dependsOn,
  ];
  return pack(packed);
}

export function decodeLinks(bytes: Uint8Array, facts: FileFacts): FileLinks {
  return readLinks(bytes, facts).all();
}

/** The edges of one document, of which a query decodes only those of the node it asks for. */
export interface LinkReader {
  all(): FileLinks;
  /** Returns the edges from a node, or to it with `reverse`, with their positions in the document. */
  of(key: string, reverse: boolean): PlacedEdge[];
}

export interface PlacedEdge {
  readonly edge: GraphEdge;
  readonly position: number;
}

export function readLinks(bytes: Uint8Array, file: Pick<FileFacts, "path" | "symbols">): LinkReader {
  // Written by encodeLinks.
  const [from, relations, distances, to, others, dependsOn] = unpack(bytes) as PackedLinks;
  const own = keysOf(file.path, file.symbols);
  const key = (node: number) => (node < 0 ? (others[-1 - node] ?? "") : own(node));
  let numbers: Map<string, number> | undefined;
  let before = 0;
  const lines = distances.map((distance) => {
    before += distance;
    return before;
  });
  const edgeAt = (at: number): GraphEdge => {
    const [number = 0, line = 0] = [relations[at], lines[at]];
    return {
      from: key(from[at] ?? 0),
      to: key(to[at] ?? 0),
      relation: RELATIONS[number >> 1] ?? "REFERENCES",
      ...(line === 0 ? {} : { line }),
      resolved: (number & 1) === 1,
    };
  };
  return {
    all: () => ({ edges: relations.map((_, at) => edgeAt(at)), dependsOn }),
    of(wanted, reverse) {
      const other = others.indexOf(wanted);
      if (other === -1) numbers ??= ownNumbers(file);
      const node = other === -1 ? numbers?.get(wanted) : -1 - other;
      const found: PlacedEdge[] = [];
      if (node === undefined) return found;
      const ends = reverse ? to : from;
      for (let at = ends.indexOf(node); at !== -1; at = ends.indexOf(node, at + 1)) {
        found.push({ edge: edgeAt(at), position: at });
      }
      return found;
    },
  };
}

const UNKNOWN: Reference = { root: "unknown", of: "", steps: [] };

function packReference({ root, of, steps }: Reference): PackedReference {
  return [REFERENCE_ROOTS.indexOf(root), of, ...steps];
}

function unpackReference([root, of, ...steps]: PackedReference): Reference {
  return { root: REFERENCE_ROOTS[root] ?? "unknown", of, steps };
}

function unpackSymbol([kind, qualifiedName, exported, name, type]: PackedSymbol, path: string): SymbolFacts {
  const isExported = EXPORTED[exported];
  return {
    key: symbolKey(path, qualifiedName),
    // Only kinds of symbols are written.
    kind: (NODE_TYPES[kind] ?? "variable") as SymbolKind,
    name: name === 0 ? nameOf(qualifiedName) : name,
    qualifiedName,
    ...(isExported === undefined ? {} : { exported: isExported }),
    ...(type === 0 ? {} : { type: unpackReference(type) }),
  };
}

function unpackEdge(edge: PackedEdge, key: (node: number | string) => string): FileEdge {
  const [from, relation, line, end, ...target] = edge;
  const start = { from: key(from), relation: RELATIONS[relation] ?? "REFERENCES", line };
  if (target.length === 0) return { ...start, to: key(end) };
  // Longer edges have a reference.
  return { ...start, name: String(end), target: unpackReference(target as unknown as PackedReference) };
}

function ownNumbers({ path, symbols }: Pick<FileFacts, "path" | "symbols">): Map<string, number> {
  const numbers = new Map([[fileKey(path), 0]]);
  for (const [at, { key }] of symbols.entries()) numbers.set(key, at + 1);
  return numbers;
}

function keysOf(path: string, symbols: readonly SymbolFacts[]): (node: number | string) => string {
  return (node) => (typeof node === "string" ? node : (symbols[node - 1]?.key ?? fileKey(path)));
}

function pairsOf(texts: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < texts.length; at += 2) pairs.push([texts[at] ?? "", texts[at + 1] ?? ""]);
  return pairs;
}

/** The level of content, too: higher ones save little, and these frames are rewritten whenever a document changes. */
const LEVEL = 3;
/** Far more than the graph of the longest text that is parsed. */
const MAX_BYTES = 64 * 1024 * 1024;

function pack(value: unknown): Uint8Array {
  return compress(Buffer.from(JSON.stringify(value)), LEVEL);
}

function unpack(bytes: Uint8Array): unknown {
  const size = expandedSize(bytes);
  if (size !== undefined && size <= MAX_BYTES) return JSON.parse(Buffer.from(decompress(bytes)).toString("utf8"));
  throw new TrunklineError("IO", "The graph in the index is damaged.", {
    hint: "Run trunkline store repair, which rebuilds the index.",
    data: { damaged: true },
  });
}
