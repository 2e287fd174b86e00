// Tables and rows from the costs of finished tasks.
import { aimText, median, meetsAim } from "../report.js";
import { sum } from "./count.js";

/** @typedef {import("../report.js").Row} Row */
/** @typedef {import("./run-task.js").Cost} Cost */
/** @typedef {"direct" | "composite" | "auto" | "favourites"} SideName */
/** @typedef {{ name: string } & Record<SideName, Cost>} Done */

/** @type {readonly { side: Exclude<SideName, "direct">, label: string }[]} */
const GATEWAYS = [
  { side: "composite", label: "composite" },
  { side: "auto", label: "auto" },
  { side: "favourites", label: "auto with favourites" },
];

/**
 * The contract's goals for `auto`, by the number of servers. @type {Record<"small" | "large", { median?: number, worst?:
 * number, sum: number }>}
 */
const GOALS = { small: { median: 1, worst: 1.15, sum: 0.3 }, large: { sum: 0.025 } };
const ASKED_ONCE_GOAL = 0.95;

/** @param {Cost} cost @param {Cost} direct */
function cachedRatio(cost, direct) {
  return cost.freshWithoutTools / direct.freshWithoutTools;
}

/** @param {readonly Done[]} done */
export function printTasks(done) {
  console.table(
    done.map((task) => ({
      task: task.name,
      direct: words(task.direct),
      ...Object.fromEntries(
        GATEWAYS.flatMap(({ side, label }) => [
          [label, words(task[side])],
          [`${label}: list cached`, cachedRatio(task[side], task.direct).toFixed(2)],
        ]),
      ),
    })),
  );
}

/** @param {Cost} cost */
function words({ turns, input, output }) {
  return `${turns} turns, ${input} in, ${output} out`;
}

/** @param {readonly Done[]} done @returns {Row[]} */
export function taskRows(done) {
  return done.map(({ name, direct, favourites }) => ({
    what: `${name}, auto with favourites, tool list cached: ${words(favourites)}`,
    figure: favourites.freshWithoutTools,
    unit: "tokens",
    beside: `direct tools: ${direct.freshWithoutTools} tokens; ${words(direct)}`,
    ratio: cachedRatio(favourites, direct),
  }));
}

/** @param {readonly Done[]} done @param {{ where: string, goals?: keyof typeof GOALS }} about @returns {Row[]} */
export function summaryRows(done, { where, goals }) {
  return GATEWAYS.flatMap(({ side, label }) => {
    const goal = goals === undefined || side === "composite" ? undefined : GOALS[goals];
    const ratios = done.map((task) => cachedRatio(task[side], task.direct));
    const worst = done[ratios.indexOf(Math.max(...ratios))]?.name;
    const dearer = ratios.filter((ratio) => ratio > 1).length;
    const cached = done.map((task) => task[side].freshWithoutTools);
    /** @param {"total" | "fresh" | "freshWithoutTools"} key @param {string} what @param {number} [aim] @returns {Row} */
    const sumRow = (key, what, aim) => {
      const [ours, direct] = [sum(done.map((task) => task[side][key])), sum(done.map((task) => task.direct[key]))];
      return {
        what: `${where}, ${label}: ${what}, sum`,
        figure: ours,
        unit: "tokens",
        beside: `direct tools: ${direct} tokens`,
        ratio: ours / direct,
        ...withAim(aim),
      };
    };
    return [
      {
        what: `${where}, ${label}: tool list cached, median`,
        figure: median(cached),
        unit: "tokens",
        beside: `direct tools: ${median(done.map((task) => task.direct.freshWithoutTools))} tokens; costs more in ${dearer} of ${done.length} tasks; the ratio is the median of ratios`,
        ratio: median(ratios),
        ...withAim(goal?.median),
      },
      {
        what: `${where}, ${label}: tool list cached, worst task`,
        figure: cached[ratios.indexOf(Math.max(...ratios))] ?? Number.NaN,
        unit: "tokens",
        beside: `direct tools, in "${worst}"`,
        ratio: Math.max(...ratios),
        ...withAim(goal?.worst),
      },
      sumRow("freshWithoutTools", "tool list cached"),
      sumRow("fresh", "cached within the task"),
      sumRow("total", "nothing cached", goal?.sum),
    ];
  });
}

/** @param {number | undefined} aim */
function withAim(aim) {
  return aim === undefined ? {} : { aim };
}

/** How often the first answer to `find` was enough to call the tools. @param {readonly Done[]} done @param {string} where @returns {Row} */
export function askedRow(done, where) {
  const asked = done.filter(({ composite }) => composite.asked);
  const share = asked.filter(({ composite }) => composite.askedOnce).length / asked.length;
  return {
    what: `${where}, composite: tasks that need no second describe`,
    figure: 100 * share,
    unit: "%",
    beside: `all ${asked.length} tasks`,
    ratio: share,
    aim: ASKED_ONCE_GOAL,
    isAtLeast: true,
  };
}

/** @param {readonly Row[]} rows */
export function printGoals(rows) {
  console.log("\nGoals");
  console.table(
    rows
      .filter(({ aim }) => aim !== undefined)
      .map((row) => ({
        figure: row.what,
        goal: aimText(row),
        measured: row.ratio?.toFixed(3),
        met: meetsAim(row) === true ? "yes" : "NO",
      })),
  );
}
