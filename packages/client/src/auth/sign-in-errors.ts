// What goes wrong while signing in or renewing, with a code and the next thing to try.
import { OAuthError, OAuthErrorCode, RegistrationRejectedError, UnauthorizedError } from "@modelcontextprotocol/client";
import { isTrunklineError, messageOf, systemCodeOf, TrunklineError, toOneLine } from "@trunkline/core";
import { SignInCallbackError } from "./sign-in.js";

/** What an authorization server says when it is the one that has a problem. */
const TRANSIENT: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable", "too_many_requests"]);

/** Why a sign-in, or the renewal of one, failed. */
export function signInError(error: unknown, server: string): TrunklineError {
  if (error instanceof SignInCallbackError) {
    // The host's own failure fails the connect; it is no question of who may sign in.
    return new TrunklineError("SERVER_UNAVAILABLE", `Signing in to "${server}" failed: ${error.message}`, {
      cause: error,
    });
  }
  if (isTrunklineError(error)) return error;
  // The SDK's own codes are no codes of the system.
  const network = error instanceof OAuthError ? undefined : systemCodeOf(error);
  if (network !== undefined || isTimeout(error)) {
    return new TrunklineError(
      "CONNECTION_FAILED",
      `The authorization server of "${server}" cannot be reached (${network ?? "no answer in time"}).`,
      { cause: error, hint: "Check the network. What you are signed in with is kept.", data: { cause: "unreachable" } },
    );
  }
  if (error instanceof OAuthError && TRANSIENT.has(error.code)) {
    return new TrunklineError(
      "CONNECTION_FAILED",
      `The authorization server of "${server}" does not work at the moment (${error.code}).`,
      { cause: error, hint: "Try again later. What you are signed in with is kept.", data: { cause: "unreachable" } },
    );
  }
  if (error instanceof OAuthError && !isDead(error)) {
    return new TrunklineError(
      "AUTH_REQUIRED",
      `Signing in to "${server}" failed: ${plain(error.message)} (${error.code})`,
      {
        cause: error,
        hint: hintToSignIn(server),
        data: { cause: "unauthorized" },
      },
    );
  }
  if (error instanceof OAuthError || error instanceof UnauthorizedError) return signInNeeded(server, error);
  if (error instanceof RegistrationRejectedError) {
    return new TrunklineError("AUTH_REQUIRED", `"${server}" does not let us register (HTTP ${error.status}).`, {
      cause: error,
      hint: 'If it takes a token instead, put it under "headers" in its entry; if it wants a client registered by hand, under "auth".',
      data: { cause: "unauthorized" },
    });
  }
  return new TrunklineError("PROTOCOL", `Signing in to "${server}" is not possible: ${plain(messageOf(error))}`, {
    cause: error,
    hint: "What the server or its authorization server says about signing in does not hold together. Its operator has to know.",
    data: { cause: "unauthorized" },
  });
}

/** The person did not want to, or was not let. */
export function signInCancelled(server: string): TrunklineError {
  return new TrunklineError("AUTH_REQUIRED", `The sign-in to "${server}" was cancelled.`, {
    hint: hintToSignIn(server),
    data: { cause: "unauthorized", signIn: "cancelled" },
  });
}

/** Somebody has to sign in, and here is how. */
export function signInNeeded(server: string, cause?: unknown): TrunklineError {
  return new TrunklineError("AUTH_REQUIRED", `Server "${server}" needs you to sign in.`, {
    ...(cause === undefined ? {} : { cause }),
    hint: hintToSignIn(server),
    data: { cause: "unauthorized" },
  });
}

/** The next thing to do for a server that needs a sign-in. */
export function hintToSignIn(server: string): string {
  return `Sign in: trunkline auth login ${/^[\w@.-]+$/.test(server) ? server : JSON.stringify(server)}`;
}

/** Whether the authorization server says that what we hold will never be good again. */
export function isDead(error: unknown): boolean {
  return error instanceof OAuthError && (error.code === OAuthErrorCode.InvalidGrant || isClientGone(error));
}

/** Whether the authorization server no longer knows our registration. */
export function isClientGone(error: unknown): boolean {
  return (
    error instanceof OAuthError &&
    (error.code === OAuthErrorCode.InvalidClient || error.code === OAuthErrorCode.UnauthorizedClient)
  );
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && (error.name === "TimeoutError" || error.name === "AbortError");
}

/** Somebody else's text on a screen of ours: one line, no control characters, not a page of HTML. */
function plain(text: string): string {
  const line = toOneLine(text);
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
