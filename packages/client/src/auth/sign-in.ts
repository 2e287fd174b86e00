// One interactive sign-in, from the metadata to the tokens. The SDK does the protocol; here is what it leaves to its user:
// the listener, the state, the person, and where things are kept.
import { randomBytes, timingSafeEqual } from "node:crypto";
import {
  auth,
  computeScopeUnion,
  discoverOAuthServerInfo,
  type FetchLike,
  isStrictScopeSuperset,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  OAuthError,
  type OAuthServerInfo,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import { abortable, isTrunklineError, messageOf, TrunklineError, withDeadline } from "@trunkline/core";
import type { AuthSettings } from "../config/types.js";
import { type CredentialKey, type Credentials, currentGrant, grantOf, withGrant } from "./credentials.js";
import { listenOnLoopback } from "./loopback.js";

/** What a person needs in order to sign in. */
export interface SignInRequest {
  readonly server: string;
  /** Where to sign in. Show its host: it is what the person trusts. */
  readonly url: string;
  /**
   * For a browser that cannot reach this machine: takes the address it was sent to at the end, as the person copied it.
   * Rejects with `INVALID_ARGUMENT` where that is not the address of this sign-in; another try is welcome.
   */
  readonly submit: (redirectUrl: string) => Promise<void>;
  /** Aborts when the sign-in has ended, so that nobody goes on waiting for an address to be pasted. */
  readonly signal: AbortSignal;
}

/**
 * How a person gets to see the address of a sign-in. `completed`: the person was sent there, and the browser will come
 * back, or has; `cancelled`: the person does not want to. To throw fails the connect.
 */
export type SignIn = (request: SignInRequest) => Promise<"completed" | "cancelled">;

/** What a sign-in needs. */
export interface SignInOptions {
  readonly server: string;
  readonly serverUrl: URL;
  readonly key: CredentialKey;
  readonly credentials: Credentials;
  readonly settings: AuthSettings | undefined;
  readonly clientName: string;
  /** A client-id metadata document of the host's. */
  readonly clientMetadataUrl: string | undefined;
  readonly challenge: { readonly resourceMetadataUrl?: URL | undefined; readonly scope?: string | undefined };
  readonly ask: SignIn;
  readonly fetch: FetchLike;
  readonly onSecrets: (values: readonly string[]) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How long a person may take. */
export const SIGN_IN_TIMEOUT_MS = 5 * 60_000;

/** Signs in and keeps what came of it. `cancelled`: the person, or the authorization server on their behalf, said no. */
export async function signIn(options: SignInOptions): Promise<"completed" | "cancelled"> {
  const { server, timeoutMs } = options;
  try {
    return await withDeadline({ what: `Signing in to "${server}"`, timeoutMs, signal: options.signal }, (signal) =>
      run({ ...options, signal }),
    );
  } catch (error) {
    if (!isTrunklineError(error, "TIMEOUT")) throw error;
    throw new TrunklineError("AUTH_REQUIRED", `Nobody signed in to "${server}" in time.`, {
      cause: error,
      hint: `Try again: trunkline auth login ${server}`,
      data: { cause: "unauthorized" },
    });
  }
}

async function run(options: SignInOptions): Promise<"completed" | "cancelled"> {
  const { serverUrl, settings, challenge, signal } = options;
  const fetchFn: FetchLike = (url, init) => options.fetch(url, { ...init, signal: init?.signal ?? signal });
  // Anew each time: a server may have moved to another authorization server.
  const found = await discoverOAuthServerInfo(serverUrl, {
    fetchFn,
    ...(challenge.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
  });
  const issuer = found.authorizationServerMetadata?.issuer ?? String(found.authorizationServerUrl);
  const record = await options.credentials.read(options.key);
  const registered = grantOf(record, issuer);
  requireWayToRegister(options, found, registered?.client !== undefined);
  const state = randomBytes(32).toString("base64url");

  let accept: (params: URLSearchParams) => void = () => {};
  const redirected = new Promise<URLSearchParams>((resolve) => {
    accept = resolve;
  });
  const onRedirect = (params: URLSearchParams) => {
    if (!isSame(params.get("state") ?? "", state) || !(params.has("code") || params.has("error"))) return false;
    options.onSecrets([params.get("code") ?? ""]);
    accept(params);
    return true;
  };
  await using loopback = await listenOnLoopback({
    preferred: settings?.redirectUri ?? registered?.redirectUri,
    fixed: settings?.redirectUri !== undefined,
    onRedirect,
  });
  const wanted = computeScopeUnion(
    settings?.scope ?? challenge.scope,
    record.wantedScope,
    // What is asked for in addition must not cost what was granted already.
    record.wantedScope === undefined ? undefined : currentGrant(record)?.tokens?.scope,
  );
  const provider = new SignInProvider(options, {
    redirectUri: loopback.redirectUri,
    state,
    scope: record.wantedScope,
    discovery: {
      ...found,
      ...(challenge.resourceMetadataUrl === undefined
        ? {}
        : { resourceMetadataUrl: challenge.resourceMetadataUrl.href }),
    },
  });
  const request = { serverUrl, fetchFn, ...(wanted === undefined ? {} : { scope: wanted }) };
  await auth(provider, { ...request, forceReauthorization: true });
  const url = provider.authorizationUrl;
  if (url === undefined) throw new TrunklineError("INTERNAL", "The sign-in gave no address to go to.");
  if (!/^https?:$/.test(url.protocol)) {
    throw new TrunklineError(
      "PROTOCOL",
      `The authorization server of "${options.server}" has no web address to sign in at.`,
    );
  }

  const params = await askPerson(options, { url: url.href, redirected, onRedirect });
  if (params === "cancelled") return "cancelled";
  const iss = params.get("iss") ?? undefined;
  const code = params.get("code");
  if (code === null) {
    const metadata = found.authorizationServerMetadata;
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    const refusal = params.get("error") ?? "";
    if (refusal === "access_denied") return "cancelled";
    throw new OAuthError(refusal, params.get("error_description") ?? refusal);
  }
  await auth(provider, { ...request, authorizationCode: code, ...(iss === undefined ? {} : { iss }) });
  return "completed";
}

/** Says what is missing where we are no client of the authorization server and cannot become one. */
function requireWayToRegister(options: SignInOptions, found: OAuthServerInfo, isRegistered: boolean): void {
  const { server, settings, clientMetadataUrl } = options;
  const { authorizationServerMetadata: metadata } = found;
  if (settings?.clientId !== undefined || isRegistered || metadata?.registration_endpoint !== undefined) return;
  // A server of the first revisions has no metadata, and registration at a fixed path.
  if (metadata === undefined && found.resourceMetadata === undefined) return;
  if (clientMetadataUrl !== undefined && metadata?.client_id_metadata_document_supported === true) return;
  throw new TrunklineError("AUTH_REQUIRED", `"${server}" lets only programs sign in that were registered by hand.`, {
    hint: 'Register one there, and put its "client_id", and "client_secret" if it has one, under "auth" in the entry.',
    data: { cause: "unauthorized" },
  });
}

/** Shows the address to the person, and waits for the browser, for a pasted address, or for a no. */
async function askPerson(
  { server, ask, signal }: SignInOptions,
  flow: { url: string; redirected: Promise<URLSearchParams>; onRedirect: (params: URLSearchParams) => boolean },
): Promise<URLSearchParams | "cancelled"> {
  const ended = new AbortController();
  const request: SignInRequest = {
    server,
    url: flow.url,
    signal: AbortSignal.any([ended.signal, signal]),
    async submit(redirectUrl) {
      const text = redirectUrl.trim();
      const params = URL.canParse(text) ? new URL(text).searchParams : new URLSearchParams();
      if (flow.onRedirect(params)) return;
      throw new TrunklineError("INVALID_ARGUMENT", "That is not the address this sign-in ends at.", {
        hint: "Copy the whole address from the browser's address bar; it contains code= and state=.",
      });
    },
  };
  const answer = (async () => await ask(request))().catch((error: unknown) => {
    throw new SignInCallbackError(error);
  });
  // Completed means that the person is on the way; the browser's coming back is what ends the wait.
  const refused = answer.then((said) => (said === "cancelled" ? "cancelled" : new Promise<never>(() => {})));
  try {
    return await abortable(signal, Promise.race([flow.redirected, refused]));
  } finally {
    ended.abort();
    // What the callback still says when the sign-in is over changes nothing.
    refused.catch(() => {});
  }
}

/** The host's own callback threw: it is the host that knows what that means. */
export class SignInCallbackError extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

interface Flow {
  redirectUri: string;
  state: string;
  /** What is asked for beyond what was asked for when we registered. */
  scope: string | undefined;
  discovery: OAuthDiscoveryState;
}

/** One sign-in as the SDK wants to see it. What lasts is in the credentials; the rest ends with it. */
class SignInProvider implements OAuthClientProvider {
  readonly redirectUrl: string;
  authorizationUrl: URL | undefined;
  /** Absent where the entry names the client: it must not be registered again elsewhere. */
  saveClientInformation?: (
    client: StoredOAuthClientInformation,
    context?: OAuthClientInformationContext,
  ) => Promise<void>;
  readonly clientMetadataUrl?: string;
  readonly #options: SignInOptions;
  readonly #flow: Flow;
  #discovery: OAuthDiscoveryState | undefined;
  #verifier = "";
  #registered: StoredOAuthClientInformation | undefined;

  constructor(options: SignInOptions, flow: Flow) {
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
      // Tokens belong to the registration they were given to: it stays with them until there are others.
      await credentials.update(key, (record) =>
        grantOf(record, issuer)?.tokens === undefined
          ? withGrant(record, issuer, { client, redirectUri: flow.redirectUri })
          : undefined,
      );
    };
  }

  get clientMetadata(): OAuthClientMetadata {
    const supported = this.#flow.discovery.authorizationServerMetadata?.token_endpoint_auth_methods_supported;
    // A program on somebody's machine keeps no secret, but not every server lets it say so.
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
    // A registration may be limited to the scopes it was made with.
    if (!isRegisteredFor(grant.client, this.#flow.scope)) return undefined;
    // Many servers compare the address letter by letter, port included.
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
    // A server that grants what was asked for need not repeat it.
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
    // Kept longer, it would hide that the server has moved to another authorization server.
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
    // That a code was refused says nothing about the tokens of an earlier sign-in.
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

/** The client that an entry names, as one of the issuer it is meant for. */
export function configuredClient(settings: AuthSettings, issuer: string): StoredOAuthClientInformation {
  const { clientId = "", clientSecret } = settings;
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    issuer: settings.issuer ?? issuer,
  };
}

/** Everything in tokens that must not be shown. */
export function secretsOf(tokens: StoredOAuthTokens): string[] {
  return [tokens.access_token, tokens.refresh_token, tokens.id_token].filter((value) => value !== undefined);
}

/** From when to when an access token that has just come is good. */
export function lifeOf(tokens: StoredOAuthTokens): { savedAtMs: number; expiresAtMs: number | undefined } {
  const savedAtMs = Date.now();
  const { expires_in: seconds } = tokens;
  return { savedAtMs, expiresAtMs: seconds === undefined ? undefined : savedAtMs + seconds * 1000 };
}

function isRegisteredFor(client: StoredOAuthClientInformation, scope: string | undefined): boolean {
  const registered = "scope" in client ? client.scope : undefined;
  return typeof registered !== "string" || !isStrictScopeSuperset(scope, registered);
}

/** A registration may be for a time only. */
function isSecretOver(client: StoredOAuthClientInformation): boolean {
  const endSeconds = "client_secret_expires_at" in client ? client.client_secret_expires_at : undefined;
  return typeof endSeconds === "number" && endSeconds > 0 && endSeconds * 1000 <= Date.now();
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
