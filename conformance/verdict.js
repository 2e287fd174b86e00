// Judges a run against the list of expected failures and the numbers of an earlier run.
/** @import { Report, Side } from "./suite.js" */

/**
 * @typedef {object} Expectation A group of scenarios that fail for one reason, by requirement set.
 * @property {Side} side
 * @property {string} reason
 * @property {Readonly<Record<string, readonly string[]>>} scenarios
 */
/**
 * @typedef {object} Numbers The totals of one requirement set on one side.
 * @property {number} scenarios How many were run.
 * @property {number} checks How many checks passed.
 * @property {Readonly<Record<string, number>>} passed For each scenario that passed, how many of its checks did.
 */
/**
 * @typedef {object} Verdict
 * @property {Side} side
 * @property {string} set
 * @property {readonly Report[]} reports
 * @property {readonly Report[]} unexpected Failed and not listed, or broken.
 * @property {readonly string[]} complaints Any other problems.
 * @property {Numbers} numbers
 * @property {number} expected How many failed as listed.
 */

/**
 * A scenario without any checks counts as failed.
 * @param {Report} report
 */
export function hasFailed(report) {
  return report.broken !== undefined || countOf(report, "FAILURE") > 0 || countOf(report, "SUCCESS") === 0;
}

/**
 * @param {Report} report
 * @param {string} status
 */
export function countOf(report, status) {
  return report.checks.filter((check) => check.status === status).length;
}

/**
 * Judges one set on one side.
 * @param {object} run
 * @param {Side} run.side
 * @param {string} run.set
 * @param {readonly Report[]} run.reports
 * @param {readonly Expectation[]} run.expectations
 * @param {Numbers | undefined} run.baseline Undefined if only part of the set was run, or nothing is recorded.
 * @param {boolean} run.whole Whether every scenario of the set was run.
 * @returns {Verdict}
 */
export function judge({ side, set, reports, expectations, baseline, whole }) {
  const listed = expectations.flatMap((group) => (group.side === side ? (group.scenarios[set] ?? []) : []));
  const failed = new Set(reports.filter(hasFailed).map(({ scenario }) => scenario));
  const ran = new Set(reports.map(({ scenario }) => scenario));
  const complaints = [
    ...listed.filter((name, index) => listed.indexOf(name) !== index).map((name) => `${name} is listed twice`),
    ...listed
      .filter((name) => ran.has(name) && !failed.has(name))
      .map((name) => `${name} passes now: remove it from the list`),
    ...(whole ? listed.filter((name) => !ran.has(name)).map((name) => `${name} is listed but was not run`) : []),
  ];
  const numbers = numbersOf(reports);
  const unexpected = reports.filter(
    (report) => report.broken !== undefined || (hasFailed(report) && !listed.includes(report.scenario)),
  );
  if (baseline !== undefined) complaints.push(...shortfalls(numbers, baseline, failed));
  return {
    side,
    set,
    reports,
    unexpected,
    complaints,
    numbers,
    expected: failed.size - unexpected.length,
  };
}

/**
 * @param {readonly Report[]} reports
 * @returns {Numbers}
 */
function numbersOf(reports) {
  const passing = reports.filter((report) => !hasFailed(report));
  return {
    scenarios: reports.length,
    checks: reports.reduce((sum, report) => sum + countOf(report, "SUCCESS"), 0),
    passed: Object.fromEntries(passing.map((report) => [report.scenario, countOf(report, "SUCCESS")])),
  };
}

/**
 * Finds where a run checked less than the recorded one. Failing scenarios are covered by the list.
 * @param {Numbers} now
 * @param {Numbers} baseline
 * @param {ReadonlySet<string>} failed
 */
function shortfalls(now, baseline, failed) {
  const found = [];
  if (now.scenarios < baseline.scenarios) found.push(`${now.scenarios} scenarios ran, ${baseline.scenarios} before`);
  if (now.checks < baseline.checks) found.push(`${now.checks} checks passed, ${baseline.checks} before`);
  for (const [scenario, before] of Object.entries(baseline.passed)) {
    const passed = now.passed[scenario] ?? 0;
    if (passed < before && !failed.has(scenario)) found.push(`${scenario}: ${passed} checks passed, ${before} before`);
  }
  return found;
}

/**
 * Formats the verdicts as a readable table, one line per set.
 * @param {readonly Verdict[]} verdicts
 */
export function table(verdicts) {
  const rows = verdicts.map(({ side, set, reports, unexpected, complaints, numbers, expected }) => {
    const required = reports.filter((report) => report.required);
    return [
      side,
      set,
      `${required.filter((report) => !hasFailed(report)).length}/${required.length}`,
      `${reports.filter((report) => !hasFailed(report)).length}/${reports.length}`,
      String(expected),
      String(unexpected.length),
      String(numbers.checks),
      String(reports.reduce((sum, report) => sum + countOf(report, "WARNING"), 0)),
      unexpected.length + complaints.length === 0 ? "ok" : "NOT OK",
    ];
  });
  const head = ["side", "requirements", "required", "all", "expected", "unexpected", "checks", "warnings", ""];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
