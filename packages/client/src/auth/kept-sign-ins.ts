// What is kept of sign-ins, for those who look at it or want it gone, without connecting to anything but the revocation.
import { buildDiscoveryUrls } from "@modelcontextprotocol/client";
import { type Logger, silentLogger, withDeadline } from "@trunkline/core";
import { z } from "zod";
import type { HttpServer } from "../config/loaded-config.js";
import { CredentialStore, currentGrant, type Grant } from "./credentials.js";
import { clientOf } from "./registration.js";
import { credentialKeyOf, usesSignIn } from "./server-auth.js";
import { reportOf, type SignInReport } from "./sign-in-report.js";
import { secretsOf } from "./token-life.js";

/** How a server's requests are authorized: by a sign-in of ours, or by a header of its entry. */
export type KeptSignIn = SignInReport | { readonly kind: "header" };

/** What is asked of the kept sign-ins. */
interface KeptSignInOptions {
  readonly home: string;
  readonly logger?: Logger;
  /** Gets what must not be shown. */
  readonly onSecrets?: (values: readonly string[]) => void;
  readonly signal?: AbortSignal;
}

const metadataSchema = z.object({ issuer: z.string(), revocation_endpoint: z.url().optional() });

/** How long the authorization server may take to forget a token. It is told as a courtesy. */
const REVOKE_TIMEOUT_MS = 5_000;

/** Where the sign-in of a server stands by what is kept. */
export async function readSignIn(server: HttpServer, { home }: KeptSignInOptions): Promise<KeptSignIn> {
  if (!usesSignIn(server)) return { kind: "header" };
  if (server.auth?.grant === "client_credentials") return reportOf("client-credentials", undefined);
  const record = await new CredentialStore(home).read(credentialKeyOf(server));
  return reportOf("person", currentGrant(record), record.issuer);
}

/**
 * Signs out: the authorization server is told that the tokens are no longer wanted, where it listens to that, and
 * everything kept about the server goes, the registration included. Says whether there was anything.
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
      // No AbortSignal.timeout: inside AbortSignal.any, Node 20 may collect it before it fires.
      await withDeadline({ what: "Revoking the tokens", timeoutMs: REVOKE_TIMEOUT_MS, signal }, (deadline) =>
        revoke(server, issuer, grant, deadline),
      );
    } catch (error) {
      if (signal?.aborted) throw error;
      // What is not known to be revoked ends by itself; that must not keep anybody signed in here.
      logger.info("the tokens were not revoked", { server: server.name, error });
    }
  }
  await store.remove(key, signal);
  return grant?.tokens !== undefined;
}

async function revoke(server: HttpServer, issuer: string, grant: Grant, signal: AbortSignal): Promise<void> {
  const endpoint = await revocationEndpoint(issuer, signal);
  const { tokens } = grant;
  const client = clientOf(grant, server.auth, issuer);
  if (endpoint === undefined || tokens === undefined || client === undefined) return;
  // The refresh token takes its access tokens with it.
  const [token, hint] =
    tokens.refresh_token === undefined
      ? [tokens.access_token, "access_token"]
      : [tokens.refresh_token, "refresh_token"];
  const body = new URLSearchParams({ token, token_type_hint: hint, client_id: client.client_id });
  if (client.client_secret !== undefined) body.set("client_secret", client.client_secret);
  await fetch(endpoint, { method: "POST", body, signal, redirect: "error" });
}

/** Where tokens are revoked. Read here, because the SDK drops the field from what OpenID servers publish. */
async function revocationEndpoint(issuer: string, signal: AbortSignal): Promise<string | undefined> {
  for (const { url } of buildDiscoveryUrls(issuer)) {
    const response = await fetch(url, { signal, redirect: "error", headers: { accept: "application/json" } });
    if (!response.ok) continue;
    const parsed = metadataSchema.safeParse(await response.json());
    const endpoint = parsed.data?.revocation_endpoint;
    if (parsed.data?.issuer.replace(/\/$/, "") !== issuer.replace(/\/$/, "") || endpoint === undefined)
      return undefined;
    const { protocol, hostname } = new URL(endpoint);
    // A token goes over plain http on this machine only.
    return protocol === "https:" || hostname === "127.0.0.1" || hostname === "localhost" ? endpoint : undefined;
  }
  return undefined;
}
