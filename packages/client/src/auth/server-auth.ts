// The sign-in of one server, as its transports see it: a token for each request, and something to do when the server
// does not take it. Renewing happens under the lock of the credentials, after another look at them: of several calls and
// several processes that find the token old, one renews and the others use what it got.
import {
  type AuthProvider,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  resourceUrlFromServerUrl,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Logger } from "@trunkline/core";
import type { HttpServer } from "../config/loaded-config.js";
import {
  type CredentialKey,
  type CredentialRecord,
  type Credentials,
  currentGrant,
  type Grant,
} from "./credentials.js";
import { MachineProvider } from "./machine-provider.js";
import { type SignIn, signIn } from "./sign-in.js";
import { signInError, signInNeeded } from "./sign-in-errors.js";
import { reportOf, type SignInReport } from "./sign-in-report.js";
import { isEnding, isOver, secretsOf } from "./token-life.js";
import { refreshRecord, requestGrant, type TokenRequest } from "./token-requests.js";

/** What signing in needs from the hub. */
export interface AuthOptions {
  readonly credentials: Credentials;
  /** How a person is asked. Absent: nobody is there. */
  readonly signIn?: SignIn | undefined;
  /** How long a person may take. */
  readonly signInTimeoutMs: number;
  /** What we call ourselves when we register. */
  readonly clientName: string;
  /** The address of a client-id metadata document that stands for us. */
  readonly clientMetadataUrl?: string | undefined;
}

/** What else the sign-in of a server needs. */
export interface ServerAuthOptions extends AuthOptions {
  readonly logger: Logger;
  /** Values that must not be shown. */
  readonly onSecrets: (values: readonly string[]) => void;
}

/** Whether a server's requests carry a token of ours: not where its entry gives one of its own. */
export function usesSignIn(definition: HttpServer): boolean {
  return !Object.keys(definition.headers).some((name) => name.toLowerCase() === "authorization");
}

/** What the credentials of a server are kept under. */
export function credentialKeyOf({ url, auth: settings }: HttpServer): CredentialKey {
  return { resource: resourceUrlFromServerUrl(url).href, clientId: settings?.clientId };
}

/** The sign-in of one server. */
export class ServerAuth implements AuthProvider {
  readonly #definition: HttpServer;
  readonly #options: ServerAuthOptions;
  readonly #serverUrl: URL;
  readonly #key: CredentialKey;
  readonly #machine: MachineProvider | undefined;
  /** Which token a refused request had carried. */
  readonly #sent = new WeakMap<Response, string>();
  #record: CredentialRecord | undefined;
  #machineGrant: Grant | undefined;
  #challenge: { resourceMetadataUrl?: URL; scope?: string } = {};
  /** The server wanted a token, and there was none that it would take. */
  #isRefused = false;
  #renewing: Promise<void> | undefined;
  #signingIn: Promise<"completed" | "cancelled"> | undefined;

  constructor(definition: HttpServer, options: ServerAuthOptions) {
    this.#definition = definition;
    this.#options = options;
    this.#serverUrl = new URL(definition.url);
    this.#key = credentialKeyOf(definition);
    const { auth: settings } = definition;
    if (settings?.grant === "client_credentials") this.#machine = new MachineProvider(settings, options.clientName);
  }

  /** Whether somebody can be asked to sign in. */
  get interactive(): boolean {
    return this.#machine === undefined && this.#options.signIn !== undefined;
  }

  /** Whether there is a reason to sign in although the server may have let us connect. */
  get isWanting(): boolean {
    return this.#isRefused || this.#record?.wantedScope !== undefined;
  }

