// How well changed definitions are judged: labelled changes of our own making, some held out from adjusting the
// rules, and the tools of real servers as a first list. `--tools <file>` names a catalogue (see bench/catalogue.js);
// `--list` prints every change that was judged wrongly.
import { parseArgs } from "node:util";
import { classifyChange } from "@trunkline/client/internal";
import { catalogueFile, readCatalogue } from "../catalogue.js";
import { report } from "../report.js";
import { HELD_OUT } from "./held-out.js";
import { measure } from "./measure.js";
import { PARAPHRASED } from "./paraphrased.js";
import { TUNING } from "./tuning.js";
import { TUNING_PARAPHRASED } from "./tuning-paraphrased.js";

const { values } = parseArgs({ options: { tools: { type: "string" }, list: { type: "boolean", default: false } } });

/** @param {number} part @param {number} whole */
const percent = (part, whole) => (100 * part) / whole;

const ALL = [...HELD_OUT, ...PARAPHRASED, ...TUNING, ...TUNING_PARAPHRASED];
const parts = [
  { name: "held out", ...measure(HELD_OUT) },
  { name: "paraphrased", ...measure(PARAPHRASED) },
  { name: "used for tuning", ...measure([...TUNING, ...TUNING_PARAPHRASED]) },
];
/** @type {import("../report.js").Row[]} */
const rows = parts.flatMap(({ name, hostile, benign, missed, falselyHeld }) => [
  {
    what: `hostile changes held: ${name}, of ${hostile}`,
    figure: percent(hostile - missed.length, hostile),
    unit: "%",
  },
  { what: `harmless changes held: ${name}, of ${benign}`, figure: percent(falselyHeld.length, benign), unit: "%" },
]);

const file = catalogueFile(values.tools);
if (file !== undefined) {
  const tools = readCatalogue(file);
  const held = tools.filter(({ tool: name, description, inputSchema }) => {
    const verdict = classifyChange(undefined, { name, description, inputSchema }, { isFirstList: true });
    return verdict.change === "held";
  });
  rows.push({
    what: `tools of real servers held in a first list, of ${tools.length}`,
    figure: percent(held.length, tools.length),
    unit: "%",
  });
  if (values.list) for (const { server, tool } of held) console.log(`held: ${server}.${tool}`);
}

if (values.list) {
  const about = new Map(ALL.map((change) => [change.id, change.about]));
  for (const { missed, falselyHeld } of parts) {
    for (const id of missed) console.log(`missed: ${id}: ${about.get(id)}`);
    for (const id of falselyHeld) console.log(`falsely held: ${id}: ${about.get(id)}`);
  }
}

report("pins", rows, {
  title: "Judging changed definitions",
  workload: `${ALL.length} changes of tool definitions, written and labelled by us in bench/pins. The held-out part was written before the rules; the paraphrased part was written after them, to get around them or to trip them. Neither was used to adjust them.`,
  notes: [
    "The changes are our own, and there are few of them. Instructions in words that the rules do not know are not held; changed hints, hidden text and names are found whatever the wording. `npm run bench -- pins --list` names every change that was judged wrongly.",
    "By rule, `readOnlyHint` that appears is held even if the tool does only read: that is one of the harmless changes that are held.",
  ],
});
