// The cost of a finished task, in tokens (o200k_base): tasks on three real servers, each done by a scripted model with
// direct tools and behind the gateway. `--tools <file>` names a catalogue (see bench/catalogue.js) whose servers are
// added in further rounds. `--quick` leaves out those rounds, the embedding model and the mistakes. `--task <text>` runs
// only tasks with that text in their name and reports nothing; with `--show` it prints every message with its tokens.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { pullModel } from "../../packages/embed/dist/index.js";
import { catalogueFile, readServers } from "../catalogue.js";
import { report } from "../report.js";
import { runTask } from "./run-task.js";
import { askedRow, printGoals, printTasks, summaryRows, taskRows } from "./summary.js";
import { SETS } from "./tasks.js";
import { openWorld } from "./world.js";

/** @typedef {import("../report.js").Row} Row */
/** @typedef {import("./summary.js").Done} Done */
/** @typedef {import("./summary.js").SideName} SideName */
/** @typedef {import("./tasks.js").TaskSet} TaskSet */
/** @typedef {import("./world.js").Side} Side */

const { values } = parseArgs({
  options: {
    tools: { type: "string" },
    task: { type: "string", default: "" },
    quick: { type: "boolean", default: false },
    show: { type: "boolean", default: false },
  },
});
const SEEDS = [1, 2, 3, 4, 5];
const MODELS = fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url));
const isWhole = values.task === "";
const catalogue = values.quick ? undefined : catalogueFile(values.tools);
// It also has two of the three servers, in other versions.
const moreServers =
  catalogue === undefined
    ? []
    : readServers(catalogue).filter(({ server }) => !["filesystem", "memory"].includes(server));

/**
 * Runs the tasks of a set on every side, once per seed.
 * @param {TaskSet} set
 * @param {{ further?: readonly import("../catalogue.js").Listed[], models?: string, seeds?: readonly (number | undefined)[] }} [options]
 */
async function round(set, { further = [], models, seeds = [undefined] } = {}) {
  const world = await openWorld({ further, models });
  try {
    const chosen = set.tasks.filter(({ name }) => name.includes(values.task));
    /** @param {SideName} name @param {Side} side */
    const costs = async (name, side) => {
      const show = values.show ? (/** @type {string} */ line) => console.log(`${name}: ${line}`) : undefined;
      try {
        const done = [];
        for (const seed of seeds) {
          for (const task of chosen) {
            show?.(`--- ${task.name}`);
            done.push(await runTask(task, side, { world, seed, show }));
          }
        }
        return done;
      } finally {
        await side.close();
      }
    };
    const composite = await world.gateway("composite");
    const earlier = composite.home;
    const sides = {
      direct: await costs("direct", world.direct()),
      composite: await costs("composite", composite),
      auto: await costs("auto", await world.laterGateway("auto", { earlier })),
      favourites: await costs("favourites", await world.laterGateway("auto", { earlier, hasJournal: true })),
    };
    /** @type {Done[]} */
    const done = seeds.flatMap((_, turn) =>
      chosen.map(({ name }, index) => {
        const at = turn * chosen.length + index;
        const cost = (/** @type {SideName} */ side) => /** @type {import("./run-task.js").Cost} */ (sides[side][at]);
        return {
          name,
          direct: cost("direct"),
          composite: cost("composite"),
          auto: cost("auto"),
          favourites: cost("favourites"),
        };
      }),
    );
    return { done, versions: world.versions, tools: world.tools };
  } finally {
    await world.close();
  }
}

/** @type {Row[]} */
const rows = [];
/** @type {Record<string, string>} */
let versions = {};
for (const set of SETS) {
  const three = await round(set);
  versions = three.versions;
  console.log(`\n${set.name}: three servers, ${three.tools} tools`);
  printTasks(three.done);
  rows.push(...taskRows(three.done), ...summaryRows(three.done, { where: `${set.name}, 3 servers`, goals: "small" }));
  rows.push(askedRow(three.done, `${set.name}, 3 servers`));
  if (values.quick || !isWhole) continue;
  await pullModel({ home: MODELS });
  const models = `${MODELS}/models`;
  const meaning = await round(set, { models });
  rows.push(...summaryRows(meaning.done, { where: `${set.name}, 3 servers, find with the model` }));
  rows.push(askedRow(meaning.done, `${set.name}, 3 servers, find with the model`));
  const mistaken = await round(set, { seeds: SEEDS });
  rows.push(...summaryRows(mistaken.done, { where: `${set.name}, 3 servers, with mistakes` }));
  if (catalogue === undefined) continue;
  const many = `${set.name}, ${3 + moreServers.length} servers`;
  const larger = await round(set, { further: moreServers });
  console.log(`\n${set.name}: ${moreServers.length} more servers, ${larger.tools} tools`);
  printTasks(larger.done);
  rows.push(...summaryRows(larger.done, { where: many, goals: "large" }), askedRow(larger.done, many));
  const both = await round(set, { further: moreServers, models });
  rows.push(...summaryRows(both.done, { where: `${many}, find with the model`, goals: "large" }));
  rows.push(askedRow(both.done, `${many}, find with the model`));
}
if (isWhole) {
  printGoals(rows);
  if (!values.quick) publish();
}

function publish() {
  report("tasks", rows, {
    title: "Tokens per finished task",
    workload:
      "Tasks on server-everything, server-filesystem and server-memory, run by the loop of `trunkline agent` with a scripted model that does what a capable one would: with direct tools it calls them, independent calls in one turn; behind `trunkline serve` it knows only the tool list and the instructions of its session, and spends turns on describe for tools that are not listed. Each task is checked on every side by its answer, the files and the memory. The count includes everything a provider is sent in every turn, including the tool list and the gateway's instructions, and the model's output.",
    versions,
    ...(catalogue === undefined
      ? { absent: [{ name: "the round with 70 more servers", reason: "no catalogue of tools; name one with --tools" }] }
      : {}),
    notes: [
      "auto: a session of `serve --surface auto` that knows the servers' tools from an earlier one and has an empty journal. auto with favourites: the same after the calls of these tasks were made on each of the three days before.",
      "Tool list cached: without what was already sent in the same task, the tool list and the instructions, which a provider's prompt cache has from earlier tasks. Nothing cached: all input and output of every turn.",
      "With mistakes: the first time a task needs a tool, the model picks the second-best one in one of ten cases, on every side in the same ones, and recovers in its next turn; the mean of five runs.",
      "Direct results reach the model in full, as the server sent them; the gateway truncates large ones and stores the rest.",
      "Unless it says otherwise, `describe {find}` ranks by keyword only. The direct side is not charged for the servers' own instructions.",
    ],
  });
}
