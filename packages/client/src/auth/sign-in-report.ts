// Where the sign-in of a server stands, for those who look at it.
import type { Grant } from "./credentials.js";

/** Where a server's sign-in stands, as far as this process knows. */
export interface SignInReport {
  readonly kind: "person" | "client-credentials";
  readonly signedIn: boolean;
  readonly issuer?: string;
  readonly scope?: string;
  /** ISO 8601; absent where the token's issuer did not say. */
  readonly expiresAt?: string;
  /** Whether it is renewed without a person. */
  readonly renewable: boolean;
}

/** Where a sign-in stands by its grant. */
export function reportOf(kind: SignInReport["kind"], grant: Grant | undefined, known?: string): SignInReport {
  const tokens = grant?.tokens;
  const issuer = tokens?.issuer ?? known;
  const isMachine = kind === "client-credentials";
  if (grant === undefined || tokens === undefined) return { kind, signedIn: false, renewable: isMachine };
  return {
    kind,
    signedIn: true,
    renewable: isMachine || tokens.refresh_token !== undefined,
    ...(issuer === undefined ? {} : { issuer }),
    ...(tokens.scope === undefined ? {} : { scope: tokens.scope }),
    ...(grant.expiresAtMs === undefined ? {} : { expiresAt: new Date(grant.expiresAtMs).toISOString() }),
  };
}
