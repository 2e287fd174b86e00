// The second set: its requests and search phrases were written from the names of the tools and of their parameters, by
// someone who had not seen the ranking, but had read the first set and the beginnings of the descriptions in another
// release of two of the servers. So the phrases may be closer to the tools than those of a stranger.
import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { ask, execute, query, resultOf, resultsOf } from "./composite.js";
import { call } from "./direct.js";

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const SENTENCE = "Trunk lines carry many calls.";
const SUMS = [
  { a: 918, b: 277 },
  { a: 655, b: 541 },
];
const BACKUPS = { mon: 1000, tue: 3000, wed: 9000, thu: 5000, fri: 7000 };
const LOGS = ["a.log", "b.log", "c.log"];
const TITLED = ["one", "two", "three"];
const TERMS = "Acme runs the service.\nThe user pays Acme each month.\nDisputes with Acme are heard in Vienna.\n";
const PEOPLE = [person("Hanna"), person("Ivo"), person("Emil")];
const TIES = [tie("Ivo", "works with", "Hanna"), tie("Emil", "manages", "Ivo")];
const STAFF = ["Dora", "Gus", "Hanna", "Kim", "Lou"];

/** @param {string} name @param {string[]} observations */
function person(name, ...observations) {
  return { type: "entity", name, entityType: "person", observations };
}

/** @param {string} from @param {string} relationType @param {string} to */
function tie(from, relationType, to) {
  return { type: "relation", from, to, relationType };
}

/** @param {readonly string[]} results */
function larger(results) {
  const [first, second] = results.map((text) => Number(/is (\d+)/.exec(text)?.[1]));
  return `${(first ?? 0) > (second ?? 0) ? "918 + 277" : "655 + 541"} is more: ${first} and ${second}.`;
}

/** @param {string} text */
function numbersIn(text) {
  const [a, b] = [...text.matchAll(/^(\d+)$/gm)].map(([number]) => Number(number));
  return { a, b };
}

/** @param {string} text */
function sumIn(text) {
  return `${/is (\d+)/.exec(text)?.[1]}`;
}

/** @param {string} text */
function largestIn(text) {
  return `The largest is ${/\[FILE\] (\S+)\s+([\d.]+ \w+)/.exec(text)?.slice(1).join(" with ")}.`;
}

/** @param {string} text */
function logsIn(text) {
  return [...text.matchAll(/\[FILE\] (\S+\.log)/g)].map(([, name]) => name ?? "");
}

/** @param {string} name */
function moved(name) {
  return { source: `in/${name}`, destination: `out/logs/${name}` };
}

/** @param {{ relations: { from: string, to: string, relationType: string }[] }} graph */
function colleagues({ relations }) {
  const found = relations.filter(({ to, relationType }) => to === "Hanna" && relationType === "works with");
  return found.length === 0 ? undefined : `${found.map(({ from }) => from).join(" and ")} works with Hanna.`;
}

/** @param {string} list @param {{ entities: { name: string }[] }} graph */
function missing(list, { entities }) {
  const names = list.split("\n").filter((name) => name !== "");
  return names
    .filter((name) => !entities.some((entity) => entity.name === name))
    .map((name) => ({ name, entityType: "person", observations: [] }));
}

const RENAMING = { source: "in/draft.md", destination: "in/final.md" };
const REPLACING = {
  path: "in/terms.md",
  edits: Array.from({ length: 3 }, () => ({ oldText: "Acme", newText: "Zenith" })),
};
const CORRECTING = {
  out: { deletions: [{ entityName: "Dora", observations: ["lives in Graz"] }] },
  in: { observations: [{ entityName: "Dora", contents: ["lives in Linz"] }] },
};
const LINKING = { relations: [{ from: "Emil", to: "Hanna", relationType: "mentors" }] };

