// Reads and removes stored sign-ins. Connects to nothing but the revocation endpoint.

import type { HttpServer } from "@trunkline/config";
import { isRecord, isString, type Logger, silentLogger, withDeadline } from "@trunkline/core";
import { CredentialStore, currentGrant, type Grant } from "./credentials.js";
import { isSameIssuer } from "./discovery.js";
import { clientOf } from "./registration.js";
import { credentialKeyOf, usesSignIn } from "./server-auth.js";
import { SignInGuard } from "./sign-in-guard.js";
import { reportOf, type SignInReport } from "./sign-in-report.js";
import { secretsOf } from "./token-life.js";

/** How a server's requests are authorized: by a stored sign-in, or by a header in its entry. */
export type KeptSignIn = SignInReport | { readonly kind: "header" };

interface KeptSignInOptions {
  readonly home: string;
  readonly logger?: Logger;
  /** Receives values that must not be shown. */
  readonly onSecrets?: (values: readonly string[]) => void;
  readonly signal?: AbortSignal;
}

/** How long the authorization server may take to revoke a token. Revocation is best effort. */
const REVOKE_TIMEOUT_MS = 5_000;

/** Reads a server's sign-in state from the stored data. */
export async function readSignIn(server: HttpServer, { home }: KeptSignInOptions): Promise<KeptSignIn> {
  if (!usesSignIn(server)) return { kind: "header" };
  if (server.auth?.grant === "client_credentials") return reportOf("client-credentials", undefined);
  const record = await new CredentialStore(home).read(credentialKeyOf(server));
  return reportOf("person", currentGrant(record), record.issuer);
}

/**
 * Signs out: revokes the tokens if the authorization server supports it, and deletes everything stored about the
 * server, including the registration. Returns whether anything was stored.
 */
export async function forgetSignIn(server: HttpServer, options: KeptSignInOptions): Promise<boolean> {
  const { home, logger = silentLogger, onSecrets, signal } = options;
  const store = new CredentialStore(home);
  const key = credentialKeyOf(server);
  const record = await store.read(key);
  const grant = currentGrant(record);
  if (grant?.tokens !== undefined && record.issuer !== undefined) {
    onSecrets?.(secretsOf(grant.tokens));
    try {
      const { issuer } = record;
      // Not AbortSignal.timeout: inside AbortSignal.any, Node 20 can garbage-collect it before it fires.
      await withDeadline({ what: "Revoking the tokens", timeoutMs: REVOKE_TIMEOUT_MS, signal }, (deadline) =>
        revoke(server, issuer, grant, deadline),
      );
    } catch (error) {
      if (signal?.aborted) throw error;
      // Tokens that were not revoked expire on their own; a failure must not block the local sign-out.
      logger.info("cannot revoke the tokens", { server: server.name, error });
    }
  }
  await store.remove(key, signal);
  return grant?.tokens !== undefined;
}

async function revoke(server: HttpServer, issuer: string, grant: Grant, signal: AbortSignal): Promise<void> {
  const guard = new SignInGuard(server);
  const endpoint = await revocationEndpoint(guard, { issuer, signal });
  if (endpoint !== undefined && server.auth?.issuer !== undefined) guard.trust([endpoint]);
  const { tokens } = grant;
  const client = clientOf(grant, server.auth, issuer);
  if (endpoint === undefined || tokens === undefined || client === undefined) return;
  // Revoking the refresh token also revokes its access tokens.
  const [token, hint] =
    tokens.refresh_token === undefined
      ? [tokens.access_token, "access_token"]
      : [tokens.refresh_token, "refresh_token"];
  const body = new URLSearchParams({ token, token_type_hint: hint, client_id: client.client_id });
  if (client.client_secret !== undefined) body.set("client_secret", client.client_secret);
  await guard.fetch(endpoint, { method: "POST", body, signal, redirect: "error" });
}

/** Finds the revocation endpoint. Read here because the SDK drops the field from OpenID server metadata. */
async function revocationEndpoint(
  guard: SignInGuard,
  { issuer, signal }: { issuer: string; signal: AbortSignal },
): Promise<string | undefined> {
  const { buildDiscoveryUrls } = await import("@modelcontextprotocol/client");
  for (const { url } of buildDiscoveryUrls(issuer)) {
    const response = await guard.fetch(url, { signal, redirect: "error", headers: { accept: "application/json" } });
    if (!response.ok) continue;
    const metadata: unknown = await response.json();
    if (!isRecord(metadata) || !isString(metadata.issuer) || !isSameIssuer(metadata.issuer, issuer)) return undefined;
    const endpoint = metadata.revocation_endpoint;
    return isString(endpoint) && URL.canParse(endpoint) ? endpoint : undefined;
  }
  return undefined;
}
