// The built-in prompts. Each describes a common task in terms of this server's operations: which pipeline to start
// with, what to check next, and what the answer should contain.
import type { OwnPrompt, PromptArguments, PromptParameter } from "./prompt.js";

/** Formats a pipeline as text. */
function query(...steps: readonly Readonly<Record<string, unknown>>[]): string {
  return `\`query ${JSON.stringify({ steps })}\``;
}

function step(op: string, params?: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return params === undefined ? { op } : { op, params };
}

function builtin(
  prompt: Pick<OwnPrompt, "name" | "title" | "description"> & { parameters?: readonly PromptParameter[] },
  render: (args: PromptArguments) => string,
): OwnPrompt {
  return { parameters: [], ...prompt, role: "user", render };
}

const collection: PromptParameter = {
  name: "collection",
  description: "Only this collection of the store.",
  values: "collection",
};

/** Limits an operation to the requested collection. */
function within(args: PromptArguments): Readonly<Record<string, unknown>> {
  return args.collection === undefined || args.collection === "" ? {} : { collection: args.collection };
}

const searchCodebase = builtin(
  {
    name: "search_codebase",
    title: "Search the codebase",
    description: "Find where something is implemented, by meaning, by pattern and along the code graph.",
    parameters: [
      { name: "query", description: "What to find: a behavior, a name, an error message.", required: true },
      { name: "extension", description: "Only files with this extension, such as .ts." },
      collection,
    ],
  },
  (args) => {
    const extension = args.extension ? { extension: args.extension } : {};
    const search = step("search", { query: args.query, limit: 8, ...extension, ...within(args) });
    return `Find this in the indexed code: ${args.query}

1. Search by meaning and read the best hits in one call:
   ${query(search, { op: "get", for_each: "$prev.results[0:3]", params: { hash: "$item.hash", lines: "1-80", include_content: true } })}
2. If you know a name or a message, grep for its exact spelling with context:
   ${query(step("grep", { pattern: "name_or_pattern", line_numbers: true, context: 2, ...within(args) }))}
3. Follow the results: what calls them and what they use.
   ${query(step("graph", { name: "path/of/the/file", relation: "CALLS", depth: 2, limit: 30 }))}
   With \`"reverse": true\` it shows the callers.
4. Read only the lines that matter: \`get\` takes \`lines\` ("40-90") or \`symbol\`.

If nothing fits, rephrase the query before giving up: search matches by meaning. If the store is empty, say so, and offer to index the folder with \`execute {"operations": [{"op": "add", "params": {"path": "."}}]}\`.

Answer with the locations as path:line, one sentence on what each does, and which one to start with. Say what you did not check.`;
  },
);

const summarizeDocument = builtin(
  {
    name: "summarize_document",
    title: "Summarize a document",
    description: "Summarize one document in the store, reading a long one in parts.",
    parameters: [
      {
        name: "path",
        description: "The document: its path, the end of its path, or its name.",
        required: true,
        values: "document",
      },
      { name: "focus", description: "What the summary is for, or what to focus on." },
      { name: "length", description: "How long it may be, such as 'five sentences'." },
    ],
  },
  (args) => `Summarize the document "${args.path}".

1. See what it is and how long:
   ${query(step("get", { name: args.path }))}
2. Read it: a short one in full, a long one in ranges of about 400 lines until the end:
   ${query(step("get", { name: args.path, lines: "1-400", include_content: true }))}
   An answer with \`"truncated": true\` was cut off: continue where it stopped instead of guessing the rest.
3. If the name matches several documents, the error lists them: ask which one is meant.
${args.focus ? `\nFocus on: ${args.focus}\n` : ""}
Write ${args.length ? args.length : "at most ten sentences"}: what it is about, what it says or decides, what is open. Give line numbers for claims a reader may want to check. Add nothing that is not in the document.`,
);

const findRelated = builtin(
  {
    name: "find_related",
    title: "Find related documents",
    description:
      "Find what is related to a document: what it references, what references it, and what covers the same subject.",
    parameters: [
      { name: "path", description: "The document to start with.", required: true, values: "document" },
      collection,
    ],
  },
  (args) => `Find what is related to "${args.path}".

1. What it references, and what references it:
   ${query(step("graph", { name: args.path, depth: 2, limit: 40, ...within(args) }))}
   ${query(step("graph", { name: args.path, depth: 1, reverse: true, limit: 40, ...within(args) }))}
2. Documents on the same subject that don't mention it. Read its beginning, then search for its subject in your own words:
   ${query(step("get", { name: args.path, lines: "1-60", include_content: true }))}
   ${query(step("search", { query: "the subject in one sentence", limit: 10, ...within(args) }))}
3. Open the ones you are not sure about before you list them.

Answer in three groups (uses, used by, same subject), at most seven each, closest first, with the path and why it is related.`,
);

