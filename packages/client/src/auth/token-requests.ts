// Requests tokens without a user: refreshes, and machines that sign in as themselves.
import type { FetchLike, StoredOAuthTokens } from "@modelcontextprotocol/client";
import type { HttpServer } from "@trunkline/config";
import { type Logger, TrunklineError, withoutUndefined } from "@trunkline/core";
import { type CredentialRecord, type Grant, grantOf, withGrant } from "./credentials.js";
import { type Discovered, discover } from "./discovery.js";
import type { MachineProvider } from "./machine-provider.js";
import { clientOf } from "./registration.js";
import { isClientGone, isDead } from "./sign-in-errors.js";
import type { SignInGuard } from "./sign-in-guard.js";
import { lifeOf, secretsOf } from "./token-life.js";

export interface TokenRequest {
  readonly definition: HttpServer;
  /** From the server's last rejection of a request. */
  readonly challenge: { readonly resourceMetadataUrl?: URL; readonly scope?: string };
  readonly guard: SignInGuard;
  readonly logger: Logger;
  readonly onSecrets: (values: readonly string[]) => void;
}

/** A refresh holds the lock, so it must not hang. */
const RENEW_TIMEOUT_MS = 30_000;

/**
 * Returns the record with a refreshed token, or without a token if the old one is permanently invalid. Returns
 * undefined if the server's current authorization server gave us nothing to refresh: tokens from another one are
 * useless.
 */
export async function refreshRecord(
  record: CredentialRecord,
  request: TokenRequest,
): Promise<CredentialRecord | undefined> {
  const { definition, challenge, logger, onSecrets } = request;
  const { name, auth: settings } = definition;
  const fetchFn = withinTime(request.guard.fetch);
  const resourceMetadataUrl = challenge.resourceMetadataUrl ?? record.resourceMetadataUrl;
  const found = await discover(definition, {
    guard: request.guard,
    fetchFn,
    resourceMetadataUrl: resourceMetadataUrl === undefined ? undefined : new URL(resourceMetadataUrl),
  });
  const { issuer } = found;
  const grant = grantOf(record, issuer);
  const client = clientOf(grant, settings, issuer);
  if (grant?.tokens?.refresh_token === undefined || client === undefined) return undefined;
  const { refreshAuthorization } = await import("@modelcontextprotocol/client");
  let tokens: StoredOAuthTokens;
  try {
    tokens = await refreshAuthorization(found.authorizationServerUrl, {
      clientInformation: client,
      refreshToken: grant.tokens.refresh_token,
      fetchFn,
      ...(await tokenTarget(found, definition)),
    });
  } catch (error) {
    if (!isDead(error)) throw error;
    logger.info("the sign-in has expired", { server: name, error });
    const gone = isClientGone(error) ? { client: undefined, redirectUri: undefined } : {};
    return withGrant(record, issuer, { tokens: undefined, ...gone });
  }
  // Not every server repeats these. If there are no new ones, keep the old refresh token and scope.
  const kept = { refresh_token: grant.tokens.refresh_token, scope: grant.tokens.scope };
  const renewed = { ...kept, ...withoutUndefined(tokens), issuer };
  onSecrets(secretsOf(renewed));
  logger.debug("token renewed", { server: name });
  return { ...withGrant(record, issuer, { tokens: renewed, ...lifeOf(renewed) }), issuer };
}

export async function requestGrant(machine: MachineProvider, request: TokenRequest): Promise<Grant> {
  const { definition, challenge, onSecrets } = request;
  requireIssuer(definition);
  const fetchFn = withinTime(request.guard.fetch);
  const found = await discover(definition, {
    guard: request.guard,
    fetchFn,
    resourceMetadataUrl: challenge.resourceMetadataUrl,
  });
  const scope = definition.auth?.scope ?? challenge.scope ?? found.resourceMetadata?.scopes_supported?.join(" ");
  const { fetchToken } = await import("@modelcontextprotocol/client");
  const tokens = await fetchToken(machine, found.authorizationServerUrl, {
    fetchFn,
    ...(await tokenTarget(found, definition)),
    scope,
  });
  onSecrets(secretsOf(tokens));
  return { tokens: { ...tokens, issuer: found.issuer }, ...lifeOf(tokens) };
}

/** The server must not choose who gets the credentials: they would go to any issuer it names. */
function requireIssuer({ name, auth: settings }: HttpServer): void {
  if (settings?.issuer !== undefined && settings.issuer.trim() !== "") return;
  throw new TrunklineError(
    "CONFIG_INVALID",
    `Server "${name}" signs in with client credentials, but its entry does not name their issuer.`,
    {
      hint: 'Set "issuer" under "auth" to the URL of the authorization server that issued them, such as https://login.example.com.',
    },
  );
}

/** Returns where to request tokens, and for what. */
async function tokenTarget(found: Discovered, definition: HttpServer) {
  const { authorizationServerMetadata: metadata, resourceMetadata } = found;
  const resource = await checkedResource(resourceMetadata?.resource, definition);
  return { metadata, resource };
}

/**
 * Returns the resource the tokens are for, as the server names it. It must be the server itself, or something that
 * contains it.
 */
async function checkedResource(resource: string | undefined, { name, url }: HttpServer): Promise<string | undefined> {
  if (resource === undefined) return undefined;
  const { checkResourceAllowed, resourceUrlFromServerUrl } = await import("@modelcontextprotocol/client");
  const requestedResource = resourceUrlFromServerUrl(new URL(url));
  if (checkResourceAllowed({ requestedResource, configuredResource: resource })) return resource;
  throw new TrunklineError("PROTOCOL", `Server "${name}" claims to be ${resource}, which it is not.`);
}

function withinTime(fetch: FetchLike): FetchLike {
  const signal = AbortSignal.timeout(RENEW_TIMEOUT_MS);
  return (url, init) => fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([signal, init.signal]) : signal });
}
