// One server's sign-in as its transports see it: provides a token for each request, and handles rejected tokens. Tokens
// are refreshed under the credentials lock, after re-reading them: if several calls and processes find an old token,
// one refreshes it and the others use the result.

import type { HttpServer } from "@trunkline/config";
import type { Logger } from "@trunkline/core";
import type { ResolveHost } from "@trunkline/core/network";
import type { SignIn } from "../channel/channel.js";
import { readChallenge } from "./challenge.js";
import {
  type CredentialKey,
  type CredentialRecord,
  type Credentials,
  currentGrant,
  type Grant,
} from "./credentials.js";
import { MachineProvider } from "./machine-provider.js";
import { joinScopes } from "./scopes.js";
import { signIn } from "./sign-in.js";
import { signInError, signInNeeded } from "./sign-in-errors.js";
import { SignInGuard } from "./sign-in-guard.js";
import { reportOf, type SignInReport } from "./sign-in-report.js";
import { isEnding, isOver, secretsOf } from "./token-life.js";
import { refreshRecord, requestGrant, type TokenRequest } from "./token-requests.js";

export interface AuthOptions {
  readonly credentials: Credentials;
  /** How long the user may take. */
  readonly signInTimeoutMs: number;
  /** The client name to register with. */
  readonly clientName: string;
  /** The URL of our client-id metadata document. */
  readonly clientMetadataUrl?: string;
  /** Default: the system resolver. */
  readonly resolveHost?: ResolveHost;
}

export interface ServerAuthOptions extends AuthOptions {
  readonly logger: Logger;
  /** Receives values that must not be shown. */
  readonly onSecrets: (values: readonly string[]) => void;
}

/** Whether the server's requests carry our token. They do not if its entry has one. */
export function usesSignIn(definition: HttpServer): boolean {
  return !Object.keys(definition.headers).some((name) => name.toLowerCase() === "authorization");
}

/** Returns the key under which a server's credentials are stored. */
export function credentialKeyOf({ url, auth: settings }: HttpServer): CredentialKey {
  const resource = new URL(url);
  resource.hash = "";
  return { resource: resource.href, clientId: settings?.clientId };
}

export class ServerAuth {
  readonly #definition: HttpServer;
  readonly #options: ServerAuthOptions;
  readonly #guard: SignInGuard;
  readonly #key: CredentialKey;
  readonly #machine: MachineProvider | undefined;
  #record: CredentialRecord | undefined;
  #machineGrant: Grant | undefined;
  #challenge: { resourceMetadataUrl?: URL; scope?: string } = {};
  /** Set if the server wants a token but accepted none of ours. */
  #isRefused = false;
  #renewing: Promise<void> | undefined;
  #signingIn: Promise<"completed" | "cancelled"> | undefined;

  constructor(definition: HttpServer, options: ServerAuthOptions) {
    this.#definition = definition;
    this.#options = options;
    this.#guard = new SignInGuard(definition, options.resolveHost);
    this.#key = credentialKeyOf(definition);
    const { auth: settings } = definition;
    if (settings?.grant === "client_credentials") this.#machine = new MachineProvider(settings, options.clientName);
  }

  /** Whether a user can be asked to sign in, in this way. */
  isInteractive(ask: SignIn | undefined): boolean {
    return this.#machine === undefined && ask !== undefined;
  }

  /** Whether there is a reason to sign in even if the server let us connect. */
  get isWanting(): boolean {
    return this.#isRefused || this.#record?.wantedScope !== undefined;
  }

