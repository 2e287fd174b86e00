// When and how often the user is asked to sign in to a server, and what happens if they don't.

import { isRemote, type ServerDefinition } from "@trunkline/config";
import { isTrunklineError, type TrunklineError, toTrunklineError } from "@trunkline/core";
import { ServerAuth, type ServerAuthOptions, usesSignIn } from "../auth/server-auth.js";
import { signInCancelled } from "../auth/sign-in-errors.js";
import type { SignInReport } from "../auth/sign-in-report.js";
import type { SignIn } from "../channel/channel.js";
import { neededScope } from "./connection-errors.js";

interface SigningInOptions {
  readonly server: string;
  readonly auth: ServerAuthOptions;
  /** Aborts when the connection is closed. */
  readonly lifetime: AbortSignal;
  /** Called if no one signed in. The failure is the server's state until the next attempt. */
  readonly onFailure: (failure: TrunklineError) => void;
}

export class SigningIn {
  readonly #options: SigningInOptions;
  #auth: ServerAuth | undefined;
  #elsewhere: Disposable | undefined;
  #asksUnasked = true;

  constructor(options: SigningInOptions) {
    this.#options = options;
  }

  /** The state of the sign-in, for a server that may need one. */
  get report(): SignInReport | undefined {
    return this.#auth?.report;
  }

  /** Whether there is a reason to sign in even if the server let us connect. */
  get isWanting(): boolean {
    return this.#auth?.isWanting === true;
  }

  /** Whether an ordinary attempt to connect may ask the user. */
  get asksUnasked(): boolean {
    return this.#asksUnasked;
  }

  /** Records that the server has connected: from now on the user is asked only on request. */
  connected(): void {
    this.#asksUnasked = false;
  }

  /** Provides the token for a server's requests; undefined if they do not use one of ours. */
  authFor(definition: ServerDefinition): ServerAuth | undefined {
    if (!isRemote(definition) || !usesSignIn(definition) || !URL.canParse(definition.url)) return this.#auth;
    this.#auth ??= new ServerAuth(definition, this.#options.auth);
    return this.#auth;
  }

  /** Asks the user to sign in if a connection failed for lack of a sign-in. Returns false if asking would not help. */
  async recover(error: unknown, ask: SignIn | undefined): Promise<boolean> {
    if (this.#auth?.isInteractive(ask) !== true || !isTrunklineError(error, "AUTH_REQUIRED")) return false;
    await this.#auth.want(neededScope(error));
    await this.signIn(ask);
    return true;
  }

  /** Asks the user to sign in, in the caller's way. Rejects if they decline or the sign-in fails. */
  async signIn(ask: SignIn | undefined): Promise<void> {
    const { server, lifetime, onFailure } = this.#options;
    let failure: TrunklineError;
    this.#asksUnasked = false;
    try {
      if ((await this.#auth?.signIn(lifetime, ask)) === "completed") return;
      failure = signInCancelled(server);
    } catch (error) {
      failure = toTrunklineError(error);
    }
    if (lifetime.aborted) throw lifetime.reason;
    onFailure(failure);
    throw failure;
  }

  /** Adds the scope that a rejected request lacked to the next sign-in. Returns whether the user can be asked now. */
  async mayStepUp(error: unknown, ask: SignIn | undefined): Promise<boolean> {
    const scope = neededScope(error);
    const auth = this.#auth;
    if (scope === undefined || auth === undefined) return false;
    await auth.want(scope);
    return auth.isInteractive(ask);
  }

  /** Calls the listener when another process has signed in, until {@link stopWatching}. */
  watch(listener: () => void): void {
    this.#elsewhere = this.#auth?.onSignedInElsewhere(listener);
  }

  stopWatching(): void {
    this.#elsewhere?.[Symbol.dispose]();
    this.#elsewhere = undefined;
  }
}
