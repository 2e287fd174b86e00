// Token facts that need no request: which parts are secret, and how long a token is valid.
import type { StoredOAuthTokens } from "@modelcontextprotocol/client";
import type { Grant } from "./credentials.js";

/** Tokens are refreshed this long before they expire, or when a tenth of their lifetime is left, whichever is later. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;

/** Returns everything in the tokens that must not be shown. */
export function secretsOf(tokens: StoredOAuthTokens): string[] {
  return [tokens.access_token, tokens.refresh_token, tokens.id_token].filter((value) => value !== undefined);
}

/** Returns when a new access token was saved and when it expires. */
export function lifeOf(tokens: StoredOAuthTokens): { savedAtMs: number; expiresAtMs: number | undefined } {
  const savedAtMs = Date.now();
  const { expires_in: seconds } = tokens;
  return { savedAtMs, expiresAtMs: seconds === undefined ? undefined : savedAtMs + seconds * 1000 };
}

/** Whether a grant's token should be refreshed before its next use. */
export function isEnding({ savedAtMs = 0, expiresAtMs }: Grant): boolean {
  if (expiresAtMs === undefined) return false;
  const marginMs = Math.min(MARGIN_MS, (expiresAtMs - savedAtMs) * MARGIN_SHARE);
  return Date.now() >= expiresAtMs - marginMs;
}

/** Whether a grant's token has expired. */
export function isOver({ expiresAtMs }: Grant): boolean {
  return expiresAtMs !== undefined && Date.now() >= expiresAtMs;
}
