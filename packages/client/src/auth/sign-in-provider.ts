// A sign-in as the SDK's protocol code sees it: who we are, what we have, and where to store the results.
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { AuthSettings } from "@trunkline/config";
import { type CredentialKey, type Credentials, grantOf, withGrant } from "./credentials.js";
import { configuredClient, isRegisteredFor, isSecretOver } from "./registration.js";
import { lifeOf, secretsOf } from "./token-life.js";

export interface SignInProviderOptions {
  readonly key: CredentialKey;
  readonly credentials: Credentials;
  readonly settings: AuthSettings | undefined;
  readonly clientName: string;
  /** The host's client-id metadata document. */
  readonly clientMetadataUrl: string | undefined;
  readonly challenge: { readonly resourceMetadataUrl?: URL; readonly scope?: string };
  readonly onSecrets: (values: readonly string[]) => void;
}

/** The transient part of one sign-in. */
interface SignInFlow {
  redirectUri: string;
  state: string;
  /** Scope requested beyond that of our registration. */
  scope: string | undefined;
  discovery: OAuthDiscoveryState;
}

/**
 * Implements the SDK's OAuth provider for one sign-in. Persistent data lives in the credentials; everything else is
 * discarded when the sign-in ends.
 */
export class SignInProvider implements OAuthClientProvider {
  readonly redirectUrl: string;
  authorizationUrl: URL | undefined;
  /** Absent if the entry names the client, which must not be registered again. */
  saveClientInformation?: (
    client: StoredOAuthClientInformation,
    context?: OAuthClientInformationContext,
  ) => Promise<void>;
  readonly clientMetadataUrl?: string;
  readonly #options: SignInProviderOptions;
  readonly #flow: SignInFlow;
  #discovery: OAuthDiscoveryState | undefined;
  #verifier = "";
  #registered: StoredOAuthClientInformation | undefined;

  constructor(options: SignInProviderOptions, flow: SignInFlow) {
    this.#options = options;
    this.#flow = flow;
    this.#discovery = flow.discovery;
    this.redirectUrl = flow.redirectUri;
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
    if (options.settings?.clientId !== undefined) return;
    this.saveClientInformation = async (client, context) => {
      const { credentials, key, onSecrets } = options;
      onSecrets([client.client_secret ?? ""]);
      this.#registered = client;
      const issuer = this.#issuer(context);
      // Tokens belong to the registration they were issued to, so it stays with them until there are new ones.
      await credentials.update(key, (record) =>
        grantOf(record, issuer)?.tokens === undefined
          ? withGrant(record, issuer, { client, redirectUri: flow.redirectUri })
          : undefined,
      );
    };
  }

  get clientMetadata(): OAuthClientMetadata {
    const supported = this.#flow.discovery.authorizationServerMetadata?.token_endpoint_auth_methods_supported;
    // A program on a user's machine cannot keep a secret, but not every server supports clients without one.
    const method = supported === undefined || supported.includes("none") ? "none" : supported[0];
    return {
      client_name: this.#options.clientName,
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
      ...(this.#options.settings?.scope === undefined ? {} : { scope: this.#options.settings.scope }),
    };
  }

  state(): string {
    return this.#flow.state;
  }

  async clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { settings, credentials, key } = this.#options;
    const issuer = this.#issuer(context);
    if (settings?.clientId !== undefined) return configuredClient(settings, issuer);
    if (this.#registered !== undefined) return this.#registered;
    const grant = grantOf(await credentials.read(key), issuer);
    if (grant?.client === undefined || isSecretOver(grant.client)) return undefined;
    // A registration may be limited to the scopes it was created with.
    if (!isRegisteredFor(grant.client, this.#flow.scope)) return undefined;
    // Many servers compare the URL character by character, including the port.
    return grant.redirectUri === this.redirectUrl || grant.client.client_id === this.clientMetadataUrl
      ? grant.client
      : undefined;
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const { credentials, key } = this.#options;
    return grantOf(await credentials.read(key), this.#issuer(context))?.tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    const { credentials, key, challenge, onSecrets } = this.#options;
    onSecrets(secretsOf(tokens));
    const issuer = this.#issuer(context);
    // A server that grants the requested scope does not have to repeat it.
    const scope = tokens.scope ?? this.authorizationUrl?.searchParams.get("scope") ?? undefined;
    await credentials.update(key, (record) => ({
      ...withGrant(record, issuer, {
        ...lifeOf(tokens),
        ...(this.#registered === undefined ? {} : { client: this.#registered, redirectUri: this.redirectUrl }),
        tokens: scope === undefined ? tokens : { ...tokens, scope },
      }),
      issuer,
      wantedScope: undefined,
      resourceMetadataUrl: challenge.resourceMetadataUrl?.href,
    }));
    // Keeping it longer would hide a move to another authorization server.
    this.#discovery = undefined;
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#options.onSecrets([verifier]);
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    // A rejected code says nothing about the tokens of an earlier sign-in.
    if (scope !== "client" && scope !== "all") return;
    const { credentials, key } = this.#options;
    if (this.#registered !== undefined) {
      this.#registered = undefined;
      return;
    }
    await credentials.update(key, (record) =>
      withGrant(record, this.#issuer(), { tokens: undefined, client: undefined, redirectUri: undefined }),
    );
  }

  #issuer(context?: OAuthClientInformationContext): string {
    const { authorizationServerMetadata, authorizationServerUrl } = this.#flow.discovery;
    return context?.issuer ?? authorizationServerMetadata?.issuer ?? String(authorizationServerUrl);
  }
}