/** @type {import("./tasks.js").Task[]} */
export const SECOND = [
  {
    name: "echo",
    say: `Have the test server repeat the sentence '${SENTENCE}'`,
    *direct() {
      return (yield* ask(call("everything.echo", { message: SENTENCE }))).text;
    },
    needs: { "repeat a message back": "everything.echo" },
    *composite() {
      return resultOf(yield* ask(query({ op: "everything.echo", params: { message: SENTENCE } }))).text;
    },
    check: ({ answer }) => ok(answer.includes(SENTENCE), answer),
  },
  {
    // How a client shows annotations differs, so the model is asked for the text.
    name: "an error message",
    say: "Get a sample error message from the test server. What does it say?",
    *direct() {
      return (yield* ask(call("everything.get-annotated-message", { messageType: "error" }))).text;
    },
    needs: { "sample error message with priority": "everything.get-annotated-message" },
    *composite() {
      const step = { op: "everything.get-annotated-message", params: { messageType: "error" } };
      return (yield* ask(query(step))).text;
    },
    check: ({ answer }) => match(answer, /Error: Operation failed/),
  },
  {
    name: "two sums compared",
    say: "Which is more: 918 + 277 or 655 + 541? Use the calculator for both.",
    *direct() {
      const results = yield SUMS.map((sum) => call("everything.get-sum", sum));
      return larger(results.map(({ text }) => text));
    },
    needs: { calculator: "everything.get-sum" },
    *composite() {
      const answer = yield* ask(query(...SUMS.map((params) => ({ op: "everything.get-sum", params }))));
      return larger(resultsOf(answer).map((/** @type {{ text: string }} */ { text }) => text));
    },
    secondBest: {
      "everything.get-sum": () => ({ tool: "everything.get-structured-content", args: { location: "New York" } }),
    },
    check: ({ answer }) => equal(answer, "655 + 541 is more: 1195 and 1196."),
  },
  {
    name: "a variable of the environment",
    say: "Is PATH set in the environment of the test server? Yes or no.",
    *direct() {
      return /\bPATH\b/.test((yield* ask(call("everything.get-env"))).text) ? "Yes." : "No.";
    },
    needs: { "show environment variables": "everything.get-env" },
    *composite() {
      return /\bPATH\b/.test((yield* ask(query({ op: "everything.get-env" }))).text) ? "Yes." : "No.";
    },
    secondBest: { "everything.get-env": () => ({ tool: "everything.get-resource-reference", args: {} }) },
    check: ({ answer }) => equal(answer, "Yes."),
  },
  {
    name: "weather into a file",
    say: "Write the current temperature of Chicago to out/chicago.txt, just the number.",
    *direct() {
      const { text } = yield* ask(call("everything.get-structured-content", { location: "Chicago" }));
      const { temperature } = JSON.parse(text);
      yield [call("files.write_file", { path: "out/chicago.txt", content: `${temperature}\n` })];
      return `It is written: ${temperature}.`;
    },
    needs: {
      "current weather in Chicago": "everything.get-structured-content",
      "save text to a file": "files.write_file",
    },
    *composite() {
      const answer = yield* ask(
        execute(
          { op: "everything.get-structured-content", params: { location: "Chicago" } },
          { op: "files.write_file", params: { path: "out/chicago.txt", content: "{{$prev.temperature}}\n" } },
        ),
      );
      return `It is written: ${resultsOf(answer)[0].temperature}.`;
    },
    isPipeline: true,
    check({ answer, world }) {
      match(answer, /: \d+\.$/);
      equal(`It is written: ${world.read("out/chicago.txt").trim()}.`, answer);
    },
  },
  {
    name: "a sum from two files",
    say: "in/a.txt and in/b.txt each hold a number. Add them with the calculator and write the result to out/sum.txt.",
    files: { "in/a.txt": "4711\n", "in/b.txt": "289\n" },
    *direct() {
      const { text } = yield* ask(call("files.read_multiple_files", { paths: ["in/a.txt", "in/b.txt"] }));
      const sum = yield* ask(call("everything.get-sum", numbersIn(text)));
      yield [call("files.write_file", { path: "out/sum.txt", content: sumIn(sum.text) })];
      return "It is written.";
    },
    needs: {
      "read numbers from two files, add them, write the result to a file": [
        "files.read_multiple_files",
        "everything.get-sum",
        "files.write_file",
      ],
    },
    *composite() {
      const paths = ["in/a.txt", "in/b.txt"];
      const { content } = resultOf(yield* ask(query({ op: "files.read_multiple_files", params: { paths } })));
      const sum = resultOf(yield* ask(query({ op: "everything.get-sum", params: numbersIn(content) })));
      yield [execute({ op: "files.write_file", params: { path: "out/sum.txt", content: sumIn(sum.text) } })];
      return "It is written.";
    },
    check: ({ world }) => equal(world.read("out/sum.txt"), "5000"),
  },
  {
    name: "how large",
    say: "How many bytes does in/data.bin have?",
    files: { "in/data.bin": "x".repeat(12_345) },
    *direct() {
      const { text } = yield* ask(call("files.get_file_info", { path: "in/data.bin" }));
      return `It has ${/size: (\d+)/.exec(text)?.[1]} bytes.`;
    },
    needs: { "file size": "files.get_file_info" },
    *composite() {
      const { text } = yield* ask(query({ op: "files.get_file_info", params: { path: "in/data.bin" } }));
      return `It has ${/size: (\d+)/.exec(text)?.[1]} bytes.`;
    },
    secondBest: {
      "files.get_file_info": () => ({ tool: "files.list_directory_with_sizes", args: { path: "in" } }),
    },
    check: ({ answer }) => match(answer, /\b12345\b/),
  },
  {
    name: "the largest of a folder",
    say: "Which is the largest file in in/backups, and how large is it?",
    files: Object.fromEntries(
      Object.entries(BACKUPS).map(([day, sizeBytes]) => [`in/backups/${day}.sql`, "-".repeat(sizeBytes)]),
    ),
    *direct() {
      const args = { path: "in/backups", sortBy: "size" };
      return largestIn((yield* ask(call("files.list_directory_with_sizes", args))).text);
    },
    needs: { "list folder sorted by size": "files.list_directory_with_sizes" },
    *composite() {
      const params = { path: "in/backups", sortBy: "size" };
      return largestIn((yield* ask(query({ op: "files.list_directory_with_sizes", params }))).text);
    },
    check: ({ answer }) => match(answer, /wed\.sql with [89]/),
  },
  {
    name: "rename",
    say: "Rename in/draft.md to in/final.md.",
    files: { "in/draft.md": "# Plan\n" },
    *direct() {
      yield [call("files.move_file", RENAMING)];
      return "It is renamed.";
    },
    needs: { "rename a file": "files.move_file" },
    *composite() {
      yield [execute({ op: "files.move_file", params: RENAMING })];
      return "It is renamed.";
    },
    secondBest: {
      "files.move_file": ({ source }) => ({
        tool: "files.edit_file",
        args: { path: source, edits: [{ oldText: "draft", newText: "final" }] },
      }),
    },
    check({ world }) {
      equal(world.read("in/final.md"), "# Plan\n");
      throws(() => world.read("in/draft.md"));
    },
  },
  {
    name: "tidy up",
    say: "Move every .log file in in/ into out/logs, which does not exist yet.",
    files: { ...Object.fromEntries(LOGS.map((name) => [`in/${name}`, `${name}\n`])), "in/keep.txt": "keep\n" },
    *direct() {
      const [list] = yield [
        call("files.list_directory", { path: "in" }),
        call("files.create_directory", { path: "out/logs" }),
      ];
      yield logsIn(list?.text ?? "").map((name) => call("files.move_file", moved(name)));
      return "They are moved.";
    },
    needs: {
      "list files in a folder": "files.list_directory",
      "make a folder": "files.create_directory",
      "move files": "files.move_file",
    },
    *composite() {
      const { text } = yield* ask(query({ op: "files.list_directory", params: { path: "in" } }));
      yield [
        execute(
          { op: "files.create_directory", params: { path: "out/logs" } },
          ...logsIn(text).map((name) => ({ op: "files.move_file", params: moved(name) })),
        ),
      ];
      return "They are moved.";
    },
    secondBest: { "files.list_directory": ({ path }) => ({ tool: "files.directory_tree", args: { path } }) },
    check({ world }) {
      deepEqual(
        LOGS.map((name) => world.read(`out/logs/${name}`)),
        LOGS.map((name) => `${name}\n`),
      );
      equal(world.read("in/keep.txt"), "keep\n");
    },
  },
  {
    name: "the end of a file",
    say: "What does the last line of in/journal.txt say?",
    files: {
      "in/journal.txt": Array.from({ length: 3000 }, (_, index) =>
        index === 2999 ? "entry 3000: shut down by Mara" : `entry ${index + 1}: ok`,
      ).join("\n"),
    },
    *direct() {
      return (yield* ask(call("files.read_text_file", { path: "in/journal.txt", tail: 1 }))).text;
    },
    needs: { "last lines of a file": "files.read_text_file" },
    *composite() {
      const params = { path: "in/journal.txt", tail: 1 };
      return resultOf(yield* ask(query({ op: "files.read_text_file", params }))).content;
    },
    secondBest: {
      "files.read_text_file": ({ path }) => ({ tool: "files.read_multiple_files", args: { paths: [path] } }),
    },
    check: ({ answer }) => match(answer, /^entry 3000: shut down by Mara$/),
  },
  {
    name: "the first lines of three files",
    say: "What are the titles (first lines) of in/one.md, in/two.md and in/three.md?",
    files: Object.fromEntries(
      TITLED.map((name) => [`in/${name}.md`, `# Title ${name}\n\n${"Some more text.\n".repeat(40)}`]),
    ),
    *direct() {
      const results = yield TITLED.map((name) => call("files.read_text_file", { path: `in/${name}.md`, head: 1 }));
      return results.map(({ text }) => text).join(", ");
    },
    needs: { "read the beginning of a file": "files.read_text_file" },
    *composite() {
      const steps = TITLED.map((name) => ({ op: "files.read_text_file", params: { path: `in/${name}.md`, head: 1 } }));
      const results = resultsOf(yield* ask(query(...steps)));
      return results.map((/** @type {{ content: string }} */ { content }) => content).join(", ");
    },
    secondBest: {
      "files.read_text_file": ({ path, head }) => ({ tool: "files.read_file", args: { path, head } }),
    },
    check: ({ answer }) => equal(answer, "# Title one, # Title two, # Title three"),
  },
  {
    name: "one word everywhere",
    say: "In in/terms.md the company is still called Acme. Make that Zenith in all three places.",
    files: { "in/terms.md": TERMS },
    *direct() {
      yield [call("files.edit_file", REPLACING)];
      return "It is Zenith now.";
    },
    needs: { "replace text in a file": "files.edit_file" },
    *composite() {
      yield [execute({ op: "files.edit_file", params: REPLACING })];
      return "It is Zenith now.";
    },
    check: ({ world }) => equal(world.read("in/terms.md"), TERMS.replaceAll("Acme", "Zenith")),
  },
  {
    name: "where am I allowed",
    say: "Which folders may you work in?",
    *direct() {
      return (yield* ask(call("files.list_allowed_directories"))).text;
    },
    needs: { "allowed folders": "files.list_allowed_directories" },
    *composite() {
      return (yield* ask(query({ op: "files.list_allowed_directories" }))).text;
    },
    check: ({ answer }) => match(answer, /\/work\b/),
  },
  {
    name: "what kind of picture",
    say: "Look at in/logo.png. Which media type is it?",
    files: { "in/logo.png": PIXEL },
    *direct() {
      const { images } = yield* ask(call("files.read_media_file", { path: "in/logo.png" }));
      return `It is ${images[0]?.mediaType}.`;
    },
    needs: { "open an image file": "files.read_media_file" },
    *composite() {
      const { images } = yield* ask(query({ op: "files.read_media_file", params: { path: "in/logo.png" } }));
      return `It is ${images[0]?.mediaType}.`;
    },
    secondBest: { "files.read_media_file": ({ path }) => ({ tool: "files.read_text_file", args: { path } }) },
    check: ({ answer }) => equal(answer, "It is image/png."),
  },
  {
    name: "forget a person",
    say: "Forget everything about Gus.",
    memory: [person("Dora"), person("Gus"), person("Hanna"), tie("Gus", "works with", "Dora")],
    *direct() {
      yield [call("memory.delete_entities", { entityNames: ["Gus"] })];
      return "Gus is forgotten.";
    },
    needs: { "delete an entity from memory": "memory.delete_entities" },
    *composite() {
      yield [execute({ op: "memory.delete_entities", params: { entityNames: ["Gus"] } })];
      return "Gus is forgotten.";
    },
    secondBest: {
      "memory.delete_entities": () => ({
        tool: "memory.delete_observations",
        args: { deletions: [{ entityName: "Gus", observations: [] }] },
      }),
    },
    check: ({ world }) => deepEqual(world.remembered(), [person("Dora"), person("Hanna")]),
  },
  {
    name: "correct a fact",
    say: "Dora no longer lives in Graz, she lives in Linz now. Correct that in the memory.",
    memory: [person("Dora", "lives in Graz", "plays the cello")],
    *direct() {
      yield [call("memory.delete_observations", CORRECTING.out), call("memory.add_observations", CORRECTING.in)];
      return "It is corrected.";
    },
    needs: {
      "remove a wrong fact about a person": "memory.delete_observations",
      "add a fact about a person": "memory.add_observations",
    },
    *composite() {
      yield [
        execute(
          { op: "memory.delete_observations", params: CORRECTING.out },
          { op: "memory.add_observations", params: CORRECTING.in },
        ),
      ];
      return "It is corrected.";
    },
    check: ({ world }) => deepEqual(world.remembered(), [person("Dora", "plays the cello", "lives in Linz")]),
  },
  {
    name: "who works with whom",
    say: "Who works with Hanna?",
    memory: [...PEOPLE, ...TIES],
    *direct() {
      const opened = JSON.parse((yield* ask(call("memory.open_nodes", { names: ["Hanna"] }))).text);
      return colleagues(opened) ?? "Nobody.";
    },
    needs: { "look up relations of a person": "memory.open_nodes" },
    *composite() {
      const opened = resultOf(yield* ask(query({ op: "memory.open_nodes", params: { names: ["Hanna"] } })));
      return colleagues(opened) ?? "Nobody.";
    },
    check: ({ answer }) => equal(answer, "Ivo works with Hanna."),
  },
  {
    name: "a new link between known people",
    say: "Remember that Emil mentors Hanna; both are in the memory already.",
    memory: [...PEOPLE, ...TIES],
    *direct() {
      yield [call("memory.create_relations", LINKING)];
      return "I will remember it.";
    },
    needs: { "connect two people in memory": "memory.create_relations" },
    *composite() {
      yield [execute({ op: "memory.create_relations", params: LINKING })];
      return "I will remember it.";
    },
    secondBest: {
      "memory.create_relations": () => ({
        tool: "memory.create_entities",
        args: { entities: ["Emil", "Hanna"].map((name) => ({ name, entityType: "person", observations: [] })) },
      }),
    },
    check: ({ world }) => deepEqual(world.remembered(), [...PEOPLE, ...TIES, tie("Emil", "mentors", "Hanna")]),
  },
  {
    name: "from the memory, checked against a file",
    say: "in/staff.txt lists the staff, one name per line. Who of them is missing in the memory? Add those as persons.",
    files: { "in/staff.txt": `${STAFF.join("\n")}\n` },
    memory: STAFF.slice(0, 3).map((name) => person(name)),
    *direct() {
      const [list, graph] = yield [call("files.read_text_file", { path: "in/staff.txt" }), call("memory.read_graph")];
      const entities = missing(list?.text ?? "", JSON.parse(graph?.text ?? ""));
      yield [call("memory.create_entities", { entities })];
      return "They are added.";
    },
    needs: {
      "read a list of names from a file, compare with everything in memory, create missing people": [
        "files.read_text_file",
        "memory.read_graph",
        "memory.create_entities",
      ],
    },
    *composite() {
      const [list, graph] = resultsOf(
        yield* ask(
          query({ op: "files.read_text_file", params: { path: "in/staff.txt" } }, { op: "memory.read_graph" }),
        ),
      );
      const entities = missing(list.content, graph);
      yield [execute({ op: "memory.create_entities", params: { entities } })];
      return "They are added.";
    },
    check: ({ world }) =>
      deepEqual(
        world.remembered(),
        STAFF.map((name) => person(name)),
      ),
  },
];
