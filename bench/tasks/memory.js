// Tasks for server-memory, alone and combined with files.
import { deepEqual, equal, match } from "node:assert/strict";
import { ask, execute, query, resultOf, resultsOf } from "./composite.js";
import { call } from "./direct.js";

const TEAM = [
  { name: "Ada", entityType: "person", observations: ["leads the team", "works in Lisbon"] },
  { name: "Ben", entityType: "person", observations: ["builds the importer"] },
  { name: "Cleo", entityType: "person", observations: ["tests everything"] },
  { name: "Importer", entityType: "project", observations: ["due in May"] },
];
const TIES = [
  { from: "Ben", to: "Ada", relationType: "reports to" },
  { from: "Cleo", to: "Ada", relationType: "reports to" },
  { from: "Ben", to: "Importer", relationType: "works on" },
  { from: "Ada", to: "Importer", relationType: "owns" },
];
const PEOPLE = ["Dora", "Emil", "Fay", "Gus", "Hanna", "Ivo"];

/**
 * Builds lines in the server's storage format. @param {readonly object[]} entities @param {readonly object[]}
 * [relations]
 */
function graph(entities, relations = []) {
  return [
    ...entities.map((entity) => ({ type: "entity", ...entity })),
    ...relations.map((relation) => ({ type: "relation", ...relation })),
  ];
}

/** @param {string} text */
function entitiesFrom(text) {
  return [...text.matchAll(/^Name: (\w+)\nRole: (.+)$/gm)].map(([, name, role]) => ({
    name,
    entityType: "person",
    observations: [`is ${role}`],
  }));
}

/** @param {{ entities: typeof TEAM, relations: typeof TIES }} found */
function summary({ entities, relations }) {
  const lines = [
    ...entities.flatMap(({ name, observations }) => observations.map((observation) => `${name}: ${observation}`)),
    ...relations.map(({ from, relationType, to }) => `${from} ${relationType} ${to}`),
  ];
  return `# Importer\n\n${lines.map((line) => `- ${line}`).join("\n")}\n`;
}

/** @type {import("./tasks.js").Task[]} */
export const MEMORY = [
  {
    name: "entities and relations",
    say: `Remember the team: ${TEAM.map(({ name, entityType, observations }) => `${name} (${entityType}) ${observations.join(" and ")}`).join("; ")}. ${TIES.map(({ from, relationType, to }) => `${from} ${relationType} ${to}`).join(", ")}.`,
    *direct() {
      yield [call("memory.create_entities", { entities: TEAM }), call("memory.create_relations", { relations: TIES })];
      return "I will remember them.";
    },
    needs: {
      "remember entities": "memory.create_entities",
      "remember relations between entities": "memory.create_relations",
    },
    *composite() {
      yield [
        execute(
          { op: "memory.create_entities", params: { entities: TEAM } },
          { op: "memory.create_relations", params: { relations: TIES } },
        ),
      ];
      return "I will remember them.";
    },
    check: ({ world }) => deepEqual(world.remembered(), graph(TEAM, TIES)),
  },
  {
    name: "search the memory, then add to what was found",
    say: "Note on whoever builds the importer that the importer is done.",
    memory: graph(TEAM, TIES),
    *direct() {
      const found = JSON.parse((yield* ask(call("memory.search_nodes", { query: "builds the importer" }))).text);
      const entityName = found.entities[0].name;
      yield [call("memory.add_observations", { observations: [{ entityName, contents: ["finished the importer"] }] })];
      return `Noted on ${entityName}.`;
    },
    needs: { "search the memory": "memory.search_nodes", "add an observation": "memory.add_observations" },
    *composite() {
      const contents = ["finished the importer"];
      const answer = yield* ask(
        execute(
          { op: "memory.search_nodes", params: { query: "builds the importer" } },
          {
            op: "memory.add_observations",
            params: { observations: [{ entityName: "$prev.entities[0].name", contents }] },
          },
        ),
      );
      return `Noted on ${resultsOf(answer)[0].entities[0].name}.`;
    },
    isPipeline: true,
    check({ answer, world }) {
      equal(answer, "Noted on Ben.");
      const ben = world.remembered().find(({ name }) => name === "Ben");
      deepEqual(ben?.observations, ["builds the importer", "finished the importer"]);
    },
  },
  {
    name: "from files into the memory",
    say: `Read in/people/*.txt for ${PEOPLE.join(", ")} (their names in small letters) and remember each of them with their role.`,
    files: Object.fromEntries(
      PEOPLE.map((name, index) => [
        `in/people/${name.toLowerCase()}.txt`,
        `Name: ${name}\nRole: engineer of area ${index + 1}\nSince: 20${10 + index}\n\nLikes long walks and short meetings.\n`,
      ]),
    ),
    *direct() {
      const paths = PEOPLE.map((name) => `in/people/${name.toLowerCase()}.txt`);
      const { text } = yield* ask(call("files.read_multiple_files", { paths }));
      yield [call("memory.create_entities", { entities: entitiesFrom(text) })];
      return "They are in the memory.";
    },
    needs: {
      "read several files at once": "files.read_multiple_files",
      "remember entities": "memory.create_entities",
    },
    *composite() {
      const paths = PEOPLE.map((name) => `in/people/${name.toLowerCase()}.txt`);
      const { content } = resultOf(yield* ask(query({ op: "files.read_multiple_files", params: { paths } })));
      yield [execute({ op: "memory.create_entities", params: { entities: entitiesFrom(content) } })];
      return "They are in the memory.";
    },
    check: ({ world }) =>
      deepEqual(
        world.remembered().map(({ name, observations }) => [name, observations]),
        PEOPLE.map((name, index) => [name, [`is engineer of area ${index + 1}`]]),
      ),
  },
  {
    name: "from the memory into a file",
    say: "Write all that the memory has on the importer and on Ada to out/importer.md: a heading, then a line for each fact.",
    memory: graph(TEAM, TIES),
    *direct() {
      const found = yield* ask(call("memory.open_nodes", { names: ["Importer", "Ada"] }));
      const content = summary(JSON.parse(found.text));
      yield [call("files.write_file", { path: "out/importer.md", content })];
      return "It is written.";
    },
    needs: { "open nodes of the memory by name": "memory.open_nodes", "write a file": "files.write_file" },
    *composite() {
      const found = yield* ask(query({ op: "memory.open_nodes", params: { names: ["Importer", "Ada"] } }));
      const content = summary(resultOf(found));
      yield [execute({ op: "files.write_file", params: { path: "out/importer.md", content } })];
      return "It is written.";
    },
    check: ({ world }) =>
      match(world.read("out/importer.md"), /^# Importer\n[\s\S]*- Importer: due in May\n[\s\S]*- Ada owns Importer\n/),
  },
];
