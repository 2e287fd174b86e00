// Verifications: what each of them found, and how they are shown.

/**
 * One verification. Without problems it is ok. `skipped` says why it could not be made.
 * @typedef {{ name: string, problems: readonly string[], detail?: string, skipped?: string }} Check
 */

/** @param {Check} check */
export function hasFailed({ problems, skipped }) {
  return skipped === undefined && problems.length > 0;
}

/** A line for each verification, and its problems below it. @param {readonly Check[]} checks */
export function shownChecks(checks) {
  return checks.flatMap((check) => {
    const { name, problems, detail, skipped } = check;
    const verdict = skipped !== undefined ? "not checked" : hasFailed(check) ? "FAILED" : "ok";
    const remark = skipped ?? detail;
    const line = `${verdict.padEnd(12)}${name}${remark === undefined ? "" : ` (${remark})`}`;
    return [line, ...(skipped === undefined ? problems.map((problem) => `              ${problem}`) : [])];
  });
}
