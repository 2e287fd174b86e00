// Finds the authorization server of a server. Looked up each time it matters, because a server can switch to another
// one.
import type { FetchLike, OAuthServerInfo } from "@modelcontextprotocol/client";
import type { HttpServer } from "@trunkline/config";
import { isTrunklineError, redactedUrl, TrunklineError } from "@trunkline/core";
import type { SignInGuard } from "./sign-in-guard.js";

/** An authorization server and its issuer name. */
export interface Discovered extends OAuthServerInfo {
  readonly issuer: string;
}

interface DiscoverOptions {
  readonly guard: SignInGuard;
  readonly fetchFn: FetchLike;
  readonly resourceMetadataUrl: URL | undefined;
}

/**
 * Finds the authorization server and checks it: its issuer must be the one that the entry names, if it names one, and
 * its endpoints must be places that the sign-in may lead to.
 */
export async function discover(definition: HttpServer, options: DiscoverOptions): Promise<Discovered> {
  const { guard, resourceMetadataUrl } = options;
  let refusal: TrunklineError | undefined;
  // The SDK takes any failure to mean that there is no metadata, and continues without it.
  const fetchFn: FetchLike = async (url, init) => {
    try {
      return await options.fetchFn(url, init);
    } catch (error) {
      if (isTrunklineError(error)) refusal ??= error;
      throw error;
    }
  };
  const { discoverOAuthServerInfo } = await import("@modelcontextprotocol/client");
  const discovering = discoverOAuthServerInfo(new URL(definition.url), {
    fetchFn,
    resourceMetadataUrl,
  });
  const found = await discovering.catch((error: unknown) => {
    throw refusal ?? error;
  });
  if (refusal !== undefined) throw refusal;
  const metadata = found.authorizationServerMetadata;
  const issuer = metadata?.issuer ?? String(found.authorizationServerUrl);
  const pinned = definition.auth?.issuer;
  if (pinned !== undefined && !isSameIssuer(pinned, issuer)) throw wrongIssuer(definition.name, { pinned, issuer });
  const endpoints = [
    metadata?.authorization_endpoint,
    metadata?.token_endpoint,
    metadata?.registration_endpoint,
  ].filter((endpoint) => endpoint !== undefined);
  if (pinned !== undefined) guard.trust(endpoints);
  for (const endpoint of endpoints) await guard.check(new URL(endpoint));
  return { ...found, issuer };
}

/** Whether two issuers are the same: a trailing slash makes no difference. */
export function isSameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, "") === b.replace(/\/$/, "");
}

function wrongIssuer(server: string, { pinned, issuer }: { pinned: string; issuer: string }): TrunklineError {
  return new TrunklineError(
    "PROTOCOL",
    `Server "${server}" wants you to sign in at ${redactedUrl(issuer)}, but its entry names the issuer ${redactedUrl(pinned)}.`,
    {
      hint: 'If the server has moved to another authorization server, change "issuer" under "auth" in its entry.',
      data: { cause: "unauthorized" },
      retryable: false,
    },
  );
}
