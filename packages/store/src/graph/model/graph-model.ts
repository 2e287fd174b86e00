// The vocabulary of the code graph. What a parser found in one document is a `FileGraph`: it depends on that document's
// path and text alone, so it can be kept beside the content. Resolution turns it into edges between node keys.

/** Every type a node can have. */
export const NODE_TYPES = [
  "file",
  "function",
  "method",
  "class",
  "struct",
  "interface",
  "trait",
  "enum",
  "type",
  "variable",
  "property",
  "module",
  "macro",
  "heading",
  "external",
  "tag",
  "collection",
  "content",
  "version",
] as const;

/** The type of a node. */
export type NodeType = (typeof NODE_TYPES)[number];

/** The types of what a parser finds inside a file. */
export type SymbolKind = Exclude<NodeType, "file" | "external" | "tag" | "collection" | "content" | "version">;

/** Every relation of the contract. */
export const RELATIONS = [
  "IMPORTS",
  "CALLS",
  "CONTAINS",
  "DEFINES",
  "INHERITS",
  "IMPLEMENTS",
  "REFERENCES",
  "TAGGED",
  "IN_COLLECTION",
  "SAME_CONTENT",
  "VERSION_OF",
] as const;

/** The name of a relation, as answers carry it. */
export type Relation = (typeof RELATIONS)[number];

/** The languages that are parsed, and the two kinds of prose whose links are read. */
export const GRAPH_LANGUAGES = [
  "typescript",
  "tsx",
  "javascript",
  "python",
  "go",
  "rust",
  "c",
  "cpp",
  "java",
  "csharp",
  "ruby",
  "php",
  "markdown",
  "html",
] as const;

/** One of {@link GRAPH_LANGUAGES}. */
export type GraphLanguage = (typeof GRAPH_LANGUAGES)[number];

/** What stands for the result of a call among the steps of a {@link Reference}. */
export const CALL_STEP = "()";
/** What stands for "the same name in a base class" among the steps of a {@link Reference}. */
export const SUPER_STEP = "super";

/**
 * What an expression or a type in the source points at, as far as its own file tells: a root and the steps from it.
 * `hub.servers()` in a file with `import { hub } from "./hub.js"` is `{ root: "import", of: "hub", steps: ["servers"] }`.
 *
 * - `symbol`: a symbol of this file; `of` is its qualified name.
 * - `import`: a name that an import of this file binds; `of` is that local name.
 * - `global`: a name that nothing in this file binds; `of` is that name. It may come from the same package.
 * - `unknown`: the value of a variable, a parameter or an expression that nothing declares; `of` is empty.
 */
export interface Reference {
  readonly root: "symbol" | "import" | "global" | "unknown";
  readonly of: string;
  readonly steps: readonly string[];
}

/** A definition in a file. Lines and columns count from 1; columns count UTF-16 units. */
export interface GraphSymbol {
  /** `symbol:<path>#<qualifiedName>`. */
  readonly key: string;
  readonly kind: SymbolKind;
  readonly name: string;
  /** The names of what it lies in and its own, with dots; a second one of the same name ends with `~2`. */
  readonly qualifiedName: string;
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** The head of the definition on one line, without its body. */
  readonly signature?: string;
  /** Whether other files can use it by name. */
  readonly exported?: boolean;
  /** The declared type of a variable or property, or what a function is declared to return. */
  readonly type?: Reference;
}

/** An edge as found in one file: `to` is the key of a node where the file alone tells it, otherwise `target` says what is known. */
export interface FileEdge {
  readonly from: string;
  readonly relation: Relation;
  readonly line: number;
  readonly to?: string;
  /** How the source spells what it points at; absent where `to` is there. */
  readonly name?: string;
  /** What resolution starts from; absent where `to` is there. */
  readonly target?: Reference;
}

/**
 * How an import is written. `import` binds names; `reexport` passes names on without binding them; `require` is CommonJS
 * or Ruby; `dynamic` is evaluated at run time; `include` is C or PHP; `use` is Rust, C# or PHP; `mod` declares a Rust file.
 */
export type ImportKind = "import" | "reexport" | "require" | "dynamic" | "include" | "use" | "mod";

/** One name of an import. `imported` is `*` for the module itself; `local` is `*` where all names are taken over. */
export interface ImportedName {
  readonly imported: string;
  readonly local: string;
}

/** An import statement. */
export interface GraphImport {
  readonly specifier: string;
  readonly kind: ImportKind;
  readonly names: readonly ImportedName[];
  readonly line: number;
  /** Whether it is written relative to the file in a language where the specifier does not show it. */
  readonly relative?: boolean;
}

/** A name that a file offers under `name`; `local` is what the file itself calls it. `=` is what CommonJS assigns to `module.exports`. */
export interface GraphExport {
  readonly name: string;
  readonly local: string;
}

/** A link in prose. `target` is as written, without the anchor. */
export interface GraphLink {
  readonly target: string;
  readonly anchor?: string;
  readonly text?: string;
  readonly line: number;
}

/** Why a file's graph is not whole. */
export interface Incomplete {
  /**
   * - `binary`: it does not look like text.
   * - `size`: it is longer than the limit.
   * - `time`: parsing or reading took longer than the budget.
   * - `count`: it has more symbols or edges than the limit.
   * - `depth`: definitions nested deeper than the limit count as part of what they lie in.
   */
  readonly reason: "binary" | "size" | "time" | "count" | "depth";
  readonly message: string;
}

/** What a project's own file says about how its imports are meant. */
export type ProjectConfig =
  | {
      readonly kind: "tsconfig";
      readonly baseUrl?: string;
      readonly paths?: Readonly<Record<string, readonly string[]>>;
      readonly extends?: readonly string[];
    }
  | {
      readonly kind: "npm";
      readonly name?: string;
      /** What each subpath of the package stands for (`.`, `./stdio`), the best guess first. */
      readonly entries: Readonly<Record<string, readonly string[]>>;
      /** Subpath imports (`#internal/*`). */
      readonly imports: Readonly<Record<string, readonly string[]>>;
    }
  | { readonly kind: "go"; readonly module: string; readonly replace: Readonly<Record<string, string>> }
  | { readonly kind: "composer"; readonly psr4: Readonly<Record<string, readonly string[]>> }
  | { readonly kind: "cargo"; readonly name?: string; readonly root?: string };

/** All that the graph knows about one document by itself. Plain data: it can be kept as JSON. */
export interface FileGraph {
  readonly path: string;
  readonly language: GraphLanguage | undefined;
  readonly symbols: readonly GraphSymbol[];
  readonly edges: readonly FileEdge[];
  readonly imports: readonly GraphImport[];
  readonly exports: readonly GraphExport[];
  readonly links: readonly GraphLink[];
  /** The package or namespaces that the file declares. */
  readonly namespaces: readonly string[];
  /** Names of types that occur in the file, where an import names a whole namespace (C#, Java). */
  readonly mentions: readonly string[];
  readonly config?: ProjectConfig;
  /** Whether the parser met syntax that it could not read; the rest is still there. */
  readonly syntaxErrors: boolean;
  readonly incomplete?: Incomplete;
}

/** An edge between two nodes. An unresolved one points at an `external:` node that has the name as its own. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly relation: Relation;
  readonly line?: number;
  /** False where the target is known by its name only. */
  readonly resolved: boolean;
}
