// What both engines are asked. The answers must be equal.
import { contentIdOf } from "@trunkline/core";

export const FILES: Readonly<Record<string, string>> = {
  "src/hub.ts": `import { Connection, type Options } from "./connection.js";
export class Hub {
  /** Opens a connection to a server. */
  open(name: string, options: Options): Connection {
    return new Connection(name, options);
  }
  closeAll(): void {}
}
export function makeHub(): Hub { return new Hub(); }
`,
  "src/connection.ts": `export interface Options { readonly timeoutMs: number }
export class Connection {
  constructor(readonly name: string, readonly options: Options) {}
  parseHTTPRequest(text: string): string { return text.trim(); }
}
`,
  "src/deep/retry_policy.py": `import time

def wait_for_server(timeout_ms, retry_count):
    """Waits until the server answers, with retries."""
    for attempt in range(retry_count):
        time.sleep(timeout_ms / 1000)
`,
  "test/hub.test.ts": `import { makeHub } from "../src/hub.js";
makeHub().open("server", { timeoutMs: 10 });
`,
  "docs/guide.md": `# Connecting to servers

A hub opens connections. See [the hub](../src/hub.ts) and [retries](retries.md).
Timeouts are in milliseconds. Größe, naïve, ÉCOLE.
`,
  "docs/retries.md": "# Retries\n\nThe server is asked again after a timeout, with wait_for_server.\n",
  "docs/copy.md": "# Retries\n\nThe server is asked again after a timeout, with wait_for_server.\n",
  "data/table.csv": "name,size\nalpha,1\nbeta,2\r\ngamma,3\n",
  "data/empty.txt": "",
  "src/uses.ts": `import { helper } from "./removed.js";\nexport const result = helper();\n`,
  "src/removed.ts": "export function helper() { return 1; }\n",
};

const hash = contentIdOf(new TextEncoder().encode(FILES["docs/copy.md"]));

