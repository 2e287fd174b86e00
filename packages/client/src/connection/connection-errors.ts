// Turns the failures of wires and servers into errors with a code, a specific cause, and a hint on what to try next.

import { type HttpServer, isRemote, type ServerDefinition } from "@trunkline/config";
import {
  type ErrorCode,
  firstWords,
  isTrunklineError,
  messageOf,
  redactedArgs,
  redactedUrl,
  shellQuoted,
  systemCodeOf,
  TrunklineError,
} from "@trunkline/core";
import { REFUSED_CODES, RPC_CODES, RpcError } from "@trunkline/protocol";
import { usesSignIn } from "../auth/server-auth.js";
import { hintToSignIn } from "../auth/sign-in-errors.js";
import { HttpError, InsufficientScopeError, StreamEndedError } from "../wire/http-errors.js";
import { WireClosedError } from "../wire/message-wire.js";
import type { ProcessExit } from "../wire/stdio-wire.js";
import type { ServerState } from "./connection-options.js";
import { exitData, exitText, linesText } from "./crash-report.js";

/** What is known about a failed attempt to connect. */
interface ConnectFailure {
  server: ServerDefinition;
  exit: ProcessExit | undefined;
  stderr: readonly string[];
  /** Output on stdout that was not a protocol message. */
  noise?: string;
  /** Unset variables that the server's entry refers to. */
  missing: readonly string[];
  /** How long the attempt was allowed to take: the time limit of the entry, or of all servers together. */
  timeoutMs: number;
}

/** The causes `doctor` tells apart. */
type ConnectCause =
  | "variable-unset"
  | "program-missing"
  | "exited"
  | "refused"
  | "unreachable"
  | "tls"
  | "unauthorized"
  | "timeout"
  | "protocol"
  | "configuration";

const TLS_CODE = /CERT|TLS|SSL|EPROTO|UNABLE_TO_VERIFY/;

/** Explains why a server could not be connected, with the cause and what to try next. */
export function connectError(error: unknown, failure: ConnectFailure): TrunklineError {
  const { code, message, hint, cause } = explain(error, failure);
  if (failure.missing.length === 0) {
    return new TrunklineError(code, message, {
      cause: error,
      hint,
      data: { cause },
    });
  }
  // Whatever the symptom, a server with unset variables was not started as intended.
  const names = failure.missing.join(", ");
  return new TrunklineError(code, `${message} Not set: ${names}.`, {
    cause: error,
    hint: `Set ${names} in the environment or in .env.${hint === undefined ? "" : ` ${hint}`}`,
    data: { cause: "variable-unset" satisfies ConnectCause, missing: failure.missing },
  });
}

/** Builds the error for a definition that cannot be started. */
export function unusableError(definition: ServerDefinition): TrunklineError | undefined {
  const { unusable, unset = [] } = definition;
  if (unusable === undefined) return undefined;
  const cause: ConnectCause = unset.length > 0 ? "variable-unset" : "configuration";
  return new TrunklineError("CONFIG_INVALID", unusable.message, {
    hint: unusable.hint,
    data: { cause, ...(unset.length > 0 ? { missing: unset } : {}) },
  });
}

interface Explanation {
  code: ErrorCode;
  message: string;
  hint?: string;
  cause: ConnectCause;
}

function explain(error: unknown, { server, exit, stderr, noise, timeoutMs }: ConnectFailure): Explanation {
  const { name } = server;
  if (isTrunklineError(error, "TIMEOUT")) {
    const seconds = timeoutMs / 1000;
    if (noise !== undefined) {
      return {
        code: "PROTOCOL",
        message: `Server "${name}" did not answer within ${seconds} s, and wrote something other than protocol messages to stdout: ${noise}`,
        hint: "Is it an MCP server, and does it keep its own output off stdout?",
        cause: "protocol",
      };
    }
    const words = lastWords(stderr);
    return {
      code: "TIMEOUT",
      message: `Server "${name}" did not answer within ${seconds} s.${words === undefined ? "" : ` Last stderr output: ${words}`}`,
      hint: `Is it an MCP server? If it just needs longer, set "timeout": ${Math.min(600, (server.connectTimeoutMs / 1000) * 2)} in its entry.`,
      cause: "timeout",
    };
  }
  if (exit !== undefined && server.type === "stdio" && !isTrunklineError(error, "SPAWN_FAILED")) {
    const words = lastWords(stderr);
    return {
      code: "SERVER_EXITED",
      message: `Server "${name}" exited while connecting (${exitText(exit)}).${words === undefined ? " It wrote nothing to stderr." : ` It wrote: ${words}`}`,
      hint: `Run it by hand to see why: ${[server.command, ...redactedArgs(server.args)].map(shellQuoted).join(" ")}`,
      cause: "exited",
    };
  }
  if (isTrunklineError(error)) {
    const cause =
      error.code === "SPAWN_FAILED"
        ? "program-missing"
        : error.code === "CONFIG_INVALID"
          ? "configuration"
          : error.code === "AUTH_REQUIRED"
            ? "unauthorized"
            : error.code === "CONNECTION_FAILED"
              ? "unreachable"
              : "protocol";
    return {
      code: error.code,
      message: error.message,
      hint: error.hint,
      cause,
    };
  }
  if (isUnauthorized(error) || error instanceof InsufficientScopeError) {
    return { code: "AUTH_REQUIRED", ...refusal(error, server), cause: "unauthorized" };
  }
  return isRemote(server) ? networkFailure(error, server) : protocolFailure(error, name);
}

