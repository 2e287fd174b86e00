// What there is to know about tokens without asking anybody: what in them is secret, and how long they are good.
import type { StoredOAuthTokens } from "@modelcontextprotocol/client";
import type { Grant } from "./credentials.js";

/** A token is renewed this long before its end, or when a tenth of its life is left, whichever is later. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.1;

/** Everything in tokens that must not be shown. */
export function secretsOf(tokens: StoredOAuthTokens): string[] {
  return [tokens.access_token, tokens.refresh_token, tokens.id_token].filter((value) => value !== undefined);
}

/** From when to when an access token that has just come is good. */
export function lifeOf(tokens: StoredOAuthTokens): { savedAtMs: number; expiresAtMs: number | undefined } {
  const savedAtMs = Date.now();
  const { expires_in: seconds } = tokens;
  return { savedAtMs, expiresAtMs: seconds === undefined ? undefined : savedAtMs + seconds * 1000 };
}

/** Whether a grant's token should be renewed before it is used again. */
export function isEnding({ savedAtMs = 0, expiresAtMs }: Grant): boolean {
  if (expiresAtMs === undefined) return false;
  const marginMs = Math.min(MARGIN_MS, (expiresAtMs - savedAtMs) * MARGIN_SHARE);
  return Date.now() >= expiresAtMs - marginMs;
}

/** Whether a grant's token is of no use any more. */
export function isOver({ expiresAtMs }: Grant): boolean {
  return expiresAtMs !== undefined && Date.now() >= expiresAtMs;
}
