// How well `describe {find}` finds the right tools, by keyword only and with the model: recall@1 and recall@5 on the
// questions next to this file and in find-sets/, nDCG@10 where relevance is graded, and the recall of servers and tools
// for whole tasks. `--tools` names a catalogue (see bench/catalogue.js), `--tasks` a list of tasks on it. You may look at
// `tuned` and `tune` questions while changing the ranking; `held` ones only show whether that helped.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { silentLogger } from "../../packages/core/dist/index.js";
import { createEmbedder, pullModel } from "../../packages/embed/dist/index.js";
import { Ranker } from "../../packages/gateway/dist/find/operation-ranker.js";
import { catalogueFile, readCandidates } from "../catalogue.js";
import { median, report } from "../report.js";

/**
 * A question is right as far as its needs are met, each by any of its tools. `relevance` grades tools instead: 2 is
 * right, 1 is useful. A task needs all its tools, which are named without their servers.
 * @typedef {ReturnType<typeof readCandidates>} Candidates
 * @typedef {{ question: string, needs?: string[][], relevance?: Record<string, number>, tools?: string[] }} Question
 * @typedef {{ name: string, candidates: Candidates, questions: Question[], mayShow: boolean }} QuestionSet
 */

const { values } = parseArgs({
  options: {
    tools: { type: "string" },
    tasks: { type: "string" },
    home: {
      type: "string",
      default: fileURLToPath(new URL("../../node_modules/.cache/trunkline-models", import.meta.url)),
    },
    misses: { type: "boolean", default: false },
  },
});
const FIRST_RUNS = 5;
const file = catalogueFile(values.tools);
const title = "Finding the right tool for a question";

/** @param {string} name */
const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));

/** @returns {QuestionSet[]} */
function readSets() {
  const live = file === undefined ? undefined : readCandidates(file);
  /** @type {QuestionSet[]} */
  const sets = [];
  /** @param {string} name @param {Candidates} candidates @param {Record<string, Question[]>} halves */
  const add = (name, candidates, halves) => {
    for (const half of ["tune", "held"]) {
      sets.push({ name: `${name}, ${half}`, candidates, questions: halves[half] ?? [], mayShow: half !== "held" });
    }
  };
  /** @param {string} name @returns {Candidates} */
  const toolsOf = (name) =>
    read(`find-sets/${name}.json`).tools.map((/** @type {any} */ { server, name: tool, description, inputSchema }) => ({
      name: `${server}.${tool}`,
      server,
      tool,
      description,
      schema: inputSchema,
    }));
  if (live !== undefined) {
    /** @type {{ question: string, right: string[], set: string }[]} */
    const own = read("find-questions.json");
    const half = (/** @type {string} */ set) =>
      own.filter((each) => each.set === set).map(({ question, right }) => ({ question, needs: [right] }));
    add("our questions", live, { tune: half("tuned"), held: half("held") });
    add("indirect", live, read("find-sets/indirect.json"));
  }
  add("lexical", toolsOf("lexical"), read("find-sets/lexical.json"));
  add("wordy", toolsOf("lexical"), read("find-sets/wordy.json"));
  add("golden", toolsOf("golden"), read("find-sets/golden.json"));
  const tasks = values.tasks ?? (file === undefined ? "" : join(dirname(file), "tasks.json"));
  if (live !== undefined && existsSync(tasks)) {
    /** @type {Question[]} */
    const all = JSON.parse(readFileSync(tasks, "utf8"));
    const known = new Set(live.map(({ tool }) => tool));
    const questions = all
      .map(({ question, tools = [] }) => ({ question, tools: tools.filter((tool) => known.has(tool)) }))
      .filter(({ tools }) => tools.length > 0);
    sets.push({ name: "whole tasks", candidates: live, questions, mayShow: true });
  }
  return sets;
}

/** @param {readonly boolean[]} hits */
const share = (hits) => hits.filter(Boolean).length / hits.length;

/** @param {readonly number[]} grades */
const gain = (grades) => grades.reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0);

/**
 * The figures of one question, from 0 to 1.
 * @param {Question} question
 * @param {readonly { name: string, server?: string | undefined, tool: string }[]} found best first
 * @param {Candidates} all
 * @returns {Record<string, number>}
 */
