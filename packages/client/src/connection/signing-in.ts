// When a person is asked to sign in to a server, how often, and what it means where nobody does.
import { isTrunklineError, type TrunklineError, toTrunklineError } from "@trunkline/core";
import { ServerAuth, type ServerAuthOptions, usesSignIn } from "../auth/server-auth.js";
import { signInCancelled } from "../auth/sign-in-errors.js";
import type { SignInReport } from "../auth/sign-in-report.js";
import type { ServerDefinition } from "../config/loaded-config.js";
import { neededScope } from "./connection-errors.js";

/** What signing in needs of its connection. */
interface SigningInOptions {
  readonly server: string;
  readonly auth: ServerAuthOptions;
  /** Aborted when the connection is closed. */
  readonly lifetime: AbortSignal;
  /** Nobody has signed in: until somebody tries again, that is the state of a server that is not connected. */
  readonly onFailure: (failure: TrunklineError) => void;
}

/** The signing in of one connection. */
export class SigningIn {
  readonly #options: SigningInOptions;
  #auth: ServerAuth | undefined;
  #elsewhere: Disposable | undefined;
  #asksUnasked = true;

  constructor(options: SigningInOptions) {
    this.#options = options;
  }

  /** Where the sign-in stands, for a server that may want one. */
  get report(): SignInReport | undefined {
    return this.#auth?.report;
  }

  /** Whether there is a reason to sign in although the server may have let us connect. */
  get isWanting(): boolean {
    return this.#auth?.isWanting === true;
  }

  /** Whether a person may be asked by an attempt to connect that nobody made for that purpose. */
  get asksUnasked(): boolean {
    return this.#asksUnasked;
  }

  /** The server has been connected: from now on a person is asked only on request. */
  connected(): void {
    this.#asksUnasked = false;
  }

  /** What gives the requests of a server their token; undefined where they carry none of ours. */
  authFor(definition: ServerDefinition): ServerAuth | undefined {
    if (definition.type === "stdio" || !usesSignIn(definition) || !URL.canParse(definition.url)) return this.#auth;
    this.#auth ??= new ServerAuth(definition, this.#options.auth);
    return this.#auth;
  }

  /** Has a person sign in if an attempt to connect failed for want of it. False: asking would not help. */
  async recover(error: unknown): Promise<boolean> {
    if (this.#auth?.interactive !== true || !isTrunklineError(error, "AUTH_REQUIRED")) return false;
    await this.#auth.want(neededScope(error));
    await this.signIn();
    return true;
  }

  /** Has a person sign in. A no, or a failure, rejects. */
  async signIn(): Promise<void> {
    const { server, lifetime, onFailure } = this.#options;
    let failure: TrunklineError;
    this.#asksUnasked = false;
    try {
      if ((await this.#auth?.signIn(lifetime)) === "completed") return;
      failure = signInCancelled(server);
    } catch (error) {
      failure = toTrunklineError(error);
    }
    if (lifetime.aborted) throw lifetime.reason;
    onFailure(failure);
    throw failure;
  }

  /** Has the next sign-in ask for what a refused request lacked. Whether a person can be asked for it now. */
  async mayStepUp(error: unknown): Promise<boolean> {
    const scope = neededScope(error);
    const auth = this.#auth;
    if (scope === undefined || auth === undefined) return false;
    await auth.want(scope);
    return auth.interactive;
  }

  /** Tells when somebody has signed in in another process, until {@link stopWatching}. */
  watch(listener: () => void): void {
    this.#elsewhere = this.#auth?.onSignedInElsewhere(listener);
  }

  stopWatching(): void {
    this.#elsewhere?.[Symbol.dispose]();
    this.#elsewhere = undefined;
  }
}