  /** Where things stand. */
  get report(): SignInReport {
    const kind = this.#machine === undefined ? "person" : "client-credentials";
    return reportOf(kind, this.#grant, this.#record?.issuer);
  }

  /** The token for the next request, renewed where its end is near. */
  async token(): Promise<string | undefined> {
    if (this.#machine === undefined && this.#record === undefined) await this.#load();
    const grant = this.#grant;
    if (grant?.tokens !== undefined && isEnding(grant) && this.#isRenewable(grant)) {
      try {
        await this.#renew(grant.tokens.access_token);
      } catch (error) {
        if (isOver(grant)) throw signInError(error, this.#definition.name);
        // It is good for a little while yet, and the next request tries again.
        this.#options.logger.warn("token not renewed yet", { server: this.#definition.name, error });
      }
    }
    return this.#grant?.tokens?.access_token;
  }

  /** The server did not take a request. Resolves where it is worth sending it once more. */
  async onUnauthorized({ response }: { response: Response }): Promise<void> {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    this.#challenge = {
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      ...(scope === undefined ? {} : { scope }),
    };
    const sent = this.#sent.get(response);
    const current = this.#grant?.tokens?.access_token;
    // Several requests were under way with the old token, and the first of them has had it renewed.
    if (current !== undefined && sent !== undefined && current !== sent) return;
    try {
      await this.#renew(sent);
    } catch (error) {
      throw signInError(error, this.#definition.name);
    }
    const renewed = this.#grant?.tokens?.access_token;
    this.#isRefused = renewed === undefined || renewed === sent;
    if (this.#isRefused) throw new UnauthorizedError();
  }

  /** A fetch that remembers which token a refused request carried. */
  watch(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init);
      if (response.status !== 401) return response;
      const token = /^Bearer (.+)$/.exec(new Headers(init?.headers).get("authorization") ?? "")?.[1];
      if (token !== undefined) this.#sent.set(response, token);
      return response;
    };
  }

  /** Has a person sign in. However many ask for it, there is one sign-in at a time. */
  async signIn(signal: AbortSignal): Promise<"completed" | "cancelled"> {
    const { name } = this.#definition;
    if (this.#machine !== undefined || this.#options.signIn === undefined) throw signInNeeded(name);
    this.#signingIn ??= signIn({
      ...this.#options,
      server: name,
      serverUrl: this.#serverUrl,
      key: this.#key,
      settings: this.#definition.auth,
      clientMetadataUrl: this.#options.clientMetadataUrl,
      challenge: this.#challenge,
      ask: this.#options.signIn,
      fetch: this.#fetch,
      timeoutMs: this.#options.signInTimeoutMs,
      signal,
    }).finally(() => {
      this.#signingIn = undefined;
    });
    try {
      const outcome = await this.#signingIn;
      if (outcome === "completed") {
        await this.#load();
        this.#isRefused = false;
      }
      return outcome;
    } catch (error) {
      throw signInError(error, name);
    }
  }

  /** Tells when somebody has signed in in another process. */
  onSignedInElsewhere(listener: () => void): Disposable | undefined {
    const { credentials, logger } = this.#options;
    if (this.#machine !== undefined) return undefined;
    const look = async () => {
      const token = currentGrant(await credentials.read(this.#key))?.tokens?.access_token;
      if (token !== undefined && token !== this.#grant?.tokens?.access_token) listener();
    };
    const onChange = () =>
      void look().catch((error: unknown) =>
        logger.debug("credentials not read", { server: this.#definition.name, error }),
      );
    const watching = credentials.watch?.(this.#key, onChange);
    // It may have happened before the watch began.
    if (watching !== undefined) onChange();
    return watching;
  }

  /** The tokens do not suffice: the next sign-in, whoever starts it, asks for this as well. */
  async want(scope: string | undefined): Promise<void> {
    if (this.#machine !== undefined || scope === undefined) return;
    this.#record = await this.#options.credentials.update(this.#key, (record) => ({
      ...record,
      wantedScope: computeScopeUnion(record.wantedScope, scope),
    }));
  }

  get #grant(): Grant | undefined {
    if (this.#machine !== undefined) return this.#machineGrant;
    return this.#record === undefined ? undefined : currentGrant(this.#record);
  }

  #isRenewable(grant: Grant): boolean {
    return this.#machine !== undefined || grant.tokens?.refresh_token !== undefined;
  }

  async #load(): Promise<void> {
    this.#take(await this.#options.credentials.read(this.#key));
  }

  #take(record: CredentialRecord): void {
    this.#record = record;
    const { tokens, client } = currentGrant(record) ?? {};
    this.#options.onSecrets([...(tokens === undefined ? [] : secretsOf(tokens)), client?.client_secret ?? ""]);
  }

  /** Gets another token in place of `stale`, or leaves things as they are where there is no way to. */
  async #renew(stale: string | undefined): Promise<void> {
    this.#renewing ??= this.#renewOnce(stale).finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
  }

  async #renewOnce(stale: string | undefined): Promise<void> {
    if (this.#machine === undefined) await this.#refresh(stale);
    else this.#machineGrant = await requestGrant(this.#machine, this.#tokenRequest);
  }

  async #refresh(stale: string | undefined): Promise<void> {
    await this.#load();
    const isDone = (grant: Grant | undefined) =>
      grant?.tokens?.refresh_token === undefined || (grant.tokens.access_token !== stale && !isEnding(grant));
    // Without a refresh token there is nothing to do, and another process may have been here first.
    if (isDone(this.#grant)) return;
    const record = await this.#options.credentials.update(this.#key, async (before) =>
      isDone(currentGrant(before)) ? undefined : await refreshRecord(before, this.#tokenRequest),
    );
    this.#take(record);
  }

  /** How tokens are asked for at the moment. */
  get #tokenRequest(): TokenRequest {
    const { logger, onSecrets } = this.#options;
    return { definition: this.#definition, challenge: this.#challenge, fetch: this.#fetch, logger, onSecrets };
  }

  /** The entry's own headers go to the server they are for, and never to an authorization server elsewhere. */
  readonly #fetch: FetchLike = (url, init) => {
    if (new URL(url).origin !== this.#serverUrl.origin) return fetch(url, init);
    const headers = new Headers(this.#definition.headers);
    for (const [name, value] of new Headers(init?.headers)) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
}
