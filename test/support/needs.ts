import { spawnSync } from "node:child_process";

/**
 * Builds a suffix for a test's name that says what is missing on this machine; empty if the test can run. The end of
 * the run lists these suffixes.
 *
 * @example
 * it.skipIf(!hasRipgrep)(`finds the same lines${needs("ripgrep", hasRipgrep)}`, …)
 */
export function needs(what: string, isThere: boolean): string {
  return isThere ? "" : ` (needs ${what})`;
}

/** Whether a program that supports `--version` is on the PATH. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"]).status === 0;
}
