// The operations of the store that change nothing.

import type { Operation } from "../interfaces/operation.js";
import { define } from "./define.js";
import { count, documents, FILTER_ALIASES, filters, flag, text, texts } from "./parameters.js";
import type { StoreCalls } from "./store-calls.js";
import { getDocuments, grepDocuments, lookedUp, searchHandles } from "./store-documents.js";

/** What the token account has to say, for `status`. */
export type TokenReport = () => unknown;

/** The operations that read, in the order they are listed. */
export function storeReads(calls: StoreCalls, { tokens }: { tokens?: TokenReport | undefined }): Operation[] {
  return [
    search(calls),
    grep(calls),
    list(calls),
    get(calls),
    graph(calls),
    diff(calls),
    listCollections(calls),
    listSnapshots(calls),
    status(calls, tokens),
  ];
}

function search(calls: StoreCalls): Operation {
  return define({
    name: "search",
    kind: "read",
    summary: "Find documents by words and by meaning.",
    params: (z) =>
      z.object({
        query: z.string().describe("Words, a question or an identifier."),
        limit: count(z, "Most results.", { min: 1, initial: 10 }),
        type: z
          .enum(["hybrid", "keyword", "semantic"])
          .optional()
          .meta({ default: "hybrid", description: "The method." }),
        fuzzy: z.boolean().optional().meta({ default: true, description: "Correct typing errors." }),
        similarity: z
          .number()
          .min(0)
          .max(1)
          .optional()
          .meta({ default: 0.7, description: "How alike a corrected word has to be." }),
        hash: z
          .union([z.string(), z.array(z.string())])
          .optional()
          .describe("Only content whose hash begins so (8 digits or more); a stored result is searched inside."),
        paths_only: flag(z, "Answer {paths, total}."),
        line_numbers: flag(z, "Line numbers in snippets."),
        context: count(z, "Lines around the match in a snippet.", { initial: 0 }),
        path_pattern: text(z, "Only paths that match this glob."),
        extension: text(z, "Only this file extension."),
        cursor: text(z, "Go on from an earlier answer."),
        explain: flag(z, "Say how each score came about."),
        ...filters(z),
      }),
    aliases: {
      ...FILTER_ALIASES,
      q: "query",
      text: "query",
      question: "query",
      term: "query",
      terms: "query",
      keywords: "query",
      max_results: "limit",
      top_k: "limit",
      k: "limit",
      n: "limit",
      count: "limit",
      mode: "type",
      method: "type",
      search_type: "type",
      glob: "path_pattern",
      pattern: "path_pattern",
      hashes: "hash",
    },
    // Whoever has a hash may look for that alone.
    prepare: (params) => (params.hash === undefined ? params : { query: "", ...params }),
    example: { query: "retry with backoff", limit: 5 },
    run: async ({ hash, ...params }, context) => {
      calls.filter(params, context.exchange);
      if (hash === undefined) return await calls.run("search", params, { context });
      return await searchHandles(calls, { ...params, hash }, context);
    },
  });
}