/** Builds the message and hint for a server that requires a sign-in or more permissions. */
function refusal(error: unknown, server: ServerDefinition): { message: string; hint: string } {
  const { name } = server;
  const hasToken = isRemote(server) && !usesSignIn(server);
  const hint = hasToken
    ? 'Check the token under "headers" in its entry.'
    : isRemote(server) && server.auth?.grant === "client_credentials"
      ? 'Check the client credentials under "auth" in its entry.'
      : hintToSignIn(name);
  if (!(error instanceof InsufficientScopeError)) {
    const message = hasToken
      ? `Server "${name}" rejected the Authorization header.`
      : `Server "${name}" needs you to sign in.`;
    return { message, hint };
  }
  const scope = error.requiredScope === undefined ? "" : `: ${error.requiredScope}`;
  return { message: `Server "${name}" needs a permission that was not granted${scope}.`, hint };
}

/** Returns the scope that a rejected request needed. */
export function neededScope(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof InsufficientScopeError) return at.requiredScope;
  }
  return undefined;
}

/** Returns the code of the network failure that caused an error. */
export function networkCodeOf(error: unknown): string | undefined {
  return systemCodeOf(error);
}

/** A blocked port shows only in the message. */
function isBlockedPort(error: unknown): boolean {
  return error instanceof Error && (error.message === "bad port" || isBlockedPort(error.cause));
}

function networkFailure(error: unknown, { name, url }: HttpServer): Explanation {
  const code = networkCodeOf(error);
  const at = `Server "${name}" at ${redactedUrl(url)}`;
  if (code === "ECONNREFUSED") {
    const hint = "Nothing is listening there: is the server running, and is the port right?";
    return { code: "CONNECTION_FAILED", message: `${at} refused the connection.`, hint, cause: "refused" };
  }
  if (code !== undefined && TLS_CODE.test(code)) {
    const hint = "Does it use https at all? For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file.";
    return {
      code: "CONNECTION_FAILED",
      message: `${at} has no trusted TLS certificate (${code}).`,
      hint,
      cause: "tls",
    };
  }
  if (code !== undefined) {
    const hint =
      code === "ENOTFOUND"
        ? "Cannot resolve the host name: check the spelling and the network."
        : "Check the URL and the network.";
    return { code: "CONNECTION_FAILED", message: `${at} cannot be reached (${code}).`, hint, cause: "unreachable" };
  }
  if (isBlockedPort(error)) {
    const hint =
      "Another protocol uses this port, so Trunkline does not connect to it. Run the server on another port.";
    return {
      code: "CONNECTION_FAILED",
      message: `${at} cannot be reached: its port is blocked.`,
      hint,
      cause: "unreachable",
    };
  }
  const status = error instanceof HttpError ? error.status : undefined;
  if (status === 403) {
    const hint = "The credentials in its entry lack permission, or it allows no access from here.";
    return { code: "PROTOCOL", message: `${at} denies access (HTTP 403).`, hint, cause: "unauthorized" };
  }
  if (status !== undefined && status >= 400) {
    const hint =
      status >= 500 ? "The server itself failed: see its log." : "Is the path right? Many servers use /mcp or /sse.";
    return { code: "PROTOCOL", message: `${at} answered with HTTP ${status}.`, hint, cause: "protocol" };
  }
  return protocolFailure(error, name);
}

function protocolFailure(error: unknown, name: string): Explanation {
  return {
    code: "PROTOCOL",
    message: `Server "${name}" does not respond like an MCP server: ${shortMessage(error)}`,
    hint: "Is it an MCP server, and is this its URL or command?",
    cause: "protocol",
  };
}

function shortMessage(error: unknown): string {
  const [line = ""] = messageOf(error).split("\n");
  return firstWords(line, 300);
}

const SESSION_EXPIRED = "session-expired";

/** Whether the server has forgotten our session: it rejected the request without processing it. */
export function isSessionExpired(error: unknown): boolean {
  if (isTrunklineError(error)) return error.data?.cause === SESSION_EXPIRED;
  return error instanceof HttpError && error.status === 404;
}

