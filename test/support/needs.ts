import { spawnSync } from "node:child_process";

/**
 * The suffix of a test's name: what is missing on this machine, or nothing if it can run. The end of the run lists
 * these.
 *
 * @example
 * it.skipIf(!hasRipgrep)(`finds the same lines${needs("ripgrep", hasRipgrep)}`, …)
 */
export function needs(what: string, isThere: boolean): string {
  return isThere ? "" : ` (needs ${what})`;
}

/** Whether a program that knows `--version` is on the PATH. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"]).status === 0;
}
