// Our identity at an authorization server: the client named in the entry, or the one registered for us.
import type { OAuthServerInfo, StoredOAuthClientInformation } from "@modelcontextprotocol/client";
import type { AuthSettings } from "@trunkline/config";
import { TrunklineError } from "@trunkline/core";
import type { Grant } from "./credentials.js";
import { hasScopes } from "./scopes.js";

/** Returns the entry's client, bound to the issuer it is meant for. */
export function configuredClient(settings: AuthSettings, issuer: string): StoredOAuthClientInformation {
  const { clientId = "", clientSecret } = settings;
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    issuer: settings.issuer ?? issuer,
  };
}

/** Returns the client named in the entry, or else the one stored with the grant. */
export function clientOf(
  grant: Grant | undefined,
  settings: AuthSettings | undefined,
  issuer: string,
): StoredOAuthClientInformation | undefined {
  return settings?.clientId === undefined ? grant?.client : configuredClient(settings, issuer);
}

/** Whether a registration can request a scope: it may be limited to the scopes it was created with. */
export function isRegisteredFor(client: StoredOAuthClientInformation, scope: string | undefined): boolean {
  const registered = "scope" in client ? client.scope : undefined;
  return typeof registered !== "string" || hasScopes(registered, scope);
}

/** Whether a registration has expired. */
export function isSecretOver(client: StoredOAuthClientInformation): boolean {
  const endSeconds = "client_secret_expires_at" in client ? client.client_secret_expires_at : undefined;
  return typeof endSeconds === "number" && endSeconds > 0 && endSeconds * 1000 <= Date.now();
}

/** Throws, naming what is missing, if we are not a client of the authorization server and cannot become one. */
export function requireWayToRegister(
  found: OAuthServerInfo,
  options: {
    readonly server: string;
    readonly settings: AuthSettings | undefined;
    readonly clientMetadataUrl: string | undefined;
    readonly isRegistered: boolean;
  },
): void {
  const { server, settings, clientMetadataUrl, isRegistered } = options;
  const { authorizationServerMetadata: metadata } = found;
  if (settings?.clientId !== undefined || isRegistered || metadata?.registration_endpoint !== undefined) return;
  // A server of the first revisions has no metadata and registers clients at a fixed path.
  if (metadata === undefined && found.resourceMetadata === undefined) return;
  if (clientMetadataUrl !== undefined && metadata?.client_id_metadata_document_supported === true) return;
  throw new TrunklineError("AUTH_REQUIRED", `"${server}" only accepts clients that were registered by hand.`, {
    hint: 'Register a client there, and put its "client_id" (and "client_secret", if it has one) under "auth" in the entry.',
    data: { cause: "unauthorized" },
  });
}