const reviewChanges = builtin(
  {
    name: "review_changes",
    title: "Review changes",
    description: "Review what has changed between two snapshots of the store, or since one.",
    parameters: [
      {
        name: "from",
        description: "The snapshot to start from: id or label. Default: the one before the last.",
        values: "snapshot",
      },
      {
        name: "to",
        description: "The snapshot to compare with. Default: the current documents.",
        values: "snapshot",
      },
      { name: "focus", description: "What to look for: security, compatibility, tests." },
      collection,
    ],
  },
  (args) => {
    const from = args.from ? args.from : "<id>";
    const to = args.to ? { to: args.to } : {};
    return `Review the changes${args.from ? ` since "${args.from}"` : ""}${args.to ? ` up to "${args.to}"` : ""}.

1. ${args.from ? "If the name is not found, list the snapshots:" : "Choose the snapshot to compare with:"}
   ${query(step("list_snapshots", within(args)))}
2. See which files were added, removed, modified or renamed:
   ${query(step("diff", { from, ...to, ...within(args) }))}
3. Read each change; with \`path\` the answer contains the text diff:
   ${query(step("diff", { from, ...to, path: "path/of/a/file", ...within(args) }))}
4. If a change looks risky, check what depends on it before you judge:
   ${query(step("graph", { name: "path/of/a/file", reverse: true, depth: 2, limit: 30 }))}
${args.focus ? `\nFocus on: ${args.focus}\n` : ""}
Start with what can break, then what is unclear, then what could be simpler; each with path:line, why it matters and what to do. Do not add polite praise. If the change is fine, say so in one sentence. Say which files you did not read.`;
  },
);

const onboardRepository = builtin(
  {
    name: "onboard_repository",
    title: "Get to know a repository",
    description: "Explain a repository to a newcomer: what it is, how it is built, where to start.",
    parameters: [
      { name: "path", description: "The repository folder. Default: the server's workspace." },
      { name: "role", description: "The audience: a maintainer, a user, a reviewer." },
    ],
  },
  (args) => {
    const folder = args.path ? args.path : ".";
    return `Explain the repository in "${folder}" to ${args.role ? args.role : "a developer who starts working on it tomorrow"}.

1. What is in the store, and how far indexing has come:
   ${query(step("status", { detailed: true, file_types: true }), step("list_collections"))}
   If the repository is not indexed yet: \`execute {"operations": [{"op": "add", "params": {"path": ${JSON.stringify(folder)}}}]}\`
2. The files that describe it, in one call:
   ${query(step("list", { pattern: "{README,CONTRIBUTING,ARCHITECTURE,AGENTS}*", limit: 10 }), { op: "get", for_each: "$prev.documents[0:4]", params: { hash: "$item.hash", lines: "1-120", include_content: true } })}
3. Its manifests and entry points:
   ${query(step("grep", { pattern: '"(name|main|bin|scripts|workspaces)"', line_numbers: true }))}
4. How the parts fit together:
   ${query(step("graph", { name: "path/of/the/entry/point", relation: "IMPORTS", depth: 2, limit: 40 }))}
5. What changed last: ${query(step("list", { recent: 20 }))}

Answer in this order: what it does in two sentences; the parts and what each is for; how to build, test and run it, with the exact commands from the repository; conventions that might surprise a newcomer; the three files to read first. Mark what you inferred but did not read.`;
  },
);

const researchTopic = builtin(
  {
    name: "research_topic",
    title: "Research a topic",
    description: "Answer a question from the store and all connected servers, with sources.",
    parameters: [
      { name: "topic", description: "The question.", required: true },
      { name: "depth", description: "quick or thorough. Default: quick." },
      collection,
    ],
  },
  (args) => `Research this: ${args.topic}

1. What the store knows:
   ${query(step("search", { query: args.topic, limit: 10, ...within(args) }))}
2. Which connected servers might know more, and the parameters of their operations:
   ${query(step("describe", { find: args.topic }))}
   ${query(step("describe", { target: "server.tool" }))}
   An operation of a server is \`<server>.<tool>\`; use \`query\` for read-only ones and \`execute\` for all others.
3. Call them, and pass results from one step to the next instead of reading everything:
   ${query({ op: "server.tool", params: { q: args.topic }, as: "found" }, step("search", { query: "{{$found.items[0].title}}" }))}
4. Read the sources that support the answer with \`get\`; long results are in the store under their \`hash\`, and \`grep\` and \`get\` work on them.
${args.depth === "thorough" ? "5. Before you write, look for evidence against your answer and for a second source for each claim.\n" : ""}
Answer the question first, in one paragraph. Then the supporting facts, each with its source (path:line, hash or server). Then what the sources disagree on, and what you could not find. Make no claim without a source.`,
);

export const BUILTIN_PROMPTS: readonly OwnPrompt[] = [
  searchCodebase,
  summarizeDocument,
  findRelated,
  reviewChanges,
  onboardRepository,
  researchTopic,
];
