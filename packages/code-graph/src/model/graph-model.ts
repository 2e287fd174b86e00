// The vocabulary of the code graph. A `FileGraph` is what a parser found in one document. It depends only on that
// document's path and text. The index stores its `FileFacts`, from which resolution makes edges between node keys.

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

export type NodeType = (typeof NODE_TYPES)[number];

/** The types a parser finds inside a file. */
export type SymbolKind = Exclude<NodeType, "file" | "external" | "tag" | "collection" | "content" | "version">;

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

export type Relation = (typeof RELATIONS)[number];

/** Languages that are parsed, plus the two kinds of prose whose links are read. */
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

export type GraphLanguage = (typeof GRAPH_LANGUAGES)[number];

/** The step of a {@link Reference} for the result of a call. */
export const CALL_STEP = "()";
/** The step of a {@link Reference} for "the same name in a base class". */
export const SUPER_STEP = "super";

export const REFERENCE_ROOTS = ["symbol", "import", "global", "unknown"] as const;

/**
 * What an expression or type in the source refers to, as far as its own file tells: a root and the steps from it.
 * `hub.servers()` in a file with `import { hub } from "./hub.js"` is `{ root: "import", of: "hub", steps: ["servers"]
 * }`.
 *
 * - `symbol`: a symbol of this file; `of` is its qualified name.
 * - `import`: a name bound by an import of this file; `of` is that local name.
 * - `global`: a name that nothing in this file binds; `of` is that name. It can come from the same package.
 * - `unknown`: the value of an undeclared variable, parameter or expression; `of` is empty.
 */
export interface Reference {
  readonly root: (typeof REFERENCE_ROOTS)[number];
  readonly of: string;
  readonly steps: readonly string[];
}

/** The part of a definition that resolution needs. */
export interface SymbolFacts {
  /** `symbol:<path>#<qualifiedName>`. */
  readonly key: string;
  readonly kind: SymbolKind;
  readonly name: string;
  /**
   * The names of the enclosing symbols and its own, joined with dots. A second symbol with the same name ends in `~2`.
   */
  readonly qualifiedName: string;
  /** Whether other files can use the symbol by name. */
  readonly exported?: boolean;
  /** The declared type of a variable or property, or a function's declared return type. */
  readonly type?: Reference;
}

/** A definition in a file. Lines and columns start at 1; columns count UTF-16 units. */
export interface GraphSymbol extends SymbolFacts {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** The head of the definition on one line, without its body. */
  readonly signature?: string;
}

/**
 * An edge found in one file: `to` is a node key if the file alone determines it, otherwise `target` says what is known.
 */
export interface FileEdge {
  readonly from: string;
  readonly relation: Relation;
  readonly line: number;
  readonly to?: string;
  /** The target as written in the source; absent if `to` is set. */
  readonly name?: string;
  /** Where resolution starts; absent if `to` is set. */
  readonly target?: Reference;
}

/**
 * How an import is written. `import` binds names; `reexport` passes names on without binding them; `require` is CommonJS
 * or Ruby; `dynamic` is evaluated at run time; `include` is C or PHP; `use` is Rust, C# or PHP; `mod` declares a Rust file.
 */
export const IMPORT_KINDS = ["import", "reexport", "require", "dynamic", "include", "use", "mod"] as const;

type ImportKind = (typeof IMPORT_KINDS)[number];

/** One name of an import. `imported` is `*` for the module itself; `local` is `*` if all names are imported. */
export interface ImportedName {
  readonly imported: string;
  readonly local: string;
}

export interface GraphImport {
  readonly specifier: string;
  readonly kind: ImportKind;
  readonly names: readonly ImportedName[];
  readonly line: number;
  /** Whether the import is relative to the file, in a language whose specifiers do not show it. */
  readonly relative?: boolean;
}

/**
 * A name that a file exports as `name`; `local` is its name inside the file. `=` stands for the value that CommonJS
 * assigns to `module.exports`.
 */
export interface GraphExport {
  readonly name: string;
  readonly local: string;
}

/** The part of a link that resolution needs. `target` is the link as written, without the anchor. */
export interface LinkFacts {
  readonly target: string;
  readonly anchor?: string;
  readonly line: number;
}

/** A link in prose. */
export interface GraphLink extends LinkFacts {
  readonly text?: string;
}

/** Why a file's graph is incomplete. */
export interface Incomplete {
  /**
   * - `binary`: the file does not look like text.
   * - `size`: it exceeds the size limit.
   * - `generated`: a tool has written it.
   * - `time`: parsing or reading exceeded the time limit.
   * - `count`: it has too many symbols or edges.
   * - `depth`: definitions nested too deeply count as part of the enclosing one.
   */
  readonly reason: "binary" | "size" | "generated" | "time" | "count" | "depth";
  readonly message: string;
}

/** What a project's own configuration says about its imports. */
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
      /** The files for each subpath of the package (`.`, `./stdio`), best guess first. */
      readonly entries: Readonly<Record<string, readonly string[]>>;
      /** Subpath imports (`#internal/*`). */
      readonly imports: Readonly<Record<string, readonly string[]>>;
    }
  | { readonly kind: "go"; readonly module: string; readonly replace: Readonly<Record<string, string>> }
  | { readonly kind: "composer"; readonly psr4: Readonly<Record<string, readonly string[]>> }
  | { readonly kind: "cargo"; readonly name?: string; readonly root?: string };

/** The part of a document's graph that resolution needs. */
export interface FileFacts {
  readonly path: string;
  readonly language: GraphLanguage | undefined;
  readonly symbols: readonly SymbolFacts[];
  readonly edges: readonly FileEdge[];
  readonly imports: readonly GraphImport[];
  readonly exports: readonly GraphExport[];
  readonly links: readonly LinkFacts[];
  /** The package or namespaces the file declares. */
  readonly namespaces: readonly string[];
  /** Type names that occur in the file, used for imports of a whole namespace (C#, Java). */
  readonly mentions: readonly string[];
  readonly config?: ProjectConfig;
}

/** Everything the graph knows about a single document. */
export interface FileGraph extends FileFacts {
  readonly symbols: readonly GraphSymbol[];
  readonly links: readonly GraphLink[];
  /** Whether the parser found syntax it could not read; everything else is still included. */
  readonly syntaxErrors: boolean;
  readonly incomplete?: Incomplete;
}

/** An edge between two nodes. An unresolved edge points to an `external:` node named after the target. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly relation: Relation;
  readonly line?: number;
  /** False if the target is known only by name. */
  readonly resolved: boolean;
}
