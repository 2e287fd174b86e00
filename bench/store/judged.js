// Judged questions: in BEIR's format (corpus.jsonl, queries.jsonl and qrels/test.tsv in one folder), or about the files of
// a repository (a file in repositories/).
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ _id: string, title?: string, text: string }} Line */

/**
 * Reads the documents, the questions that have a right answer, and how relevant each document is for each. @param
 * {string} folder
 */
export function readJudged(folder) {
  const judged = readJudgements(folder);
  const questions = readLines(join(folder, "queries.jsonl")).flatMap(({ _id, text }) => {
    const right = judged.get(_id);
    return right === undefined ? [] : [{ text, right }];
  });
  return { corpus: readLines(join(folder, "corpus.jsonl")), questions };
}

/** @typedef {{ part: "tune" | "held", ask: string, files: string[] }} Question A question, and the files that answer it. */

/**
 * Reads the questions about a repository and how to get its source. Only the `tune` half was used to choose weights.
 * @param {string} name @returns {{ source: string, questions: Question[] }}
 */
export function readRepositoryQuestions(name) {
  return JSON.parse(readFileSync(new URL(`repositories/${name}.json`, import.meta.url), "utf8"));
}

/**
 * Returns 1 divided by the rank of the first right file; 0 if there is none. @param {readonly string[]} found @param
 * {readonly string[]} right
 */
export function reciprocalRank(found, right) {
  const at = found.findIndex((file) => right.includes(file));
  return at === -1 ? 0 : 1 / (at + 1);
}

/** Computes nDCG@10 and recall@10 of a result. @param {readonly string[]} found @param {Map<string, number>} right */
export function scoresOf(found, right) {
  const grades = found.slice(0, 10).map((document) => right.get(document) ?? 0);
  const ideal = gain([...right.values()].sort((a, b) => b - a).slice(0, 10));
  return { ndcg: gain(grades) / ideal, recall: grades.filter((grade) => grade > 0).length / right.size };
}

/** @param {readonly number[]} grades */
function gain(grades) {
  return grades.reduce((sum, grade, at) => sum + grade / Math.log2(at + 2), 0);
}

/** @param {string} path @returns {Line[]} */
function readLines(path) {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** @param {string} folder @returns {Map<string, Map<string, number>>} */
function readJudgements(folder) {
  /** @type {Map<string, Map<string, number>>} */
  const judged = new Map();
  const [, ...lines] = readFileSync(join(folder, "qrels", "test.tsv"), "utf8")
    .trim()
    .split("\n");
  for (const line of lines) {
    const [query = "", document = "", grade] = line.split("\t");
    if (Number(grade) <= 0) continue;
    const right = judged.get(query) ?? new Map();
    judged.set(query, right.set(document, Number(grade)));
  }
  return judged;
}
