// The table of operations. Types, store methods, the server's schemas and validators, `describe`, the reference page,
// the `trunkline store` commands, their completions and the script API all derive from it: a new parameter is one line
// here plus the code that uses it. Names are wire names; wire.ts maps them to TypeScript.
import { type ParameterSet, param, type StoreOperation } from "@trunkline/core";
import type {
  AddResult,
  DeleteResult,
  DiffResult,
  DownloadResult,
  ExportResult,
  GcResult,
  GetResult,
  GraphResult,
  GrepResult,
  ImportResult,
  ListCollectionsResult,
  ListResult,
  ListSessionsResult,
  ListSnapshotsResult,
  PinResult,
  RepairResult,
  RestoreResult,
  SearchPathsResult,
  SearchResult,
  SessionStarted,
  SessionSummary,
  SnapshotInfo,
  StatusResult,
  UndeleteResult,
  VerifyResult,
} from "./results.js";

const { text, texts, flag, count, number, choice } = param;

/** Metadata as an object, or as `key=value`. */
export type MetadataParam = Readonly<Record<string, unknown>> | readonly string[];

/** An entry of the table. `R` is the result type. */
interface Entry<R, P extends ParameterSet> extends Omit<StoreOperation, "name"> {
  readonly params: P;
  /** Command name and description in `trunkline store`, if they differ from the name and the summary. */
  readonly cli?: { readonly command?: string; readonly about?: string };
  /** Never set. Ties the operation to its result type. */
  readonly result?: R;
}

function returning<R>() {
  return <const P extends ParameterSet>(entry: Entry<R, P>): Entry<R, P> => entry;
}

const metadata = (description: string, options: { readonly narrows?: boolean } = {}) =>
  param.of<MetadataParam>(
    {
      anyOf: [
        { type: "object", additionalProperties: {} },
        { type: "array", items: { type: "string" } },
      ],
      description: `${description}: an object, or ["key=value"].`,
    },
    { ...options, cli: { value: "key=value", about: description.charAt(0).toLowerCase() + description.slice(1) } },
  );

const cursor = text("Continue from the cursor of an earlier answer.", {
  aliases: ["next_cursor", "page_token"],
  cli: { value: "cursor" },
});
const extension = text("Only files with this extension.", {
  aliases: ["ext", "file_extension"],
  narrows: true,
  cli: { value: "extension" },
});
const collection = text("Only this collection.", { narrows: true, cli: { value: "name" } });
const pathsOnly = flag("Return {paths, total} only.", { cli: { about: "print only the paths" } });

/** The filters that search, grep and list share. */
const filters = {
  collection,
  snapshot: text("The documents as they were in this snapshot: its id or label.", {
    aliases: ["snapshot_id"],
    narrows: true,
    cli: { value: "id" },
  }),
  tags: texts("Only documents with one of these tags.", {
    aliases: ["tag"],
    narrows: true,
    cli: { flags: "--tag", value: "tag", about: "only documents with this tag" },
  }),
  match_all_tags: flag("Only documents with all of the tags.", { aliases: ["all_tags"], narrows: true }),
  metadata: metadata("Only documents with this metadata", { narrows: true }),
  session: param.of<boolean | string>(
    {
      anyOf: [{ type: "boolean" }, { type: "string" }],
      description: "Only documents of this session: its id, or true for the current one.",
    },
    { aliases: ["session_id"], narrows: true, cli: { value: "id", about: "only documents of this session" } },
  ),
} as const;

/** Parameters that describe the stored documents. */
const description = {
  collection: text("The collection to add to.", { default: "default", cli: { value: "name" } }),
  tags: texts("Tags for each document.", {
    aliases: ["tag"],
    cli: { flags: "--tag", value: "tag", about: "a tag for each document" },
  }),
  metadata: metadata("Metadata for each document"),
} as const;

