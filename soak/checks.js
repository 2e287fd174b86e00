// The checks of a soak run and how they are printed.

/**
 * One check. A check with no problems passes; `skipped` says why it could not run.
 * @typedef {{ name: string, problems: readonly string[], detail?: string, skipped?: string }} Check
 */

/** @param {Check} check */
export function hasFailed({ problems, skipped }) {
  return skipped === undefined && problems.length > 0;
}

/** Formats one line per check, followed by its problems. @param {readonly Check[]} checks */
export function shownChecks(checks) {
  return checks.flatMap((check) => {
    const { name, problems, detail, skipped } = check;
    const verdict = skipped !== undefined ? "not checked" : hasFailed(check) ? "FAILED" : "ok";
    const remark = skipped ?? detail;
    const line = `${verdict.padEnd(12)}${name}${remark === undefined ? "" : ` (${remark})`}`;
    return [line, ...(skipped === undefined ? problems.map((problem) => `              ${problem}`) : [])];
  });
}