function figuresOf({ needs, relevance, tools }, found, all) {
  const top = found.slice(0, 5);
  const names = top.map(({ name }) => name);
  if (tools !== undefined) {
    const servers = tools.map((tool) => all.filter((each) => each.tool === tool).map(({ server }) => server));
    const hits = servers.map((any) => top.some(({ server = "" }) => any.includes(server)));
    return {
      "a right server @5": Number(hits.includes(true)),
      "share of right servers @5": share(hits),
      "share of right tools @5": share(tools.map((tool) => top.some((each) => each.tool === tool))),
    };
  }
  if (relevance !== undefined) {
    const right = Object.keys(relevance).filter((name) => relevance[name] === 2);
    const best = Object.values(relevance).sort((a, b) => b - a);
    return {
      "recall@5": right.filter((name) => names.includes(name)).length / Math.min(5, right.length),
      "nDCG@10": gain(found.slice(0, 10).map(({ name }) => relevance[name] ?? 0)) / gain(best.slice(0, 10)),
    };
  }
  return {
    "recall@1": Number((needs ?? []).some((any) => any.includes(names[0] ?? ""))),
    "recall@5": share((needs ?? []).map((any) => any.some((name) => names.includes(name)))),
  };
}

await pullModel({ home: values.home });
const embedder = await createEmbedder({ home: values.home });
const folder = mkdtempSync(join(tmpdir(), "trunkline-find-"));
/** @type {import("../report.js").Row[]} */
const rows = [];
const sets = readSets();
const common = { logger: silentLogger, waitMs: 600_000 };
for (const method of ["keyword", "hybrid"]) {
  const ranker = new Ranker(method === "keyword" ? common : { ...common, folder, embedder: async () => embedder });
  for (const { name, candidates, questions, mayShow } of sets) {
    /** @type {Map<string, number>} */
    const sums = new Map();
    for (const question of questions) {
      const { ranked } = await ranker.rank(question.question, candidates);
      const found = ranked.map(({ candidate }) => candidate);
      for (const [figure, value] of Object.entries(figuresOf(question, found, candidates))) {
        sums.set(figure, (sums.get(figure) ?? 0) + value);
        if (values.misses && mayShow && figure.endsWith("@5") && value < 1) {
          const right = question.needs ?? question.tools ?? Object.keys(question.relevance ?? {});
          const listed = found.slice(0, 5).map((each) => each.name);
          console.log(`${method}: ${question.question}\n  right: ${right.join("; ")}\n  found: ${listed.join(", ")}`);
        }
      }
    }
    for (const [figure, sum] of sums) {
      const what = `${method}, ${name} (${questions.length}): ${figure}`;
      rows.push({ what, figure: (100 * sum) / questions.length, unit: "%" });
    }
  }
  await ranker.close();
}
await embedder.close();
if (file !== undefined) {
  const script = fileURLToPath(new URL("first-find.js", import.meta.url));
  for (const isKept of [true, false]) {
    const runs = Array.from({ length: FIRST_RUNS }, () => {
      // A question without an index leaves the beginning of one behind.
      const index = isKept ? folder : mkdtempSync(join(tmpdir(), "trunkline-find-"));
      const answer = execFileSync(process.execPath, [script, file, values.home, index], { encoding: "utf8" });
      if (!isKept) rmSync(index, { recursive: true, force: true });
      return JSON.parse(answer);
    });
    rows.push({
      what: `first question to a new process, ${isKept ? "index kept" : "no index"}: ${runs[0].method}, median of ${FIRST_RUNS}`,
      figure: median(runs.map(({ ms }) => ms)),
      unit: "ms",
    });
  }
}
rmSync(folder, { recursive: true, force: true });
report("server-find", rows, {
  title,
  workload: `Questions to \`describe {find}\` on ${file === undefined ? "" : `the ${readCandidates(file).length} tools of a real catalogue, on `}300 API-like tools and on 64 tools of developers. Held questions were not looked at while choosing the ranking; the others and the tasks were.`,
  ...(file === undefined
    ? { absent: [{ name: "real catalogue", reason: "its file is missing; name it with --tools." }] }
    : {}),
});
