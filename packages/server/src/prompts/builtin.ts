// The prompts that are always there. Each is a piece of work that people ask for again and again, told in the operations of
// this server: which pipeline to begin with, what to look at next, and what the answer has to hold.
import type { OwnPrompt, PromptArguments, PromptParameter } from "./prompt.js";

/** A pipeline as it stands in a text. */
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

/** Narrows an operation to what was asked for. */
function within(args: PromptArguments): Readonly<Record<string, unknown>> {
  return args.collection === undefined || args.collection === "" ? {} : { collection: args.collection };
}

const searchCodebase = builtin(
  {
    name: "search_codebase",
    title: "Search the codebase",
    description: "Find where something is implemented, by meaning, by pattern and along the code graph.",
    parameters: [
      { name: "query", description: "What to find: a behaviour, a name, an error message.", required: true },
      { name: "extension", description: "Only files with this extension, such as .ts." },
      collection,
    ],
  },
  (args) => {
    const extension = args.extension ? { extension: args.extension } : {};
    const search = step("search", { query: args.query, limit: 8, ...extension, ...within(args) });
    return `Find this in the indexed code: ${args.query}

1. Search by meaning and look at the best hits in one turn:
   ${query(search, { op: "get", for_each: "$prev.results[0:3]", params: { hash: "$item.hash", lines: "1-80", include_content: true } })}
2. If a name or a message is known, look for its exact spelling, with its surroundings:
   ${query(step("grep", { pattern: "name_or_pattern", line_numbers: true, context: 2, ...within(args) }))}
3. Follow what was found: who calls it and what it uses.
   ${query(step("graph", { name: "path/of/the/file", relation: "CALLS", depth: 2, limit: 30 }))}
   With \`"reverse": true\` it shows the callers.
4. Read only the lines that matter: \`get\` takes \`lines\` ("40-90") or \`symbol\`.

If nothing fits, say it in other words before giving up: search finds by meaning. If the store is empty, say so, and offer to take the folder up with \`execute {"operations": [{"op": "add", "params": {"path": "."}}]}\`.

Answer with the places as path:line, one sentence on what each does, and the one to begin with. Say what you did not look at.`;
  },
);

const summarizeDocument = builtin(
  {
    name: "summarize_document",
    title: "Summarize a document",
    description: "Summarize one document of the store, reading it in parts where it is long.",
    parameters: [
      {
        name: "path",
        description: "The document: its path, the end of it, or its name.",
        required: true,
        values: "document",
      },
      { name: "focus", description: "What the summary is for, or what to look at in particular." },
      { name: "length", description: "How long it may be, such as 'five sentences'." },
    ],
  },
  (args) => `Summarize the document "${args.path}".

1. See what it is and how long:
   ${query(step("get", { name: args.path }))}
2. Read it. A short one at once, a long one in ranges of about 400 lines, one after another until the end:
   ${query(step("get", { name: args.path, lines: "1-400", include_content: true }))}
   An answer with \`"truncated": true\` was cut: go on from where it stopped instead of guessing the rest.
3. If the name stands for several documents, the error lists them: ask which one is meant.
${args.focus ? `\nLook in particular at: ${args.focus}\n` : ""}
Write ${args.length ? args.length : "at most ten sentences"}: what it is about, what it says or decides, what is open. Give line numbers for what somebody may want to check. Nothing that is not in the document.`,
);

const findRelated = builtin(
  {
    name: "find_related",
    title: "Find related documents",
    description: "Find what belongs to a document: what it refers to, what refers to it, and what is about the same.",
    parameters: [
      { name: "path", description: "The document to begin with.", required: true, values: "document" },
      collection,
    ],
  },
  (args) => `Find what belongs to "${args.path}".

1. What it refers to, and what refers to it:
   ${query(step("graph", { name: args.path, depth: 2, limit: 40, ...within(args) }))}
   ${query(step("graph", { name: args.path, depth: 1, reverse: true, limit: 40, ...within(args) }))}
2. What is about the same without naming it. Read its beginning, then search with its subject in your own words:
   ${query(step("get", { name: args.path, lines: "1-60", include_content: true }))}
   ${query(step("search", { query: "the subject in one sentence", limit: 10, ...within(args) }))}
3. Look into those you are not sure of before you name them.

Answer in three groups (uses, used by, same subject), at most seven each, the closest first, with the path and why it belongs.`,
);

