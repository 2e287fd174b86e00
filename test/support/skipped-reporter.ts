// Prints one line that says what was skipped and why. On CI, a test that lacks a program fails the run: `.ci/run`
// installs them all.
import type { Reporter, TestModule } from "vitest/node";

/** The format in which `needs` in needs.ts adds the reason to a test's name. */
const REASON = /\((needs|not) ([^()]+)\)/;

export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const reasons = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const [, kind, what] = REASON.exec(test.fullName) ?? [];
        if (kind === undefined) continue;
        const reason = `${kind} ${what}`;
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    }
    if (reasons.size === 0) return;
    const list = [...reasons].map(([reason, count]) => `${count} ${count === 1 ? "test" : "tests"} (${reason})`);
    console.log(`Skipped: ${list.join(", ")}.`);
    if (process.env.CI !== "true" || ![...reasons.keys()].some((reason) => reason.startsWith("needs "))) return;
    console.error("On CI nothing may be skipped for want of something: install it in .ci/run.");
    process.exitCode = 1;
  }
}
