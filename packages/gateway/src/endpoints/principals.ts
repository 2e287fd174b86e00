// Whose request it is. Each token belongs to a principal; without tokens, all clients are one.
import { hash, timingSafeEqual } from "node:crypto";
import { DEFAULT_PRINCIPAL } from "../interfaces/exchange.js";

export { DEFAULT_PRINCIPAL };

/** The principal of all clients of an endpoint that requires no token. */
export const ANONYMOUS_PRINCIPAL = "anonymous";

/** The tokens that an endpoint accepts. */
export interface Principals {
  /**
   * Returns the principal of a token; undefined if the token is unknown, revoked or expired. Runs for every request:
   * takes the same time for all unknown tokens, and reads no files.
   */
  identify(token: string): string | undefined;
  /** For a client that is turned away: where to find a token. */
  readonly hint?: string;
  /** Reports a principal whose tokens are all revoked or expired, until the returned function is called. */
  onEnded?(listener: (principal: string) => void): () => void;
}

/** Accepts one token, as the principal `default`. */
export function singleToken(token: string): Principals {
  const expected = tokenDigest(token);
  return {
    identify: (given) => (timingSafeEqual(tokenDigest(given), expected) ? DEFAULT_PRINCIPAL : undefined),
  };
}

/** Digests have equal length, which constant-time comparison requires. */
export function tokenDigest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