const reviewChanges = builtin(
  {
    name: "review_changes",
    title: "Review changes",
    description: "Review what has changed between two snapshots of the store, or since one.",
    parameters: [
      {
        name: "from",
        description: "The snapshot to begin with: id or label. Default: the one before the last.",
        values: "snapshot",
      },
      {
        name: "to",
        description: "The snapshot to end with. Default: the documents as they are now.",
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

1. ${args.from ? "If the name is not found, see which snapshots there are:" : "Choose the snapshot to compare with:"}
   ${query(step("list_snapshots", within(args)))}
2. See which files were added, removed, modified or renamed:
   ${query(step("diff", { from, ...to, ...within(args) }))}
3. Read each change; with \`path\` the answer holds the text diff:
   ${query(step("diff", { from, ...to, path: "path/of/a/file", ...within(args) }))}
4. For what looks risky, see who depends on it before you judge:
   ${query(step("graph", { name: "path/of/a/file", reverse: true, depth: 2, limit: 30 }))}
${args.focus ? `\nLook in particular for: ${args.focus}\n` : ""}
Begin with what can break, then what is unclear, then what could be simpler; each with path:line, why it matters and what to do. Praise nothing for politeness. If the change is fine, say so in one sentence. Say which files you did not read.`;
  },
);

const onboardRepository = builtin(
  {
    name: "onboard_repository",
    title: "Get to know a repository",
    description: "Explain a repository to somebody new: what it is, how it is built, where to begin.",
    parameters: [
      { name: "path", description: "The folder of the repository. Default: the one the server works in." },
      { name: "role", description: "For whom: a maintainer, a user, a reviewer." },
    ],
  },
  (args) => {
    const folder = args.path ? args.path : ".";
    return `Explain the repository in "${folder}" to ${args.role ? args.role : "somebody who will work on it from tomorrow"}.

1. What is in the store, and how far indexing is:
   ${query(step("status", { detailed: true, file_types: true }), step("list_collections"))}
   If the repository is not there yet: \`execute {"operations": [{"op": "add", "params": {"path": ${JSON.stringify(folder)}}}]}\`
2. The files that say what it is, read in one turn:
   ${query(step("list", { pattern: "{README,CONTRIBUTING,ARCHITECTURE,AGENTS}*", limit: 10 }), { op: "get", for_each: "$prev.documents[0:4]", params: { hash: "$item.hash", lines: "1-120", include_content: true } })}
3. Its manifests and entry points:
   ${query(step("grep", { pattern: '"(name|main|bin|scripts|workspaces)"', line_numbers: true }))}
4. How the parts hang together:
   ${query(step("graph", { name: "path/of/the/entry/point", relation: "IMPORTS", depth: 2, limit: 40 }))}
5. What changed last: ${query(step("list", { recent: 20 }))}

Answer in this order: what it does in two sentences; the parts and what each is for; how to build, test and run it, with the commands as they are written there; the conventions that would surprise somebody; the three files to read first. Mark what you conclude and did not read.`;
  },
);

const researchTopic = builtin(
  {
    name: "research_topic",
    title: "Research a topic",
    description: "Answer a question from the store and from every connected server, with sources.",
    parameters: [
      { name: "topic", description: "The question.", required: true },
      { name: "depth", description: "quick, or thorough. Default: quick." },
      collection,
    ],
  },
  (args) => `Research this: ${args.topic}

1. What the store knows:
   ${query(step("search", { query: args.topic, limit: 10, ...within(args) }))}
2. Which connected servers could know more, and what their operations take:
   ${query(step("describe", { find: args.topic }))}
   ${query(step("describe", { target: "server.tool" }))}
   An operation of a server is \`<server>.<tool>\`; one that only reads may stand in \`query\`, every other in \`execute\`.
3. Ask them, and pass on what one step found to the next instead of reading it all:
   ${query({ op: "server.tool", params: { q: args.topic }, as: "found" }, step("search", { query: "{{$found.items[0].title}}" }))}
4. Read the sources that carry the answer with \`get\`; long results are in the store under their \`hash\`, and \`grep\` and \`get\` work on them.
${args.depth === "thorough" ? "5. Look for what speaks against your answer, and for a second source of each claim, before you write.\n" : ""}
Answer the question first, in one paragraph. Then the facts behind it, each with its source (path:line, hash or server). Then what the sources disagree on, and what you could not find. Nothing without a source.`,
);

/** All built-in prompts. */
export const BUILTIN_PROMPTS: readonly OwnPrompt[] = [
  searchCodebase,
  summarizeDocument,
  findRelated,
  reviewChanges,
  onboardRepository,
  researchTopic,
];
