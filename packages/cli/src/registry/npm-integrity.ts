// The hash of an npm package, as npm itself reports it.
import { execFile } from "node:child_process";
import { isString, parseJson } from "@trunkline/core";

interface NpmPlace {
  /** The npm program and its leading arguments. */
  readonly npm: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A folder without a project's `.npmrc`. */
  readonly cwd: string;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 20_000;

/** Returns `sha512-…` of one exact version; undefined if npm does not tell. */
export async function npmIntegrity(pinned: string, { npm, env, cwd, signal }: NpmPlace): Promise<string | undefined> {
  const [program = "npm", ...before] = npm;
  const args = [...before, "view", "--json", pinned, "dist.integrity"];
  const output = await new Promise<string>((resolve) => {
    const options = { env, cwd, signal, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 };
    execFile(program, args, options, (error, stdout) => resolve(error === null ? stdout : ""));
  });
  signal.throwIfAborted();
  const hash = parseJson(output);
  return isString(hash) && /^sha\d+-[A-Za-z0-9+/]{20,200}={0,2}$/.test(hash) ? hash : undefined;
}
