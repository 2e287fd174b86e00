// Errors from sign-in and token refresh, each with a code and a hint.
import type { OAuthError, RegistrationRejectedError } from "@modelcontextprotocol/client";
import { firstWords, isTrunklineError, messageOf, systemCodeOf, TrunklineError, toOneLine } from "@trunkline/core";
import { SignInCallbackError } from "./sign-in.js";

/** Errors that mean the authorization server itself has a problem. */
const TRANSIENT: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable", "too_many_requests"]);

/** Explains why a sign-in or a token refresh failed. */
export function signInError(error: unknown, server: string): TrunklineError {
  if (error instanceof SignInCallbackError) {
    // An error in the host's callback fails the connection; it does not mean that a sign-in is needed.
    return new TrunklineError("SERVER_UNAVAILABLE", `Signing in to "${server}" failed: ${error.message}`, {
      cause: error,
    });
  }
  if (isTrunklineError(error)) return error;
  // The SDK's own codes are not system codes.
  const network = isOAuthError(error) ? undefined : systemCodeOf(error);
  if (network !== undefined || isTimeout(error)) {
    return new TrunklineError(
      "CONNECTION_FAILED",
      `Cannot reach the authorization server of "${server}" (${network ?? "no answer in time"}).`,
      { cause: error, hint: "Check the network. Your current sign-in is kept.", data: { cause: "unreachable" } },
    );
  }
  if (isOAuthError(error) && TRANSIENT.has(error.code)) {
    return new TrunklineError(
      "CONNECTION_FAILED",
      `The authorization server of "${server}" is currently failing (${error.code}).`,
      { cause: error, hint: "Try again later. Your current sign-in is kept.", data: { cause: "unreachable" } },
    );
  }
  if (isOAuthError(error) && !isDead(error)) {
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
  if (isOAuthError(error) || isUnauthorized(error)) return signInNeeded(server, error);
  if (isRegistrationRejected(error)) {
    return new TrunklineError("AUTH_REQUIRED", `"${server}" refuses to register Trunkline (HTTP ${error.status}).`, {
      cause: error,
      hint: 'If it accepts a token instead, put it under "headers" in its entry; if it needs a manually registered client, put that under "auth".',
      data: { cause: "unauthorized" },
    });
  }
  return new TrunklineError("PROTOCOL", `Cannot sign in to "${server}": ${plain(messageOf(error))}`, {
    cause: error,
    hint: "The server's sign-in metadata is inconsistent. Please tell its operator.",
    data: { cause: "unauthorized" },
  });
}

/** The error if the user declined or was denied. */
export function signInCancelled(server: string): TrunklineError {
  return new TrunklineError("AUTH_REQUIRED", `The sign-in to "${server}" was cancelled.`, {
    hint: hintToSignIn(server),
    data: { cause: "unauthorized", signIn: "cancelled" },
  });
}

/** The error if a sign-in is needed; the hint says how. */
export function signInNeeded(server: string, cause?: unknown): TrunklineError {
  return new TrunklineError("AUTH_REQUIRED", `Server "${server}" needs you to sign in.`, {
    cause,
    hint: hintToSignIn(server),
    data: { cause: "unauthorized" },
  });
}

/** The hint for a server that needs a sign-in. */
export function hintToSignIn(server: string): string {
  return `Sign in: trunkline auth login ${shownName(server)}`;
}

/** The server's name as an argument of a command. */
export function shownName(server: string): string {
  return /^[\w@.-]+$/.test(server) ? server : JSON.stringify(server);
}

/** Whether the authorization server says that our tokens are permanently invalid. */
export function isDead(error: unknown): boolean {
  return isOAuthError(error) && (error.code === "invalid_grant" || isClientGone(error));
}

/** Whether the authorization server no longer knows our registration. */
export function isClientGone(error: unknown): boolean {
  return isOAuthError(error) && (error.code === "invalid_client" || error.code === "unauthorized_client");
}

// The SDK's errors are recognised by their fields: whoever compares them with its classes has to load it first.

function isOAuthError(error: unknown): error is OAuthError {
  return error instanceof Error && error.name === "OAuthError" && "code" in error && typeof error.code === "string";
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof Error && error.name === "UnauthorizedError";
}

function isRegistrationRejected(error: unknown): error is RegistrationRejectedError {
  return error instanceof Error && "submittedMetadata" in error && "status" in error;
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && (error.name === "TimeoutError" || error.name === "AbortError");
}

/** Cleans up a server's text for display: one line, no control characters, no HTML. */
function plain(text: string): string {
  return firstWords(toOneLine(text), 300);
}
