// Tasks with large results, of which the model needs a part, nothing, or everything.
import { equal, match } from "node:assert/strict";
import { ask, execute, handleIn, query, resultOf, within } from "./composite.js";
import { call } from "./direct.js";

const LEVELS = ["info", "info", "info", "debug", "warn"];

/** About 200 kB; one request fails. */
const LOG = Array.from({ length: 2300 }, (_, index) => {
  const at = `2026-03-0${1 + Math.floor(index / 800)}T${String(index % 24).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}:07Z`;
  const request = `request=${(index * 7919) % 100_000}`;
  if (index === 1711) return `${at} error ${request} route=/orders/418 upstream refused the connection (code E-7731)`;
  return `${at} ${LEVELS[index % 5]} ${request} route=/orders/${index % 500} took ${(index * 31) % 900} ms`;
}).join("\n");

/** 420 files in 36 folders. */
const TREE = Object.fromEntries(
  Array.from({ length: 420 }, (_, index) => [
    `in/src/part-${index % 6}/unit-${index % 36}/file-${index}.ts`,
    `export const n = ${index};\n`,
  ]),
);

/** About 20 kB. */
const NOTES = Array.from(
  { length: 220 },
  (_, index) =>
    `${index + 1}. Measured ${(index * 37) % 101} units at station ${(index * 11) % 23}, sky ${index % 3 === 0 ? "clear" : "grey"}.`,
).join("\n");

const SERVICES = Array.from({ length: 300 }, (_, index) => ({
  name: `service-${index}`,
  entityType: "service",
  observations: [`listens on port ${8000 + index}`, `is owned by team ${index % 12}`],
}));
/** Every service except one has a relation. */
const CALLS = SERVICES.filter((_, index) => index !== 97).map(({ name }, index, all) => ({
  from: name,
  to: all[(index + 1) % all.length]?.name ?? "",
  relationType: "calls",
}));

/** @param {{ entities: { name: string }[], relations: { from: string, to: string }[] }} graph */
function unconnected({ entities, relations }) {
  const tied = new Set(relations.flatMap(({ from, to }) => [from, to]));
  return entities.flatMap(({ name }) => (tied.has(name) ? [] : [name])).join(", ");
}

/** @param {string} text */
function codeIn(text) {
  return `It failed with ${/code (E-\d+)/.exec(text)?.[1]}.`;
}

/** @type {import("./tasks.js").Task[]} */
export const LARGE = [
  {
    name: "a line in a log of 200 kB",
    say: "One request in in/app.log ended with an error. What is its code?",
    files: { "in/app.log": LOG },
    *direct() {
      return codeIn((yield* ask(call("files.read_text_file", { path: "in/app.log" }))).text);
    },
    needs: { "read a text file": "files.read_text_file" },
    // The model does not know how large the file is: the answer is truncated and says how to continue.
    *composite() {
      const { hash } = resultOf(yield* ask(query({ op: "files.read_text_file", params: { path: "in/app.log" } })));
      const found = yield* ask(query({ op: "grep", params: { pattern: " error ", hash: hash.slice(0, 12) } }));
      return codeIn(found.text);
    },
    *auto() {
      const file = yield* ask(call("files.read_text_file", { path: "in/app.log" }));
      const hash = handleIn(file);
      if (hash === undefined) return codeIn(file.text);
      return codeIn((yield* ask(query({ op: "grep", params: { pattern: " error ", hash: hash.slice(0, 12) } }))).text);
    },
    check: ({ answer }) => match(answer, /E-7731/),
  },
  {
    name: "files counted in a large tree",
    say: "How many files are in the tree below in/src?",
    files: TREE,
    *direct() {
      const { text } = yield* ask(call("files.directory_tree", { path: "in/src" }));
      return `There are ${text.match(/"type": "file"/g)?.length} files.`;
    },
    needs: { "tree of a folder": "files.directory_tree" },
    // The answer is truncated and says how to continue; only the number of matching lines matters.
    *composite() {
      const { hash } = resultOf(yield* ask(query({ op: "files.directory_tree", params: { path: "in/src" } })));
      const counting = query({ op: "grep", params: { pattern: '"type": "file"', hash: hash.slice(0, 12) } });
      return `There are ${resultOf(yield* ask(within(500, counting))).total} files.`;
    },
    *auto() {
      const tree = yield* ask(call("files.directory_tree", { path: "in/src" }));
      const hash = handleIn(tree);
      if (hash === undefined) return `There are ${tree.text.match(/"type": "file"/g)?.length} files.`;
      const counting = query({ op: "grep", params: { pattern: '"type": "file"', hash: hash.slice(0, 12) } });
      return `There are ${resultOf(yield* ask(within(500, counting))).total} files.`;
    },
    check: ({ answer }) => match(answer, /\b420\b/),
  },
  {
    name: "a file copied",
    say: "Copy in/notes.txt (20 kB) to out/notes.txt.",
    files: { "in/notes.txt": NOTES },
    *direct() {
      const { text } = yield* ask(call("files.read_text_file", { path: "in/notes.txt" }));
      yield [call("files.write_file", { path: "out/notes.txt", content: text })];
      return "It is copied.";
    },
    needs: { "read a text file": "files.read_text_file", "write a file": "files.write_file" },
    // A model that knew references see the full value would set max_tokens, but it has not been told.
    *composite() {
      yield [
        execute(
          { op: "files.read_text_file", params: { path: "in/notes.txt" } },
          { op: "files.write_file", params: { path: "out/notes.txt", content: "$prev.content" } },
        ),
      ];
      return "It is copied.";
    },
    isPipeline: true,
    check: ({ world }) => equal(world.read("out/notes.txt"), NOTES),
  },
  {
    name: "all of a large result",
    say: "Which service in the memory has no relation to any other?",
    memory: [
      ...SERVICES.map((entity) => ({ type: "entity", ...entity })),
      ...CALLS.map((relation) => ({ type: "relation", ...relation })),
    ],
    *direct() {
      return unconnected(JSON.parse((yield* ask(call("memory.read_graph"))).text));
    },
    needs: { "read the whole memory": "memory.read_graph" },
    // The answer is truncated, and the task needs all of it.
    *composite() {
      const first = resultOf(yield* ask(query({ op: "memory.read_graph" })));
      if (first.truncated !== true) return unconnected(first);
      return unconnected(resultOf(yield* ask(within(50_000, query({ op: "memory.read_graph" })))));
    },
    *auto() {
      const graph = yield* ask(call("memory.read_graph"));
      if (handleIn(graph) === undefined) return unconnected(JSON.parse(graph.text));
      return unconnected(resultOf(yield* ask(within(50_000, query({ op: "memory.read_graph" })))));
    },
    check: ({ answer }) => equal(answer, "service-97"),
  },
];
