// The state of a server's sign-in, for display.
import type { Grant } from "./credentials.js";

/** The state of a server's sign-in, as far as this process knows. */
export interface SignInReport {
  readonly kind: "person" | "client-credentials";
  readonly signedIn: boolean;
  readonly issuer?: string;
  readonly scope?: string;
  /** ISO 8601; absent if the issuer did not say. */
  readonly expiresAt?: string;
  /** Whether it is refreshed without a user. */
  readonly renewable: boolean;
}

/** Derives the state from a grant. */
export function reportOf(kind: SignInReport["kind"], grant: Grant | undefined, known?: string): SignInReport {
  const tokens = grant?.tokens;
  const issuer = tokens?.issuer ?? known;
  const isMachine = kind === "client-credentials";
  if (grant === undefined || tokens === undefined) return { kind, signedIn: false, renewable: isMachine };
  return {
    kind,
    signedIn: true,
    renewable: isMachine || tokens.refresh_token !== undefined,
    issuer,
    scope: tokens.scope,
    ...(grant.expiresAtMs === undefined ? {} : { expiresAt: new Date(grant.expiresAtMs).toISOString() }),
  };
}
