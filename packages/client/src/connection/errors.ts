// Turns what transports and the SDK throw into errors with a code, a cause told apart, and the next thing to try.
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import { abortError, formatMs, isTrunklineError, messageOf, systemCodeOf, TrunklineError } from "@trunkline/core";
import type { ServerDefinition } from "../config/types.js";
import type { ProcessExit } from "./stdio-transport.js";

/** What is known about an attempt to connect that failed. */
export interface ConnectFailure {
  server: ServerDefinition;
  exit: ProcessExit | undefined;
  stderr: readonly string[];
}

/** Why a server could not be connected. */
export function connectError(error: unknown, failure: ConnectFailure): TrunklineError {
  const { server, exit, stderr } = failure;
  if (isTrunklineError(error)) {
    if (error.code !== "SERVER_EXITED" || exit === undefined) return error;
  }
  if (exit !== undefined && server.type === "stdio") {
    const words = lastWords(stderr);
    const wrote = words === undefined ? " It wrote nothing to stderr." : ` It wrote: ${words}`;
    return new TrunklineError(
      "SERVER_EXITED",
      `Server "${server.name}" ended while connecting (${exitText(exit)}).${wrote}`,
      {
        cause: error,
        hint: `Run it by hand to see why: ${[server.command, ...server.args].map(shellQuoted).join(" ")}`,
      },
    );
  }
  if (isUnauthorized(error)) {
    return new TrunklineError("AUTH_REQUIRED", `Server "${server.name}" asks for authorization.`, {
      cause: error,
      hint: 'Give it a token under "headers" in its entry.',
    });
  }
  const code = systemCodeOf(error);
  if (server.type === "http" && code !== undefined) {
    return new TrunklineError(
      "CONNECTION_FAILED",
      `Server "${server.name}" at ${server.url} cannot be reached (${code}).`,
      {
        cause: error,
        hint:
          code === "ECONNREFUSED"
            ? "Nothing listens there: is the server running, and is the port right?"
            : "Check the address.",
      },
    );
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new TrunklineError("TIMEOUT", `Server "${server.name}" did not answer in time.`, { cause: error });
  }
  return new TrunklineError(
    "PROTOCOL",
    `Server "${server.name}" does not answer as an MCP server: ${messageOf(error)}`,
    {
      cause: error,
      hint: "Is it an MCP server at all, and does it keep its logs off stdout?",
    },
  );
}

/** What is known about a request that failed. */
export interface RequestFailure {
  what: string;
  timeoutMs: number;
  signal: AbortSignal | undefined;
  exit: ProcessExit | undefined;
}

/** Why a request failed. */
export function requestError(error: unknown, failure: RequestFailure): TrunklineError {
  const { what, timeoutMs, signal, exit } = failure;
  if (isTrunklineError(error)) return error;
  // The SDK rejects with the same code for a timeout and for the caller's own abort, so ask the signal first.
  if (signal?.aborted) return abortError(signal, what);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) {
      return new TrunklineError("TIMEOUT", `${what} took longer than ${formatMs(timeoutMs)}.`, {
        cause: error,
        hint: '"callTimeout" in the server\'s entry allows more seconds.',
      });
    }
    if (
      error.code === SdkErrorCode.ConnectionClosed ||
      error.code === SdkErrorCode.NotConnected ||
      exit !== undefined
    ) {
      const how = exit === undefined ? "the connection closed" : `the server ended (${exitText(exit)})`;
      return new TrunklineError("SERVER_EXITED", `${what} failed: ${how}.`, {
        cause: error,
        hint: "It may or may not have taken effect.",
      });
    }
  }
  if (isUnauthorized(error))
    return new TrunklineError("AUTH_REQUIRED", `${what} asks for authorization.`, { cause: error });
  if (error instanceof ProtocolError) {
    return new TrunklineError("UPSTREAM", `${what} failed: ${messageOf(error)} (${error.code})`, {
      cause: error,
      data: { code: error.code, ...(error.data === undefined ? {} : { data: error.data }) },
    });
  }
  return new TrunklineError("CONNECTION_FAILED", `${what} failed: ${messageOf(error)}`, { cause: error });
}

/** The line of stderr that most likely says why: the last error, rather than the stack or the version under it. */
function lastWords(stderr: readonly string[]): string | undefined {
  return (
    stderr.findLast((line) => /error|cannot|not found|denied|missing|refused/i.test(line) && !/^\s+at /.test(line)) ??
    stderr.at(-1)
  );
}

/** `exit code 3`, `signal SIGKILL`. */
export function exitText(exit: ProcessExit): string {
  return exit.signal === null ? `exit code ${exit.code ?? "unknown"}` : `signal ${exit.signal}`;
}

function isUnauthorized(error: unknown): boolean {
  if (error instanceof UnauthorizedError) return true;
  return error instanceof SdkHttpError && error.status === 401;
}

function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
