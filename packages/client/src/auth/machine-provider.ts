// Client credentials: a machine signs in as itself, without a user.
import type {
  AddClientAuthentication,
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import type { AuthSettings } from "@trunkline/config";
import { configuredClient } from "./registration.js";

/**
 * Implements the SDK's OAuth provider for an entry's client. Keeps no tokens, because it can get new ones without a
 * user.
 */
export class MachineProvider implements OAuthClientProvider {
  readonly redirectUrl = undefined;
  readonly addClientAuthentication?: AddClientAuthentication;
  readonly #settings: AuthSettings;
  readonly #clientName: string;

  constructor(settings: AuthSettings, clientName: string) {
    this.#settings = settings;
    this.#clientName = clientName;
    const { clientId = "", privateKey, algorithm = "RS256" } = settings;
    if (privateKey === undefined) return;
    this.addClientAuthentication = async (...request) => {
      const { createPrivateKeyJwtAuth } = await import("@modelcontextprotocol/client");
      await createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg: algorithm })(...request);
    };
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scope, privateKey } = this.#settings;
    return {
      client_name: this.#clientName,
      redirect_uris: [],
      grant_types: ["client_credentials"],
      token_endpoint_auth_method: privateKey === undefined ? "client_secret_basic" : "private_key_jwt",
      ...(scope === undefined ? {} : { scope }),
    };
  }

  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation {
    return configuredClient(this.#settings, context?.issuer ?? "");
  }

  tokens(): undefined {
    return undefined;
  }

  saveTokens(): void {}

  prepareTokenRequest(scope?: string): URLSearchParams {
    return new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) });
  }

  redirectToAuthorization(): void {
    throw new Error("client credentials do not redirect");
  }

  saveCodeVerifier(): void {}

  codeVerifier(): string {
    throw new Error("client credentials have no code");
  }
}