function grep(calls: StoreCalls): Operation {
  return define({
    name: "grep",
    kind: "read",
    summary: "Find lines that match a regular expression (ripgrep's dialect).",
    params: (z) =>
      z.object({
        pattern: z.string().describe("The regular expression."),
        paths: texts(z, "Files or folders; default all."),
        hash: z
          .union([z.string(), z.array(z.string())])
          .optional()
          .describe("Only this content: a document's hash, or that of a stored result."),
        documents: documents(z, "Only these documents of an earlier answer."),
        ignore_case: flag(z, "Upper and lower case are the same."),
        word: flag(z, "Match whole words only."),
        fixed: flag(z, "The pattern is plain text."),
        invert: flag(z, "Lines that do not match."),
        line_numbers: flag(z, "Line numbers in the text as well."),
        context: count(z, "Lines before and after each match."),
        before_context: count(z, "Lines before each match."),
        after_context: count(z, "Lines after each match."),
        count: flag(z, "Answer {total, files: [{path, count}]}."),
        files_with_matches: flag(z, "Answer {files}."),
        max_count: count(z, "Most matches per file; 0 for no limit.", { initial: 0 }),
        include: texts(z, "Only paths that match one of these globs."),
        exclude: texts(z, "No paths that match one of these globs."),
        cursor: text(z, "Go on from an earlier answer."),
        ...filters(z),
      }),
    aliases: {
      ...FILTER_ALIASES,
      "-i": "ignore_case",
      "-n": "line_numbers",
      "-C": "context",
      "-A": "after_context",
      "-B": "before_context",
      "-w": "word",
      "-F": "fixed",
      "-v": "invert",
      "-c": "count",
      "-l": "files_with_matches",
      "-m": "max_count",
      query: "pattern",
      regex: "pattern",
      regexp: "pattern",
      text: "pattern",
      q: "pattern",
      search: "pattern",
      path: "paths",
      file: "paths",
      files: "paths",
      name: "paths",
      case_insensitive: "ignore_case",
      whole_word: "word",
      fixed_strings: "fixed",
      literal: "fixed",
      files_only: "files_with_matches",
      glob: "include",
      path_pattern: "include",
      hashes: "hash",
    },
    example: { pattern: "function\\s+open\\w+", context: 2 },
    run: async (params, context) => {
      calls.filter(params, context.exchange);
      return params.hash === undefined && params.documents === undefined
        ? await calls.run("grep", params, { context })
        : await grepDocuments(calls, params, context);
    },
  });
}

function list(calls: StoreCalls): Operation {
  return define({
    name: "list",
    kind: "read",
    summary: "List documents, filtered and sorted.",
    params: (z) =>
      z.object({
        limit: count(z, "Most documents in one answer.", { min: 1, initial: 100 }),
        offset: count(z, "Leave out so many at the beginning.", { initial: 0 }),
        sort_by: z
          .enum(["name", "size", "created", "modified", "indexed"])
          .optional()
          .meta({ default: "name", description: "What to sort by." }),
        sort_order: z.enum(["asc", "desc"]).optional().describe("Default asc for names, else desc."),
        recent: count(z, "Only so many that were added or changed last.", { min: 1 }),
        type: z.enum(["text", "binary"]).optional().describe("Only this type of content."),
        extension: text(z, "Only this file extension."),
        pattern: text(z, "Only paths that match this glob."),
        paths_only: flag(z, "Answer {paths, total}."),
        cursor: text(z, "Go on from an earlier answer."),
        ...filters(z),
      }),
    aliases: {
      ...FILTER_ALIASES,
      path_pattern: "pattern",
      glob: "pattern",
      name: "pattern",
      sort: "sort_by",
      order_by: "sort_by",
      order: "sort_order",
      direction: "sort_order",
      max_results: "limit",
      page_size: "limit",
    },
    example: { extension: ".ts", sort_by: "modified", limit: 20 },
    run: async (params, context) => await calls.run("list", calls.filter(params, context.exchange), { context }),
  });
}

function get(calls: StoreCalls): Operation {
  return define({
    name: "get",
    kind: "read",
    summary: "One document, or several: fields, versions, and content or a part of it.",
    params: (z) =>
      z.object({
        hash: text(z, "The content's hash, or its first digits (8 or more)."),
        path: text(z, "The document: whole path, end of a path or base name."),
        documents: documents(z, "Several documents of an earlier answer; answers {documents}."),
        include_content: flag(z, "Put the content into the answer."),
        lines: text(z, "Only these lines of the content: 10-40, 10-, 10."),
        bytes: text(z, "Only these bytes of the content: 0-1023."),
        symbol: text(z, "Only the definition of this function, class or method."),
        version: count(z, "This version of the document.", { min: 1 }),
        graph: flag(z, "Add related documents."),
        depth: count(z, "How far related documents may be.", { min: 1, max: 5, initial: 2 }),
        collection: text(z, "The collection it is in."),
        outputPath: text(z, "Write the content to this file, in a folder that the server may write to."),
      }),
    aliases: {
      name: "path",
      file: "path",
      document: "path",
      file_path: "path",
      id: "hash",
      sha256: "hash",
      content: "include_content",
      with_content: "include_content",
      line_range: "lines",
      range: "lines",
      output: "outputPath",
    },
    example: { path: "src/server.ts", lines: "1-40" },
    run: async ({ outputPath, ...params }, context) => {
      const { exchange } = context;
      const output =
        outputPath === undefined
          ? {}
          : { outputPath: await calls.places.resolve(outputPath, { exchange, parameter: "outputPath", writes: true }) };
      if (params.documents !== undefined) return await getDocuments(calls, { ...params, ...output }, context);
      return await calls.run("get", { ...lookedUp(params), ...output }, { context });
    },
  });
}