/** Builds the error for a request that the server rejected because it has forgotten our session. */
export function sessionExpired(what: string, cause: unknown, { isAgain }: { isAgain: boolean }): TrunklineError {
  const again = isAgain ? ", and then also the one opened in its place" : "";
  return new TrunklineError("CONNECTION_FAILED", `${what} failed: the server ended the session${again}.`, {
    cause,
    hint: "The server did not run it. Try again, or restart the server.",
    data: { cause: SESSION_EXPIRED },
  });
}

/** The codes of connections that could not be opened, so that nothing was sent. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const LACKS_ABILITY =
  "The tool asks for something that this client does not support. The user can run it at a terminal: trunkline call.";

/** What is known about a failed request. */
interface RequestFailure {
  server: ServerDefinition;
  what: string;
  exit: ProcessExit | undefined;
  /** The last lines on stderr, ready to be shown. */
  lines: () => readonly string[];
}

export function requestError(error: unknown, failure: RequestFailure): TrunklineError {
  const { server, what, exit } = failure;
  if (isExit(error, exit)) {
    const how = exit === undefined ? "the connection closed" : `the server exited (${exitText(exit)})`;
    const lines = failure.lines();
    return new TrunklineError("SERVER_EXITED", `${what} failed: ${how}${linesText(exit, lines)}`, {
      cause: error,
      hint: "It may or may not have taken effect.",
      ...exitData(exit, lines),
    });
  }
  if (isTrunklineError(error)) return error;
  if (isUnauthorized(error) || error instanceof InsufficientScopeError) {
    const { message, hint } = refusal(error, server);
    return new TrunklineError("AUTH_REQUIRED", message, { cause: error, hint, data: { cause: "unauthorized" } });
  }
  if (error instanceof RpcError && error.code === REFUSED_CODES.tooLarge) {
    return new TrunklineError("RESULT_TOO_LARGE", `${what} failed: ${messageOf(error)}.`, {
      cause: error,
      hint: 'Ask for less: a filter, a page, a range. Or raise "maxMessageBytes" in the server\'s entry.',
    });
  }
  if (error instanceof RpcError && error.code === REFUSED_CODES.tooDeep) {
    return new TrunklineError("PROTOCOL", `${what} failed: ${messageOf(error)}.`, { cause: error });
  }
  if (error instanceof RpcError) {
    return new TrunklineError("UPSTREAM", `${what} failed: ${messageOf(error)} (${error.code})`, {
      cause: error,
      ...(error.code === RPC_CODES.missingCapability ? { hint: LACKS_ABILITY } : {}),
      data: { code: error.code, message: messageOf(error), data: error.data },
    });
  }
  if (error instanceof StreamEndedError) {
    return new TrunklineError("SERVER_EXITED", `${what} failed: the stream ended without an answer.`, {
      cause: error,
      hint: "It may or may not have taken effect.",
    });
  }
  if (error instanceof HttpError) {
    return new TrunklineError("UPSTREAM", `${what} failed: HTTP ${error.status}.`, {
      cause: error,
      data: { status: error.status },
    });
  }
  const code = networkCodeOf(error);
  if (code !== undefined || error instanceof TypeError) {
    const isSent = code === undefined || !NOT_SENT.has(code);
    return new TrunklineError("CONNECTION_FAILED", `${what} failed: ${code ?? messageOf(error)}.`, {
      cause: error,
      retryable: !isSent,
      hint: isSent ? "It may or may not have taken effect." : "The server did not get it. Try again.",
    });
  }
  return new TrunklineError("PROTOCOL", `${what} failed: ${messageOf(error)}`, { cause: error });
}

/** Whether a request failed because the connection ended, which the transport may have noticed first. */
function isExit(error: unknown, exit: ProcessExit | undefined): boolean {
  if (isTrunklineError(error)) return error.code === "SERVER_EXITED" && exit !== undefined;
  return error instanceof WireClosedError;
}

/**
 * Finds the stderr line that most likely explains the failure: the last error, not the stack trace or version below it.
 */
function lastWords(stderr: readonly string[]): string | undefined {
  return (
    stderr.findLast(
      (line) =>
        /error|cannot|not found|denied|missing|refused/i.test(line) && !/^\s+at |complete log of this run/.test(line),
    ) ?? stderr.at(-1)
  );
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof HttpError && error.status === 401;
}

/** Throws if a server in this state cannot be connected, and says what its owner can do. */
export function requireConnectable(server: string, state: ServerState): void {
  if (state === "disabled") {
    throw new TrunklineError("SERVER_UNAVAILABLE", `Server "${server}" is disabled.`, {
      hint: `Enable it: trunkline servers enable ${server}`,
    });
  }
  if (state === "untrusted") {
    throw new TrunklineError(
      "SERVER_UNAVAILABLE",
      `Server "${server}" comes from a project file that you have not approved.`,
      { hint: "Review and approve it: trunkline trust" },
    );
  }
}