/** An operation and its parameters. */
export const QUESTIONS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ["search", { query: "connection", type: "keyword" }],
  ["search", { query: "server timeout", type: "keyword", explain: true }],
  ["search", { query: "parseHTTPRequest", type: "keyword", line_numbers: true, context: 1 }],
  ["search", { query: "parse http request", type: "keyword" }],
  ["search", { query: "wait_for_server", type: "keyword" }],
  ["search", { query: "conection", type: "keyword" }],
  ["search", { query: "retires", type: "keyword" }],
  ["search", { query: "ecole groesse", type: "keyword", fuzzy: false }],
  ["search", { query: "open a hub in a test", type: "keyword", limit: 2 }],
  ["search", { query: "hub", type: "keyword", extension: "ts", paths_only: true }],
  ["search", { query: "hub", type: "keyword", path_pattern: "docs/*" }],
  ["search", { query: "server", type: "hybrid" }],
  ["search", { query: "retries", type: "keyword", snapshot: "first" }],
  ["search", { query: "hub", type: "keyword", tags: ["code"], line_numbers: true }],
  ["search", { query: "hub", type: "keyword", metadata: { owner: "ada" } }],
  ["search", { query: "note", type: "keyword", collection: "notes" }],
  ["search", { query: "nothinglikethis", type: "keyword" }],
  ["search", { query: "", type: "keyword" }],
  ["grep", { pattern: "server" }],
  ["grep", { pattern: "SERVER", ignore_case: true, context: 1 }],
  ["grep", { pattern: "timeout_?ms", ignore_case: true, count: true }],
  ["grep", { pattern: "h(ub|ost)", files_with_matches: true }],
  ["grep", { pattern: "\\bopen\\b", paths: ["src"], line_numbers: true }],
  ["grep", { pattern: "a,", invert: true, include: ["*.csv"] }],
  ["grep", { pattern: "gr.ße", ignore_case: true }],
  ["grep", { pattern: "e", max_count: 1 }],
  ["grep", { pattern: "nowhere to be found" }],
  ["list", { sort_by: "size", sort_order: "desc", paths_only: true }],
  ["list", { extension: "md" }],
  ["list", { pattern: "**/*.ts", paths_only: true }],
  ["list", { tags: ["code"], paths_only: true }],
  ["list", { metadata: { owner: "ada" }, paths_only: true }],
  ["get", { path: "src/hub.ts", include_content: true }],
  ["get", { path: "hub.ts", lines: "2-4" }],
  ["get", { path: "hub.ts", symbol: "Hub.open" }],
  ["get", { path: "docs/retries.md", version: 1, include_content: true }],
  ["get", { path: "hub.ts", graph: true, depth: 2 }],
  ["get", { path: "data/table.csv", bytes: "5-9" }],
  ["graph", { name: "src/hub.ts" }],
  ["graph", { name: "src/hub.ts", depth: 3 }],
  ["graph", { name: "connection.ts", reverse: true, depth: 2 }],
  ["graph", { name: "makeHub", reverse: true }],
  ["graph", { name: "docs/guide.md", relation: "references" }],
  ["graph", { name: "docs/retries.md", depth: 2, limit: 3 }],
  ["graph", { name: "src/hub.ts", format: "mermaid" }],
  ["graph", { name: "src/uses.ts", depth: 2 }],
  ["graph", { name: "Hub", depth: 2, reverse: true }],
  ["graph", { name: "Connection", reverse: true, relation: "calls" }],
  ["graph", { name: "src/hub.ts", relation: "imports", depth: 3 }],
  ["graph", { name: "src/hub.ts", relation: "contains" }],
  ["graph", { name: "test/hub.test.ts", depth: 4, limit: 5 }],
  ["graph", { name: "docs/copy.md", relation: "same_content" }],
  ["graph", { name: "docs/retries.md", relation: "version_of", reverse: true }],
  ["graph", { node_key: "tag:code", reverse: true }],
  ["graph", { node_key: "collection:notes", reverse: true, depth: 2 }],
  ["graph", { name: "wait_for_server" }],
  ["graph", { list_types: true }],
  ["graph", { list_type: "function" }],
  ["graph", { list_type: "class" }],
  ["graph", { list_type: "external" }],
  ["graph", { list_type: "version" }],
  ["diff", { from: "first" }],
  ["diff", { from: "first", to: "second", path: "docs/retries.md" }],
  ["list_collections", {}],
  ["list_snapshots", {}],
  ["status", {}],
  ["get", { path: "missing.txt" }],
  ["get", {}],
  ["graph", { name: "nothing" }],
  ["graph", { node_key: "file:nowhere" }],
  ["graph", { list_type: "animal" }],
  ["list", { collection: "nowhere" }],
  ["list", { cursor: "%%%" }],
  ["grep", { pattern: "(" }],
  ["grep", { pattern: "x", paths: ["not/there"] }],
  ["search", { query: "x", similarity: 3 }],
  ["diff", { from: "never" }],
  ["update", { name: "nothing", tags: ["x"] }],
  ["delete", { name: "nothing" }],
  ["undelete", { name: "nothing" }],
  ["restore", { output_directory: "out" }],
  ["get", { hash: "deadbeefdead" }],
  ["get", { hash: "xyz" }],
  ["search", { query: "retries", type: "keyword", hash }],
  ["search", { query: "hub", type: "keyword", tags: ["code", "prose"], match_all_tags: true }],
  ["search", { query: "hub", cursor: "%%%" }],
  ["search", { query: "hub", session: true }],
  ["grep", { pattern: "hub", word: true, before_context: 1 }],
  ["grep", { pattern: "a.b", fixed: true }],
  ["grep", { pattern: "h[a-z]b", only_matching: true }],
  ["grep", { pattern: "open", after_context: 2, exclude: ["docs/**"] }],
  ["grep", { pattern: "server", documents: [{ path: "docs/copy.md", hash }] }],
  ["grep", { pattern: "note", collection: "notes" }],
  ["grep", { pattern: "timeout", snapshot: "first" }],
  ["grep", { pattern: "hub", tags: ["code", "prose"], match_all_tags: true }],
  ["grep", { pattern: "hub", metadata: { owner: "ada" } }],
  ["grep", { pattern: "hub", cursor: "%%%" }],
  ["grep", { pattern: "hub", session: true }],
  ["list", { limit: 2, offset: 3, paths_only: true }],
  ["list", { recent: 2, paths_only: true }],
  ["list", { type: "text", sort_order: "desc", paths_only: true }],
  ["list", { type: "binary" }],
  ["list", { snapshot: "first", paths_only: true }],
  ["list", { tags: ["code", "prose"], match_all_tags: true }],
  ["list", { session: true }],
  ["get", { path: "note.md", collection: "notes" }],
  ["get", { path: "hub.ts", outputPath: "out/hub.ts" }],
  ["graph", { hash }],
  ["graph", { name: "note.md", collection: "notes" }],
  ["diff", { from: "first", collection: "notes" }],
  ["list_snapshots", { collection: "notes", limit: 1 }],
  ["list_snapshots", { cursor: "%%%" }],
  ["status", { file_types: true }],
];
