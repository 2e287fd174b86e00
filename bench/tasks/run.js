// The cost of a finished task, in tokens (o200k_base): 20 tasks on three real servers, each done by a scripted model
// with direct tools and with the composite surface. `--tools <file>` names a catalogue (see bench/catalogue.js) whose
// servers are added in a second round; `--task <text>` runs only tasks with that text in their name and reports
// nothing.
import { parseArgs } from "node:util";
import { catalogueFile, readServers } from "../catalogue.js";
import { median, report } from "../report.js";
import { sum } from "./count.js";
import { runTask } from "./run-task.js";
import { TASKS } from "./tasks.js";
import { openWorld } from "./world.js";

/** @typedef {import("../report.js").Row} Row */
/** @typedef {import("./run-task.js").Cost} Cost */
/** @typedef {{ name: string, direct: Cost, composite: Cost }} Done */

const { values } = parseArgs({ options: { tools: { type: "string" }, task: { type: "string", default: "" } } });
const catalogue = catalogueFile(values.tools);
const chosen = TASKS.filter(({ name }) => name.includes(values.task));

/** Runs the tasks with these servers added. @param {readonly import("../catalogue.js").Listed[]} further */
async function round(further) {
  const world = await openWorld({ further });
  try {
    /** @type {Done[]} */
    const done = [];
    for (const task of chosen) {
      const direct = await runTask(task, "direct", world);
      done.push({ name: task.name, direct, composite: await runTask(task, "composite", world) });
    }
    return { done, versions: world.versions, tools: world.tools.direct.length };
  } finally {
    await world.close();
  }
}

/** @param {readonly Done[]} done */
function print(done) {
  console.table(
    done.map(({ name, direct, composite }) => ({
      task: name,
      "direct turns": direct.turns,
      in: direct.input,
      out: direct.output,
      "composite turns": composite.turns,
      "in ": composite.input,
      "out ": composite.output,
      ratio: (composite.total / direct.total).toFixed(2),
      fresh: (composite.fresh / direct.fresh).toFixed(2),
      "list known": (composite.freshWithoutTools / direct.freshWithoutTools).toFixed(2),
    })),
  );
}

/** @param {Cost} cost */
function words({ turns, input, output }) {
  return `${turns} turns, ${input} in, ${output} out`;
}

/** @param {Done} done @returns {Row} */
function taskRow({ name, direct, composite }) {
  return {
    what: `${name}: ${words(composite)}`,
    figure: composite.total,
    unit: "tokens",
    beside: `direct tools: ${words(direct)}`,
    ratio: composite.total / direct.total,
  };
}

/** @type {readonly { key: "total" | "fresh" | "freshWithoutTools", what: string }[]} */
const COUNTED = [
  { key: "total", what: "all input and output" },
  { key: "fresh", what: "without what was already sent in the same task (prompt cache)" },
  { key: "freshWithoutTools", what: "without that and the tool list (cached by earlier tasks)" },
];

/** @param {readonly Done[]} done @param {string} where @returns {Row[]} */
function summaryRows(done, where) {
  return COUNTED.flatMap(({ key, what }) => {
    const direct = done.map((task) => task.direct[key]);
    const composite = done.map((task) => task.composite[key]);
    const ratios = done.map((task) => task.composite[key] / task.direct[key]);
    const dearer = ratios.filter((ratio) => ratio > 1).length;
    return [
      {
        what: `${where}, sum of ${done.length} tasks: ${what}`,
        figure: sum(composite),
        unit: "tokens",
        beside: `direct tools: ${sum(direct)} tokens`,
        ratio: sum(composite) / sum(direct),
      },
      {
        what: `${where}, median task: ${what}`,
        figure: median(composite),
        unit: "tokens",
        beside: `direct tools: ${median(direct)} tokens; composite costs more in ${dearer} of ${done.length} tasks; the ratio is the median of ratios`,
        ratio: median(ratios),
      },
    ];
  });
}

const { done, versions, tools } = await round([]);
console.log(`\nThree servers, ${tools} tools`);
print(done);
const rows = [...done.map(taskRow), ...summaryRows(done, "3 servers")];
if (catalogue === undefined) {
  console.log(
    "\nSkipped the round with 70 more servers: there is no catalogue of tools. Name one with --tools <file>.",
  );
} else {
  // It also has two of the three servers, in other versions.
  const further = readServers(catalogue).filter(({ server }) => !["filesystem", "memory"].includes(server));
  const larger = await round(further);
  console.log(`\n${further.length} more servers, ${larger.tools} tools`);
  print(larger.done);
  rows.push(...summaryRows(larger.done, `${3 + further.length} servers`));
}
if (values.task === "") {
  report("tasks", rows, {
    title: "Tokens per finished task",
    workload:
      "20 tasks on server-everything, server-filesystem and server-memory, run by the loop of `trunkline agent` with a scripted model that does what a capable one would: with direct tools it calls them, independent calls in one turn; with the composite surface of `trunkline serve` it knows nothing beforehand and spends turns on describe. Each task is checked on both sides by its answer, the files and the memory. The count includes everything a provider is sent in every turn, including the tool list, and the model's output.",
    versions,
    ...(catalogue === undefined
      ? { absent: [{ name: "the round with 70 more servers", reason: "no catalogue of tools; name one with --tools" }] }
      : {}),
    notes: [
      "Direct results reach the model in full, as the server sent them; the composite surface truncates at 8,000 tokens and stores the rest.",
      "A scripted model makes no mistakes. Real models choose worse among many tools, and sometimes get a pipeline wrong; neither is counted.",
      "`describe {find}` ranks by keyword only here. Neither side gets the servers' instructions.",
    ],
  });
}