const hash = text("The content's hash, or at least its first 8 digits.", {
  aliases: ["id", "sha256"],
  narrows: true,
  cli: false,
});
const PATH_OR_HASH = {
  argument: "<path|hash>",
  about: "a path or the end of one, or a hash or its first 8 digits",
} as const;
const pattern = text("Documents whose paths match this glob.", {
  aliases: ["glob"],
  narrows: true,
  cli: { value: "glob" },
});
const includes = { value: "glob", about: "only paths that match" } as const;
const excludes = { value: "glob", about: "skip paths that match" } as const;
const none = {} as const;

const pinned = {
  hash: text("The content's hash, or at least its first 8 digits.", { aliases: ["id"], cli: false }),
  path: text("The document: its path, the end of it, or the file name.", {
    aliases: ["name", "file", "document"],
    cli: PATH_OR_HASH,
  }),
  session: text("The session id; default: the current session.", { cli: { value: "id", required: true } }),
} as const;

export const OPERATIONS = {
  search: returning<SearchResult | SearchPathsResult>()({
    kind: "read",
    summary: "Find documents by words and by meaning.",
    params: {
      query: text("Words, a question or an identifier.", {
        required: true,
        aliases: ["q", "text", "question", "term", "terms", "keywords"],
        cli: { argument: "[query...]" },
      }),
      limit: count("Maximum number of results.", {
        min: 1,
        default: 10,
        aliases: ["max_results", "top_k", "k", "n", "count"],
      }),
      type: choice("The search method.", ["hybrid", "keyword", "semantic"], {
        default: "hybrid",
        aliases: ["mode", "method", "search_type"],
      }),
      fuzzy: flag("Correct typos.", {
        default: true,
        cli: { about: "match words exactly, including typos" },
      }),
      similarity: number("How similar a corrected word has to be, from 0 to 1.", { min: 0, max: 1, default: 0.7 }),
      hash: text("Only content with this hash, or starting with these digits (at least 8).", {
        aliases: ["hashes"],
        narrows: true,
        cli: { value: "digits" },
      }),
      paths_only: pathsOnly,
      line_numbers: flag("Number the lines of snippets."),
      context: count("Lines to show around the match in a snippet.", { default: 0, cli: { value: "lines" } }),
      path_pattern: text("Only paths that match this glob.", {
        aliases: ["glob", "pattern", "include"],
        narrows: true,
        cli: { value: "glob" },
      }),
      extension,
      cursor,
      explain: flag("Explain each score."),
      ...filters,
    },
    example: { query: "retry with backoff", limit: 5 },
    cli: { about: "search documents by keyword and meaning, best first" },
  }),

  grep: returning<GrepResult>()({
    kind: "read",
    summary: "Find lines that match a regular expression (ripgrep's dialect).",
    params: {
      pattern: text("The regular expression.", {
        required: true,
        aliases: ["query", "regex", "regexp", "text", "q", "search"],
        cli: { argument: "[pattern]", about: "the regular expression; with -e, a path" },
      }),
      paths: texts("Documents or folders; default: all.", {
        aliases: ["path", "file", "files", "name"],
        narrows: true,
        cli: { argument: "[path...]", about: "documents and folders: paths, or the ends of paths (default: all)" },
      }),
      documents: param.of<readonly { readonly path: string; readonly hash: string }[]>(
        {
          type: "array",
          items: {
            type: "object",
            properties: { path: { type: "string" }, hash: { type: "string" }, collection: { type: "string" } },
          },
          description: "Only these documents from an earlier result.",
        },
        { narrows: true, cli: false },
      ),
      ignore_case: flag("Ignore case.", { aliases: ["-i", "case_insensitive"], cli: { flags: "-i, --ignore-case" } }),
      word: flag("Match whole words only.", {
        aliases: ["-w", "whole_word"],
        narrows: true,
        cli: { flags: "-w, --word-regexp" },
      }),
      fixed: flag("Treat the pattern as plain text.", {
        aliases: ["-F", "fixed_strings", "literal"],
        cli: { flags: "-F, --fixed-strings" },
      }),
      invert: flag("Find the lines that do not match.", { aliases: ["-v"], cli: { flags: "-v, --invert-match" } }),
      only_matching: flag("Return only the matching parts of lines, one by one, without context.", {
        aliases: ["-o", "only_matches"],
        cli: { flags: "-o, --only-matching", about: "print only the matching parts of lines, one per line" },
      }),
      line_numbers: flag("Add line numbers to the text as well.", {
        aliases: ["-n"],
        cli: { flags: "-n, --line-number", about: "with line numbers (the default); in JSON, put them into the text" },
      }),
      context: count("Lines to show before and after each match.", {
        aliases: ["-C"],
        cli: { flags: "-C, --context", value: "lines" },
      }),
      before_context: count("Lines to show before each match.", {
        aliases: ["-B"],
        cli: { flags: "-B, --before-context", value: "lines" },
      }),
      after_context: count("Lines to show after each match.", {
        aliases: ["-A"],
        cli: { flags: "-A, --after-context", value: "lines" },
      }),
      count: flag("Return {total, files: [{path, count}]}.", {
        aliases: ["-c"],
        cli: { flags: "-c, --count", about: "print only the number of matching lines of each document" },
      }),
      files_with_matches: flag("Answer {files}.", {
        aliases: ["-l", "files_only"],
        cli: { flags: "-l, --files-with-matches", about: "print only the paths" },
      }),
      max_count: count("Maximum number of matches per file; 0 for no limit.", {
        default: 0,
        aliases: ["-m"],
        narrows: true,
        cli: { flags: "-m, --max-count" },
      }),
      include: texts("Only paths that match one of these globs.", {
        aliases: ["glob", "path_pattern"],
        narrows: true,
        cli: includes,
      }),
      exclude: texts("Skip paths that match one of these globs.", { narrows: "excludes", cli: excludes }),
      cursor,
      ...filters,
    },
    example: { pattern: "function\\s+open\\w+", context: 2 },
    cli: { about: "print lines that match a pattern, ordered by path; patterns are ripgrep's" },
  }),

  list: returning<ListResult>()({
    kind: "read",
    summary: "List documents, filtered and sorted.",
    params: {
      limit: count("Maximum number of documents per result.", {
        min: 1,
        default: 100,
        aliases: ["max_results", "page_size"],
      }),
      offset: count("How many documents to skip.", { default: 0 }),
      sort_by: choice("What to sort by.", ["name", "size", "created", "modified", "indexed"], {
        default: "name",
        aliases: ["sort", "order_by"],
      }),
      sort_order: choice("The direction; default: asc for names, otherwise desc.", ["asc", "desc"], {
        aliases: ["order", "direction"],
      }),
      recent: count("Only the N most recently indexed documents.", { min: 1, narrows: true }),
      type: choice("Only this type of content.", ["text", "binary"], { narrows: true }),
      extension,
      pattern: text("Only paths that match this glob.", {
        aliases: ["path_pattern", "glob", "name", "include"],
        narrows: true,
        cli: { argument: "[pattern]", about: "a glob in quotes, such as '*.md' or 'src/**'" },
      }),
      paths_only: pathsOnly,
      cursor,
      ...filters,
    },
    example: { extension: ".ts", sort_by: "modified", limit: 20 },
  }),

  get: returning<GetResult>()({
    kind: "read",
    summary: "Get one or more documents: fields, versions, and all or part of the content.",
    params: {
      hash,
      path: text("The document: its path, the end of it, or the file name.", {
        aliases: ["name", "file", "document", "file_path"],
        narrows: true,
        cli: PATH_OR_HASH,
      }),
      include_content: flag(
        "Include the content. Beyond the answer's max_tokens it is cut: read on with lines or bytes.",
        {
          aliases: ["content", "with_content"],
          cli: { about: "with --json or --graph: the content as well" },
        },
      ),
      lines: text("Only these lines of the content: 10-40, 10- or 10; the first is 1.", {
        aliases: ["line_range", "range"],
        narrows: true,
        cli: { value: "range" },
      }),
      bytes: text("Only these bytes of the content: 0-1023 or 512-; the first is 0.", {
        narrows: true,
        cli: { value: "range" },
      }),
      symbol: text("Only the definition of this function, class or method.", { narrows: true, cli: { value: "name" } }),
      version: count("This version of the document.", { min: 1, narrows: true }),
      graph: flag("Add related documents.", { cli: { about: "show related documents instead of the content" } }),
      depth: count("How many steps away related documents may be.", {
        min: 1,
        max: 5,
        default: 2,
        cli: { value: "steps" },
      }),
      collection,
      outputPath: text("Write the whole content to this file, which must not exist yet. Creates missing folders.", {
        aliases: ["output"],
        place: "create",
        cli: { flags: "-o, --output", value: "file", about: "write the content to this file" },
      }),
    },
    example: { path: "src/server.ts", lines: "1-40" },
    cli: { about: "print a document's content, byte for byte; --json shows its fields and versions" },
  }),

  graph: returning<GraphResult>()({
    kind: "read",
    summary: "Relations of a document or symbol: imports, calls, definitions, links.",
    params: {
      name: text("A document's path or the end of it, or the name of a symbol.", {
        aliases: ["path", "file", "symbol", "document"],
        narrows: true,
        cli: { argument: "[name]", about: "a path or the end of one, a symbol's name, a hash, or a node's key" },
      }),
      hash: text("The document with this content.", { narrows: true, cli: { value: "digits" } }),
      node_key: text("A node by its key, from an earlier result.", {
        aliases: ["node", "key"],
        narrows: true,
        cli: { value: "key", about: "start at this node, such as symbol:/src/a.ts#run or tag:draft" },
      }),
      relation: text(
        "Only this relation: IMPORTS, CALLS, CONTAINS, DEFINES, INHERITS, IMPLEMENTS, REFERENCES, TAGGED, IN_COLLECTION, SAME_CONTENT or VERSION_OF.",
        {
          aliases: ["relations", "relation_type"],
          narrows: true,
          cli: { value: "relation", about: "only this one: imports, calls, contains, defines, inherits, references …" },
        },
      ),
      depth: count("How many steps to follow.", {
        min: 1,
        max: 5,
        default: 1,
        aliases: ["max_depth"],
        cli: { value: "steps" },
      }),
      limit: count("Maximum number of nodes.", { min: 1, default: 100 }),
      reverse: flag("Follow incoming relations: what imports or calls it.", { aliases: ["incoming"] }),
      // The command uses --format for this.
      format: choice("The format of the result.", ["json", "mermaid"], { default: "json", cli: false }),
      list_types: flag("List the types of nodes with their counts."),
      list_type: text("List the nodes of this type.", {
        narrows: true,
        cli: { value: "type", about: "list the nodes of this type, such as function or class" },
      }),
      collection,
    },
    example: { name: "src/server.ts", relation: "IMPORTS", depth: 2 },
    cli: { about: "show what a document or symbol imports, calls, contains and refers to, as a tree" },
  }),

  diff: returning<DiffResult>()({
    kind: "read",
    summary: "Compare two snapshots, or one document in them.",
    params: {
      from: text("The older snapshot: its id or label.", {
        required: true,
        aliases: ["old", "before", "from_snapshot", "snapshot"],
        cli: { argument: "<from>" },
      }),
      to: text("The newer snapshot: its id or label; default: the current state.", {
        aliases: ["new", "after", "to_snapshot"],
        narrows: true,
        cli: { argument: "[to]" },
      }),
      path: text("Show the text diff of this document.", {
        aliases: ["name", "file"],
        narrows: true,
        cli: { value: "path" },
      }),
      collection: text("The collection of the snapshots.", { narrows: true, cli: { value: "name" } }),
    },
    example: { from: "release-41", to: "release-42" },
    cli: { about: "show what changed between two snapshots, or since one" },
  }),

  list_collections: returning<ListCollectionsResult>()({
    kind: "read",
    summary: "List collections with their counts.",
    params: none,
    example: {},
    cli: { command: "collections", about: "list collections and the folders they come from" },
  }),

  list_snapshots: returning<ListSnapshotsResult>()({
    kind: "read",
    summary: "List snapshots, newest first.",
    params: { collection, limit: count("Maximum number of snapshots.", { min: 1, default: 100 }), cursor },
    example: { collection: "manual" },
    cli: { command: "snapshots" },
  }),

  status: returning<StatusResult>()({
    kind: "read",
    summary: "Show the size of the store and the tokens this server has used.",
    params: {
      detailed: flag("Add counts of contents, chunks, versions and indexes.", { aliases: ["details"] }),
      file_types: flag("Add counts by file extension.", { aliases: ["types"] }),
    },
    example: { detailed: true },
    cli: { about: "show what the store holds and how much disk space it uses" },
  }),

  add: returning<AddResult>()({
    kind: "write",
    undoable: true,
    inSession: true,
    summary: "Add a file, a folder or inline content.",
    params: {
      path: text("A file or folder.", {
        aliases: ["file", "folder", "directory", "file_path"],
        place: "read",
        cli: false,
      }),
      paths: texts("Several files or folders.", {
        aliases: ["files"],
        place: "read",
        cli: { argument: "<path...>", about: "files and folders; - is stdin" },
      }),
      content: param.of<string | Uint8Array>(
        { type: "string", description: "Text to store under a name." },
        { aliases: ["text", "body", "data"], cli: false },
      ),
      name: text("The name of inline content.", {
        aliases: ["filename", "title"],
        cli: { value: "name", about: "the name of the content from stdin" },
      }),
      recursive: flag("Include subfolders.", {
        default: true,
        narrows: true,
        cli: { about: "only the files in the folder itself" },
      }),
      include: texts("Only files that match one of these globs.", { narrows: true, cli: includes }),
      exclude: texts("Skip files that match one of these globs.", { narrows: "excludes", cli: excludes }),
      skip_generated: flag(
        "Without a .gitignore, skip node_modules, build output, hidden folders and files over 10 MB.",
        {
          narrows: true,
          cli: { about: "without a .gitignore, skip packages, build output, hidden folders and files over 10 MB" },
        },
      ),
      ...description,
      snapshot_label: text("Label of the snapshot taken when a folder is added.", {
        aliases: ["label"],
        cli: { flags: "--label", value: "label", about: "take a snapshot with this label" },
      }),
    },
    example: { path: "minutes.md", tags: ["minutes"], metadata: { team: "core" } },
    cli: { about: "add files and folders, or stdin with - and a --name" },
  }),

  update: returning<{ readonly matched: number }>()({
    kind: "write",
    undoable: true,
    summary: "Change the tags and metadata of documents.",
    params: {
      name: text("The document: its path, the end of it, the file name, or a glob.", {
        aliases: ["path", "file", "document"],
        narrows: true,
        cli: { argument: "[document]", about: "a path or the end of one, a glob in quotes, or a hash" },
      }),
      hash: text("Documents with this content.", { narrows: true, cli: false }),
      pattern,
      metadata: metadata("Metadata to set"),
      tags: texts("Tags to add.", { aliases: ["add_tags", "tag"], cli: { flags: "--tag", value: "tag" } }),
      remove_tags: texts("Tags to remove.", { cli: { flags: "--remove-tag", value: "tag" } }),
      collection,
    },
    example: { name: "minutes.md", metadata: ["state=final"] },
  }),

  delete: returning<DeleteResult>()({
    kind: "write",
    undoable: true,
    inSession: true,
    summary: "Move documents to the trash; undelete restores them.",
    params: {
      name: text("The document: its path, the end of it, the file name, or a glob.", {
        aliases: ["path", "file", "document"],
        narrows: true,
        cli: false,
      }),
      names: texts("Several names.", {
        aliases: ["paths", "files"],
        narrows: true,
        cli: { argument: "[document...]", about: "paths or ends of paths, or globs in quotes" },
      }),
      pattern,
      collection,
      dry_run: flag("Only report what would be deleted.", { narrows: true }),
    },
    example: { name: "draft-*.md" },
    cli: { about: "move documents to the trash; snapshots keep their content" },
  }),

  undelete: returning<UndeleteResult>()({
    kind: "write",
    undoable: true,
    summary: "Restore deleted documents from the trash.",
    params: {
      name: text("The document: its path, the end of it, the file name, or a glob.", {
        required: true,
        aliases: ["path", "file", "document", "pattern", "glob"],
        cli: { argument: "<document>", about: "a path or the end of one, or a glob in quotes" },
      }),
      collection,
    },
    example: { name: "draft-1.md" },
  }),

  snapshot: returning<SnapshotInfo>()({
    kind: "write",
    undoable: true,
    summary: "Take a snapshot of a collection.",
    params: {
      collection: text("The collection.", { default: "default", cli: { value: "name" } }),
      label: text("A name to find it by.", { aliases: ["name", "snapshot_label"], cli: { value: "label" } }),
    },
    example: { collection: "manual", label: "release-42" },
  }),

  restore: returning<RestoreResult>()({
    kind: "write",
    summary: "Write a collection or snapshot to a folder.",
    params: {
      collection: text("The collection, as it is now.", {
        narrows: true,
        cli: { value: "name", about: "this collection, or a snapshot of it" },
      }),
      snapshot_id: text("The snapshot: its id or label.", {
        aliases: ["snapshot", "id", "label"],
        narrows: true,
        cli: { argument: "[snapshot|collection]", about: "a snapshot's id or label, or a collection" },
      }),
      output_directory: text("The folder to write to.", {
        required: true,
        place: "write",
        aliases: ["output", "output_path", "directory", "folder", "path", "to", "destination"],
        cli: { flags: "--to", value: "folder", about: "the folder to write to; nothing is written outside it" },
      }),
      dry_run: flag("Only report what would be written.", { narrows: true }),
      overwrite: flag("Replace files that differ."),
      include_patterns: texts("Only paths that match one of these globs.", {
        aliases: ["include"],
        narrows: true,
        cli: { flags: "--include", ...includes },
      }),
      exclude_patterns: texts("Skip paths that match one of these globs.", {
        aliases: ["exclude"],
        narrows: "excludes",
        cli: { flags: "--exclude", ...excludes },
      }),
    },
    example: { collection: "manual", output_directory: "out", dry_run: true },
    cli: { about: "write a snapshot or a collection to a folder, byte for byte, with modes and times" },
  }),

  download: returning<DownloadResult>()({
    kind: "write",
    undoable: true,
    inSession: true,
    summary: "Download a URL into the store.",
    params: {
      url: text("The URL: http or https.", {
        required: true,
        aliases: ["uri", "href", "link"],
        cli: { argument: "<url>" },
      }),
      checksum: text('The expected hash of the content: "sha256:…".', {
        aliases: ["sha256", "hash"],
        narrows: true,
        cli: { value: "sha256", about: "store nothing unless the content has this hash" },
      }),
      max_bytes: count("Reject content larger than this.", { min: 1, default: 1_000_000_000, narrows: true }),
      headers: param.of<Readonly<Record<string, string>>>(
        { type: "object", additionalProperties: { type: "string" }, description: "Request headers." },
        { cli: false },
      ),
      // The command takes seconds instead.
      timeout_ms: count("How long the server may send nothing, in milliseconds. 0: the default.", {
        min: 0,
        cli: false,
      }),
      resume: flag("Continue an interrupted download.", { default: true, cli: { about: "start over" } }),
      ...description,
    },
    example: { url: "https://files.example/report.pdf" },
    cli: { about: "download a URL into the store; an interrupted download continues where it stopped" },
  }),

  start: returning<SessionStarted>()({
    kind: "session",
    summary: "Start a session: documents added from now on belong to it.",
    params: { label: text("A name for it.", { aliases: ["name", "title", "session"], cli: { value: "label" } }) },
    example: { label: "release-42" },
    cli: { about: "start a session and print its id, for use with --session in other commands" },
  }),

  stop: returning<SessionSummary>()({
    kind: "session",
    summary: "End the session, stop its watches, and return a summary.",
    params: none,
    example: {},
    cli: { about: "end a session, and list what was added, changed, removed and pinned" },
  }),

  pin: returning<PinResult>()({
    kind: "session",
    summary: "Protect content from gc, and rank it first in the session's searches.",
    params: pinned,
    example: { hash: "9f86d081" },
  }),

  unpin: returning<PinResult>()({
    kind: "session",
    summary: "Remove a pin.",
    params: pinned,
    example: { hash: "9f86d081" },
  }),

  watch: returning<{ readonly watching: readonly string[] }>()({
    kind: "session",
    summary: "Index changed files as they change, until the session stops.",
    params: {
      paths: texts("Files or folders.", {
        required: true,
        min: 1,
        place: "read",
        aliases: ["path", "folder", "directory", "files"],
        cli: { argument: "<path...>" },
      }),
      exclude: texts("Skip files that match one of these globs.", { narrows: "excludes", cli: excludes }),
      collection: text("The collection to add to.", { default: "default", cli: { value: "name" } }),
    },
    example: { paths: ["src"] },
    cli: { about: "add files and folders, and index every change to them until Ctrl-C" },
  }),

  resume: returning<SessionStarted>()({
    kind: "local",
    summary: "Continue an open session, possibly from an earlier process, as the client's current one.",
    params: { session_id: text("The id of the session.", { required: true }) },
    example: { session_id: "ses-1" },
  }),

  list_sessions: returning<ListSessionsResult>()({
    kind: "local",
    summary: "List the sessions of all clients and processes, newest first.",
    params: {
      limit: count("Maximum number of sessions.", { min: 1, default: 100 }),
      open: flag("Only open sessions."),
    },
    example: { open: true },
    cli: { command: "sessions" },
  }),

  verify: returning<VerifyResult>()({
    kind: "local",
    summary: "Check every chunk, reference and index.",
    params: none,
    example: {},
    cli: { about: "check every chunk, reference and index; exit with 1 if something is damaged" },
  }),

  gc: returning<GcResult>()({
    kind: "local",
    summary: "Empty the trash and remove all unreferenced data.",
    params: none,
    example: {},
  }),

  repair: returning<RepairResult>()({
    kind: "local",
    summary: "Rebuild the indexes, and repair damaged chunks from files that still have them.",
    params: none,
    example: {},
  }),

  export: returning<ExportResult>()({
    kind: "local",
    summary: "Write the whole store to one file.",
    params: {
      path: text("The file to write.", { required: true, place: "write", cli: { argument: "<file>" } }),
      overwrite: flag("Replace the file."),
    },
    example: { path: "backup.tlstore" },
  }),

  import: returning<ImportResult>()({
    kind: "local",
    summary: "Add the history of an export to this store; content that already exists is not stored again.",
    params: { path: text("The file to read.", { required: true, place: "read", cli: { argument: "<file>" } }) },
    example: { path: "backup.tlstore" },
  }),
} as const;

/** The name of an operation on the wire. */
export type OperationName = keyof typeof OPERATIONS;

/** The table as a list, for the {@link StoreOperation} port. */
export const storeOperations: readonly (StoreOperation & { readonly name: OperationName })[] = Object.entries(
  OPERATIONS,
).map(([name, operation]) => ({ ...operation, name: name as OperationName }));