  get report(): SignInReport {
    const kind = this.#machine === undefined ? "person" : "client-credentials";
    return reportOf(kind, this.#grant, this.#record?.issuer);
  }

  /** Returns the token for the next request. Takes a promise only if it has to be read or refreshed first. */
  token(): string | undefined | Promise<string | undefined> {
    const isRead = this.#machine !== undefined || this.#record !== undefined;
    return isRead && this.#endingToken === undefined ? this.#grant?.tokens?.access_token : this.#freshToken();
  }

  /** Reads the token, and refreshes it if it is about to expire. */
  async #freshToken(): Promise<string | undefined> {
    if (this.#machine === undefined && this.#record === undefined) await this.#load();
    const grant = this.#grant;
    const ending = this.#endingToken;
    if (ending !== undefined) {
      try {
        await this.#renew(ending);
      } catch (error) {
        if (grant !== undefined && isOver(grant)) throw signInError(error, this.#definition.name);
        // The token is still valid for a while, and the next request will try again.
        this.#options.logger.warn("token not refreshed yet", { server: this.#definition.name, error });
      }
    }
    return this.#grant?.tokens?.access_token;
  }

  /** Called when the server refuses a request with this token. Returns whether the request is worth repeating. */
  async onRefused({
    challenge,
    token,
  }: {
    challenge: string | undefined;
    token: string | undefined;
  }): Promise<boolean> {
    const { error: _, ...wanted } = readChallenge(challenge);
    this.#challenge = wanted;
    const current = this.#grant?.tokens?.access_token;
    // Another request with the same old token has already refreshed it.
    if (current !== undefined && token !== undefined && current !== token) return true;
    try {
      await this.#renew(token);
    } catch (error) {
      throw signInError(error, this.#definition.name);
    }
    const renewed = this.#grant?.tokens?.access_token;
    this.#isRefused = renewed === undefined || renewed === token;
    return !this.#isRefused;
  }

  /** Asks the user to sign in. Concurrent requests share one sign-in. */
  async signIn(signal: AbortSignal, ask: SignIn | undefined): Promise<"completed" | "cancelled"> {
    const { name } = this.#definition;
    if (this.#machine !== undefined || ask === undefined) throw signInNeeded(name);
    this.#signingIn ??= signIn({
      ...this.#options,
      server: name,
      definition: this.#definition,
      guard: this.#guard,
      key: this.#key,
      settings: this.#definition.auth,
      clientMetadataUrl: this.#options.clientMetadataUrl,
      challenge: this.#challenge,
      ask,
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

  /** Calls the listener when another process has signed in. */
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
    // The sign-in may have happened before the watch started.
    if (watching !== undefined) onChange();
    return watching;
  }

  /** Records that the tokens lack a scope: the next sign-in, from any process, requests it too. */
  async want(scope: string | undefined): Promise<void> {
    if (this.#machine !== undefined || scope === undefined) return;
    this.#record = await this.#options.credentials.update(this.#key, (record) => ({
      ...record,
      wantedScope: joinScopes(record.wantedScope, scope),
    }));
  }

  get #grant(): Grant | undefined {
    if (this.#machine !== undefined) return this.#machineGrant;
    return this.#record === undefined ? undefined : currentGrant(this.#record);
  }

  /** The token that should be refreshed before its next use, if it can be. */
  get #endingToken(): string | undefined {
    const grant = this.#grant;
    if (grant?.tokens === undefined || !isEnding(grant)) return undefined;
    const isRenewable = this.#machine !== undefined || grant.tokens.refresh_token !== undefined;
    return isRenewable ? grant.tokens.access_token : undefined;
  }

  async #load(): Promise<void> {
    this.#take(await this.#options.credentials.read(this.#key));
  }

  #take(record: CredentialRecord): void {
    this.#record = record;
    const { tokens, client } = currentGrant(record) ?? {};
    this.#options.onSecrets([...(tokens === undefined ? [] : secretsOf(tokens)), client?.client_secret ?? ""]);
  }

  /** Replaces the `stale` token, or does nothing if that is impossible. */
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
    // Nothing to do without a refresh token, or if another process was faster.
    if (isDone(this.#grant)) return;
    const record = await this.#options.credentials.update(this.#key, async (before) =>
      isDone(currentGrant(before)) ? undefined : await refreshRecord(before, this.#tokenRequest),
    );
    this.#take(record);
  }

  get #tokenRequest(): TokenRequest {
    const { logger, onSecrets } = this.#options;
    return { definition: this.#definition, challenge: this.#challenge, guard: this.#guard, logger, onSecrets };
  }
}