function graph(calls: StoreCalls): Operation {
  return define({
    name: "graph",
    kind: "read",
    summary: "Relations of a document or symbol: imports, calls, definitions, links.",
    params: (z) =>
      z.object({
        name: text(z, "A document's path or the end of it; or the name of a symbol."),
        hash: text(z, "The document with this content."),
        node_key: text(z, "A node by its key, from an earlier answer."),
        relation: text(
          z,
          "Only this one: IMPORTS, CALLS, CONTAINS, DEFINES, INHERITS, IMPLEMENTS, REFERENCES, TAGGED, IN_COLLECTION, SAME_CONTENT, VERSION_OF.",
        ),
        depth: count(z, "How many steps away.", { min: 1, max: 5, initial: 1 }),
        limit: count(z, "Most nodes.", { min: 1, initial: 100 }),
        reverse: flag(z, "Follow incoming relations: who imports or calls it."),
        format: z.enum(["json", "mermaid"]).optional().meta({ default: "json", description: "How to answer." }),
        list_types: flag(z, "Types of nodes with their counts."),
        list_type: text(z, "The nodes of this type."),
        collection: text(z, "Only this collection."),
      }),
    aliases: {
      path: "name",
      file: "name",
      symbol: "name",
      document: "name",
      node: "node_key",
      key: "node_key",
      relations: "relation",
      relation_type: "relation",
      incoming: "reverse",
      max_depth: "depth",
    },
    example: { name: "src/server.ts", relation: "IMPORTS", depth: 2 },
    run: async (params, context) => await calls.run("graph", params, { context }),
  });
}

function diff(calls: StoreCalls): Operation {
  return define({
    name: "diff",
    kind: "read",
    summary: "What changed between two snapshots, or in one document.",
    params: (z) =>
      z.object({
        from: z.string().describe("Snapshot: id or label."),
        to: text(z, "Snapshot: id or label; default: what there is now."),
        path: text(z, "The text diff of this document."),
        collection: text(z, "The collection of the snapshots."),
      }),
    aliases: {
      name: "path",
      file: "path",
      old: "from",
      new: "to",
      before: "from",
      after: "to",
      from_snapshot: "from",
      to_snapshot: "to",
      snapshot: "from",
    },
    example: { from: "release-41", to: "release-42" },
    run: async (params, context) => await calls.run("diff", params, { context }),
  });
}

function listCollections(calls: StoreCalls): Operation {
  return define({
    name: "list_collections",
    kind: "read",
    summary: "List collections with their counts.",
    params: (z) => z.object({}),
    example: {},
    run: async (params, context) => await calls.run("list_collections", params, { context }),
  });
}

function listSnapshots(calls: StoreCalls): Operation {
  return define({
    name: "list_snapshots",
    kind: "read",
    summary: "List snapshots, newest first.",
    params: (z) =>
      z.object({
        collection: text(z, "Only this collection."),
        limit: count(z, "Most snapshots.", { min: 1 }),
        cursor: text(z, "Go on from an earlier answer."),
      }),
    aliases: FILTER_ALIASES,
    example: { collection: "manual" },
    run: async (params, context) => await calls.run("list_snapshots", params, { context }),
  });
}

function status(calls: StoreCalls, report: TokenReport | undefined): Operation {
  return define({
    name: "status",
    kind: "read",
    summary: "How much the store holds; and what this server has cost in tokens.",
    params: (z) =>
      z.object({
        detailed: flag(z, "More counts."),
        file_types: flag(z, "Counts by file extension."),
        tokens: flag(z, "The token account of this server."),
      }),
    aliases: { details: "detailed", types: "file_types" },
    example: { detailed: true },
    run: async ({ tokens, ...params }, context) => {
      const result = await calls.run("status", params, { context });
      return tokens ? { ...result, tokens: (await report?.()) ?? {} } : result;
    },
  });
}
