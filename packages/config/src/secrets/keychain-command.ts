// Runs the program that knows a secret. Its output is the secret, so it never appears in an error.
import type { ChildProcess } from "node:child_process";
import { abortError, firstWords, messageOf, printable, systemCodeOf, TrunklineError } from "@trunkline/core";
import spawn from "cross-spawn";

export interface KeychainCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Passed on stdin: arguments are visible to other programs. */
  readonly input?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** On Windows: pass the arguments as they are. A shell has its own rules for quotes. */
  readonly isVerbatim?: boolean;
  readonly signal?: AbortSignal;
}

export interface KeychainOutcome {
  readonly code: number | null;
  readonly stdout: string;
  /** The first words of stderr, on one line. */
  readonly complaint: string;
}

/** The user may have to unlock the keychain. */
const LONGEST_MS = 60_000;
/** Larger output is not a secret. */
const MOST_BYTES = 65_536;

/** Runs a program to its end. Rejects if it cannot be started, takes too long or prints too much. */
export function runKeychainCommand(command: KeychainCommand): Promise<KeychainOutcome> {
  const { program, args, input, env, cwd, isVerbatim = false, signal } = command;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal, `Running ${program}`));
    const child = spawn(program, [...args], {
      ...{ cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"], windowsHide: true },
      windowsVerbatimArguments: isVerbatim,
      // A group of its own, so that what a shell has started can be ended too.
      detached: process.platform !== "win32",
    });
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    let stderr = "";
    const end = (outcome: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      outcome();
    };
    const fail = (error: Error) => {
      endGroup(child);
      end(() => reject(error));
    };
    const onAbort = () => fail(abortError(signal as AbortSignal, `Running ${program}`)); // only listens with a signal
    const timer = setTimeout(() => fail(tooLong(program)), LONGEST_MS);
    signal?.addEventListener("abort", onAbort, { once: true });
    child.once("error", (error) => end(() => reject(notStarted(program, error))));
    child.stdout?.on("data", (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > MOST_BYTES) fail(new TrunklineError("CONFIG_INVALID", `${program} printed more than 64 KB.`));
      else chunks.push(chunk);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < 2_000) stderr += text;
    });
    // A program that does not read its input has its reasons, and its exit code says them.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input ?? "");
    child.once("close", (code) => {
      const complaint = firstWords(printable(stderr.trim().replace(/\s+/g, " ")), 200);
      end(() => resolve({ code, stdout: Buffer.concat(chunks).toString("utf8"), complaint }));
    });
  });
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill();
    else process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (systemCodeOf(error) !== "ESRCH") throw error;
  }
}

function tooLong(program: string): TrunklineError {
  return new TrunklineError("TIMEOUT", `${program} did not answer within ${LONGEST_MS / 1000} seconds.`, {
    hint: "Is it waiting for you to unlock the keychain?",
  });
}

function notStarted(program: string, error: Error): TrunklineError {
  if (systemCodeOf(error) !== "ENOENT")
    return new TrunklineError("CONFIG_INVALID", `${program} cannot be started: ${messageOf(error)}`, { cause: error });
  const hint = INSTALLING[program];
  return new TrunklineError("CONFIG_INVALID", `The program ${program} is not installed.`, {
    cause: error,
    hint,
  });
}

const INSTALLING: Readonly<Record<string, string>> = {
  "secret-tool": "Install libsecret-tools (on Debian and Ubuntu) or libsecret, and a keyring such as gnome-keyring.",
  op: "Install the 1Password CLI, and sign in with `op signin`.",
};
