// One server definition, one self-healing connection. Each time it connects, a new generation begins: late events of an
// old generation (a close, a failed request) never affect a newer one.

import { callTimeoutOf, connectTimeoutOf, type ServerDefinition } from "@trunkline/config";
import { abortable, abortError, isTrunklineError, signalOf, TrunklineError, toTrunklineError } from "@trunkline/core";
import type { SignInReport } from "../auth/sign-in-report.js";
import { runOutsideChannels, type SignIn } from "../channel/channel.js";
import type { Call } from "../channel/in-flight.js";
import type { Leaseholder } from "../channel/leaseholder.js";
import { LargeMessages } from "../results/large-messages.js";
import { StdioWire } from "../wire/stdio-wire.js";
import {
  isSessionExpired,
  neededScope,
  requestError,
  requireConnectable,
  sessionExpired,
  unusableError,
} from "./connection-errors.js";
import type { ConnectionOptions, ServerState } from "./connection-options.js";
import { exitData, exitText, lastLines, linesText } from "./crash-report.js";
import { connectGeneration, type Generation, launch, type Verdict } from "./generation.js";
import { ListPages, withItems } from "./list-pages.js";
import type { OutgoingRequest } from "./outgoing.js";
import { Restarts, retrying } from "./retry-policy.js";
import { Conversation, type RequestOptions } from "./server-conversation.js";
import { SigningIn } from "./signing-in.js";
import type { Subscription, SubscriptionFilter } from "./subscriptions.js";

/** A request, or a function that builds it once the server is connected and its era is known. */
export type RequestSource = OutgoingRequest | (() => OutgoingRequest);

export class Connection {
  readonly definition: ServerDefinition;
  readonly #options: ConnectionOptions;
  readonly #lifetime = new AbortController();
  readonly #verdict: Verdict = {};
  readonly #conversation: Conversation;
  readonly #signingIn: SigningIn;
  readonly #restarts = new Restarts();
  readonly #retiring = new Set<Promise<void>>();
  readonly #large: LargeMessages;
  /** Stands in for the holder of what the connection does by itself: a restart, a check of its session. */
  readonly #itself: Leaseholder;
  #generation: Generation | undefined;
  #attempt: Attempt | undefined;
  /** Whether the server was stopped until its next use. */
  #isResting = false;
  #stopping: Promise<unknown> | undefined;
  #state: ServerState;
  #error: TrunklineError | undefined;
  /** The roots have changed since it was last connected. */
  #hasOtherRoots = false;
  #connectedAtMs: number | undefined;
  #roundTripMs: number | undefined;
  #tookMs: number | undefined;
  /** The process of the last attempt, for a stdio server. */
  #process: StdioWire | undefined;
  #closing: Promise<void> | undefined;
  #checking: Promise<void> | undefined;

  constructor(definition: ServerDefinition, options: ConnectionOptions) {
    this.definition = definition;
    this.#options = options;
    const { asking, signingIn, logger, onSecrets, redact, holders, onRootsAsked } = options;
    this.#itself = {
      ...{ channel: undefined, noChannel: {}, waitMs: 0, maxQuestions: 0, roots: () => undefined },
      ...{ logLevel: undefined, ownLogLevel: undefined, logger, signIn: undefined, redact, onNotification: () => {} },
    };
    this.#conversation = new Conversation({
      definition,
      policy: asking.policy,
      logger,
      holders,
      onRootsAsked,
    });
    this.#signingIn = new SigningIn({
      server: definition.name,
      auth: { ...signingIn, logger, onSecrets },
      lifetime: this.#lifetime.signal,
      onFailure: (failure) => {
        // If the callback throws, the connection fails; after any other failure the sign-in is still pending.
        if (this.#state !== "connected")
          this.#enter(failure.code === "SERVER_UNAVAILABLE" ? "failed" : "needs-auth", failure);
      },
    });
    this.#large = new LargeMessages(definition.name);
    this.#error = unusableError(definition);
    if (definition.disabled) this.#state = "disabled";
    else if (!definition.trusted) this.#state = "untrusted";
    else this.#state = this.#error === undefined ? "pending" : "failed";
  }

  /** A server that rests is ready for calls, like a connected one. */
  get state(): ServerState {
    return this.#isResting ? "connected" : this.#state;
  }

  /** Whether the server was stopped until its next use. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** Whether it is being connected at this moment. */
  get isStarting(): boolean {
    return this.#attempt !== undefined;
  }

  /** Identifies the current generation; undefined while there is none. */
  get generation(): object | undefined {
    return this.#generation;
  }

  /** Whether requests wait for their answers. */
  get isBusy(): boolean {
    return this.isStarting || (this.#generation?.inFlight ?? 0) > 0;
  }

  /** Why the server is not connected. */
  get error(): TrunklineError | undefined {
    return this.#error;
  }

  /** When the current generation connected, in milliseconds since 1970. */
  get connectedAtMs(): number | undefined {
    return this.#connectedAtMs;
  }

  /** How long the last list request took. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  /** How long the last attempt to connect took, including listing. */
  get tookMs(): number | undefined {
    return this.#tookMs;
  }

  get revision(): string | undefined {
    return this.#generation?.revision;
  }

  /** The server's own name and version. */
  get serverInfo(): { name: string; version: string } | undefined {
    return this.#generation?.serverInfo;
  }

  /** The server's instructions to the model. */
  get instructions(): string | undefined {
    return this.#generation?.instructions;
  }

  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#generation?.capabilities ?? {};
  }

  get stderrTail(): readonly string[] {
    return this.#process?.stderrTail ?? [];
  }

  /** The process id of a stdio server. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The state of the sign-in, for a server that may need one. */
  get signIn(): SignInReport | undefined {
    return this.#signingIn.report;
  }

  /**
   * Connects, or joins the running attempt, which all callers share. The signal ends only this caller's wait, because
   * others may be waiting for the same attempt.
   */
  async connect(signal?: AbortSignal, holder = this.#itself): Promise<void> {
    // While it closes, it is still connected but has no generation.
    if (this.#state === "connected" && this.#generation !== undefined) return;
    this.#requireUsable();
    const attempt = this.#try({ ask: this.#signingIn.asksUnasked, signIn: holder.signIn }, holder);
    await this.#join(attempt.for(holder), signal);
  }

  /**
   * Connects, asking the user to sign in if the server needs it. Returns `completed` if the server is connected
   * afterwards, whether or not the user had to be asked. `signIn` is how the user is asked; by default as the holder's
   * hub does it.
   */
  async authenticate(
    signal: AbortSignal | undefined,
    signIn: SignIn | undefined,
    holder: Leaseholder,
  ): Promise<"completed" | "cancelled"> {
    const ask = signIn ?? holder.signIn;
    try {
      // Let a running attempt finish first: it may be one that does not ask.
      if (this.#attempt !== undefined) await this.#join(this.#attempt.done, signal).catch(() => {});
      signal?.throwIfAborted();
      this.#requireUsable();
      if (this.#state !== "connected") await this.#join(this.#try({ ask: true, signIn: ask }, holder).done, signal);
      if (this.#signingIn.isWanting) await this.#join(this.#signingIn.signIn(ask), signal);
      return "completed";
    } catch (error) {
      if (isTrunklineError(error, "AUTH_REQUIRED") && error.data?.signIn === "cancelled") return "cancelled";
      throw error;
    }
  }

  /** Returns the running attempt, or starts a new one. */
  #try(options: { ask: boolean; signIn: SignIn | undefined }, holder: Leaseholder): Attempt {
    this.#restarts.cancel();
    this.#attempt ??= new Attempt(
      holder,
      (onAsking) => runOutsideChannels(() => this.#connectSignedIn({ ...options, onAsking })),
      () => {
        this.#attempt = undefined;
      },
    );
    return this.#attempt;
  }

  /** Connects. If the server needs a sign-in, asks the user (outside the connect timeout) and tries again. */
  async #connectSignedIn({
    ask,
    signIn,
    onAsking,
  }: {
    ask: boolean;
    signIn: SignIn | undefined;
    onAsking: (reason: unknown) => void;
  }): Promise<void> {
    await retrying(
      "signIn",
      () => this.#connect(),
      async (error) => {
        onAsking(error);
        return ask && (await this.#signingIn.recover(error, signIn));
      },
    );
  }

  async #join(attempt: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const { name } = this.definition;
    if (signal === undefined) return await attempt;
    try {
      await abortable(signal, attempt);
    } catch (error) {
      if (signal.aborted) throw abortError(signal, `Connecting to "${name}"`);
      throw error;
    }
  }

  /**
   * Sends a request and returns the result as the server sent it. Progress restarts the timeout. If the session has
   * expired, reopens it once and repeats the request, which the server rejected without processing it.
   */
  async request(
    request: RequestSource,
    options: RequestOptions = {},
    holder = this.#itself,
  ): Promise<Record<string, unknown>> {
    return await retrying(
      "stepUp",
      () => this.#requestOnce(request, options, holder),
      (error) => this.#stepUp(error, options, holder),
    );
  }

  async #requestOnce(
    source: RequestSource,
    options: RequestOptions,
    holder: Leaseholder,
  ): Promise<Record<string, unknown>> {
    if (this.#state !== "connected") await this.#connectFor(holder, options);
    const make = typeof source === "function" ? source : () => source;
    const generation = this.#requireGeneration();
    try {
      return await this.#send(generation, make(), options, holder);
    } catch (error) {
      if (!isSessionExpired(error)) throw error;
      this.#options.logger.info("session expired, connecting again", { server: this.definition.name });
      this.#replace(generation);
      await this.#connectFor(holder, options);
    }
    const request = make();
    try {
      return await this.#send(this.#requireGeneration(), request, options, holder);
    } catch (error) {
      if (!isSessionExpired(error)) throw error;
      throw sessionExpired(this.#conversation.describe(request.method), error, { isAgain: true });
    }
  }

  /** Connects, and waits until the holder knows what it has connected to. */
  async #connectFor(holder: Leaseholder, options: RequestOptions): Promise<void> {
    const signal = signalOf(options);
    await this.connect(signal, holder);
    await holder.listed?.(signal);
  }

  /**
   * Follows `nextCursor` to the end of a list. An empty or repeated cursor ends the list with a warning. Can be called
   * in `onConnected`.
   */
  async listAll(
    method: string,
    key: string,
    { holder, ...options }: { signal?: AbortSignal; holder: Leaseholder },
  ): Promise<Record<string, unknown>[]> {
    const generation = this.#requireGeneration();
    const pages = new ListPages(key);
    for (let params: { cursor?: string } | undefined = {}; params !== undefined; ) {
      const startedMs = performance.now();
      const page = await this.#send(generation, { method, params }, options, holder);
      this.#roundTripMs = performance.now() - startedMs;
      params = pages.add(await withItems(page, key, pages));
    }
    if (pages.problem !== undefined) {
      this.#options.logger.warn(pages.problem, { server: this.definition.name, method });
    }
    return pages.items;
  }

  /** Sends a notification; it is lost if there is no connection. */
  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#generation?.session.notify(method, params);
  }

  /** Opens a stream on which a modern server reports changes, for the lifetime of the current generation. */
  async listen(filter: SubscriptionFilter, signal?: AbortSignal): Promise<Subscription> {
    const { session } = this.#requireGeneration();
    try {
      return await session.subscribe(filter, { timeoutMs: callTimeoutOf(this.definition), signal });
    } catch (error) {
      const what = this.#conversation.describe("subscriptions/listen");
      if (signal?.aborted) throw abortError(signal, what);
      throw requestError(error, { server: this.definition, what, exit: undefined, lines: () => [] });
    }
  }

  /** Tells a legacy server that its roots have changed. */
  async rootsChanged(): Promise<void> {
    // A server may ask for roots as soon as it is started, so those that change while it connects count, too.
    if (this.#state !== "connected") this.#hasOtherRoots = true;
    else if (this.era === "legacy") await this.notify("notifications/roots/list_changed");
  }

  get era(): "legacy" | "modern" | undefined {
    return this.#generation?.era;
  }

  /**
   * Stops the server until its next use; requests in flight end first. Nothing else changes: its state stays
   * `connected`, and its lists stay known.
   */
  async rest(): Promise<void> {
    const generation = this.#generation;
    if (generation === undefined || this.#state !== "connected") return;
    this.#isResting = true;
    this.#state = "pending";
    this.#generation = undefined;
    this.#process = undefined;
    this.#retire(generation);
    this.#stopping = Promise.all(this.#retiring);
    await this.#stopping;
  }

  /** Stops the server now, until its next use. Requests in flight fail. */
  async halt(): Promise<void> {
    const generation = this.#generation;
    await this.rest();
    if (generation === undefined || generation === this.#generation) return;
    // A process that hangs on a request would otherwise outlive it.
    this.#stopping = Promise.all([this.#stopping, generation.close()]);
    await this.#stopping;
  }

  /** Ends all requests of a holder that no longer uses the connection. */
  drop(holder: Leaseholder, reason: unknown): void {
    this.#conversation.drop(holder, reason);
  }

  /** Closes the connection and ends the server's process. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#restarts.cancel();
      this.#signingIn.stopWatching();
      this.#lifetime.abort(new TrunklineError("CLOSED", "The hub was closed."));
      const generation = this.#generation;
      this.#generation = undefined;
      await this.#attempt?.done.catch(() => {});
      await generation?.close();
      await Promise.all([...this.#retiring, this.#checking, this.#large.close()]);
      this.#isResting = false;
      if (this.#state === "connected") this.#enter("pending");
    })();
    return this.#closing;
  }

  /**
   * Asks the user to grant what a rejected request needs, and returns whether it was granted. If no one can be asked,
   * the next sign-in requests it.
   */
  async #stepUp(error: unknown, options: RequestOptions, holder: Leaseholder): Promise<boolean> {
    if (!(await this.#signingIn.mayStepUp(error, holder.signIn))) return false;
    await this.#join(
      runOutsideChannels(() => this.#signingIn.signIn(holder.signIn)),
      signalOf(options),
    );
    return true;
  }

  async #connect(): Promise<void> {
    const { onSecrets, onConnected, asking } = this.#options;
    const connectLimitMs = this.#options.connectLimitMs || Number.POSITIVE_INFINITY;
    this.#enter("pending");
    this.#hasOtherRoots = false;
    // A server may need what its last process still holds.
    await this.#stopping;
    const startedMs = performance.now();
    try {
      const { env, places } = this.#options;
      const launched = await launch(this.definition, { env, places, onSecrets, signal: this.#lifetime.signal });
      await connectGeneration(launched, {
        ...this.#options,
        abilities: asking.abilities,
        verdict: this.#verdict,
        large: this.#large,
        timeoutMs: Math.min(connectTimeoutOf(this.definition), connectLimitMs),
        signal: this.#lifetime.signal,
        authFor: (definition) => this.#signingIn.authFor(definition),
        onOpened: async (generation, signal) => {
          this.#generation = generation;
          await onConnected(signal);
        },
        onFailed: async () => {
          const generation = this.#generation;
          this.#generation = undefined;
          await generation?.close();
        },
        onClose: (closed) => this.#onClose(closed),
        onStreamLost: () => this.#checkSession(),
        onQuestion: (question, asked) => this.#conversation.answer(question, asked),
        onNotification: (method, params, call) => this.#onNotification(method, params, call),
        onWire: (wire) => {
          this.#process = wire instanceof StdioWire ? wire : undefined;
        },
      });
    } catch (error) {
      if (this.#lifetime.signal.aborted) throw this.#lifetime.signal.reason;
      const failure = toTrunklineError(error);
      this.#enter(failure.code === "AUTH_REQUIRED" ? "needs-auth" : "failed", failure);
      throw failure;
    }
    this.#tookMs = performance.now() - startedMs;
    this.#connectedAtMs = Date.now();
    this.#signingIn.connected();
    this.#enter("connected");
    if (this.#hasOtherRoots) {
      // If it is gone already, the next process asks again.
      this.rootsChanged().catch((error: unknown) => this.#options.logger.debug("cannot tell about roots", { error }));
    }
  }

  #onNotification(method: string, params: Readonly<Record<string, unknown>>, call: Call | undefined): void {
    for (const holder of this.#conversation.notice(method, params, call)) holder.onNotification(method, params);
  }

  /** Sends a request that changes nothing: if the session is gone, the request reopens it. */
  #checkSession(): void {
    if (this.#state !== "connected" || this.#checking !== undefined || this.era !== "legacy") return;
    this.#checking = runOutsideChannels(() => this.request({ method: "ping", params: {} }))
      .then(() => {})
      .catch((error: unknown) =>
        this.#options.logger.debug("the session does not answer", { server: this.definition.name, error }),
      )
      .finally(() => {
        this.#checking = undefined;
      });
  }

  async #send(
    generation: Generation,
    request: OutgoingRequest,
    options: RequestOptions,
    holder: Leaseholder,
  ): Promise<Record<string, unknown>> {
    const { onUsed } = this.#options;
    // Listing again is our own doing.
    const isUse = !request.method.endsWith("/list");
    generation.inFlight++;
    if (isUse) onUsed();
    try {
      return await this.#conversation.send(generation, request, options, holder);
    } catch (error) {
      if (this.#lifetime.signal.aborted && !options.signal?.aborted && !options.ending?.hasPassed)
        throw this.#lifetime.signal.reason;
      const what = this.#conversation.describe(request.method);
      if (generation.hasSession && isSessionExpired(error)) {
        generation.isExpired = true;
        throw sessionExpired(what, error, { isAgain: false });
      }
      const failure = requestError(error, {
        server: this.definition,
        what,
        exit: generation.exit,
        lines: () => lastLines(generation.stderrTail, holder.redact),
      });
      if (failure.code === "CONNECTION_FAILED" && generation === this.#generation) this.#lost(generation, failure);
      // Any token that could be refreshed has been by now, so the user has to sign in. A missing permission leaves the
      // rest usable.
      const isOut = failure.code === "AUTH_REQUIRED" && neededScope(failure) === undefined;
      if (isOut && generation === this.#generation && this.#state === "connected") {
        this.#generation = undefined;
        this.#enter("needs-auth", failure);
      }
      throw failure;
    } finally {
      generation.inFlight--;
      if (isUse) onUsed();
      if (generation !== this.#generation) this.#retire(generation);
    }
  }

  /** Gives this generation up; later callers find it already replaced. */
  #replace(generation: Generation): void {
    if (generation !== this.#generation) return;
    this.#generation = undefined;
    this.#enter("pending");
    this.#retire(generation);
  }

  /** Closes a replaced generation as soon as its remaining requests have ended. */
  #retire(generation: Generation): void {
    if (generation.inFlight > 0 || generation.closed) return;
    const closing = generation
      .close()
      .catch((error: unknown) => this.#options.logger.debug("closing an expired session", { error }));
    this.#retiring.add(closing);
    void closing.finally(() => this.#retiring.delete(closing));
  }

  #onClose(generation: Generation): void {
    if (generation !== this.#generation || this.#state !== "connected") return;
    const { exit } = generation;
    const { name } = this.definition;
    const how = exit === undefined ? "closed the connection" : `exited (${exitText(exit)})`;
    const lines = lastLines(generation.stderrTail, this.#options.redact);
    this.#lost(
      generation,
      new TrunklineError("SERVER_EXITED", `Server "${name}" ${how}${linesText(exit, lines)}`, {
        hint: "It is being started again.",
        ...exitData(exit, lines),
      }),
    );
  }

  /** Handles an unexpected loss of the connection: reports it and tries to reconnect. */
  #lost(generation: Generation, error: TrunklineError): void {
    if (this.#lifetime.signal.aborted) return;
    this.#restarts.crashed(Date.now() - (this.#connectedAtMs ?? 0));
    this.#generation = undefined;
    this.#enter("pending", error);
    this.#options.logger.warn("server lost", { server: this.definition.name, error });
    this.#retire(generation);
    this.#scheduleRestart();
  }

  #scheduleRestart(): void {
    const isScheduled = this.#restarts.schedule(() => {
      if (this.#state === "connected" || this.#lifetime.signal.aborted) return;
      this.connect().catch(() => {
        if (!this.#lifetime.signal.aborted && this.#state === "failed") this.#scheduleRestart();
      });
    });
    if (!isScheduled) this.#enter("failed", this.#error);
  }

  #requireGeneration(): Generation {
    if (this.#generation !== undefined) return this.#generation;
    this.#lifetime.signal.throwIfAborted();
    throw new TrunklineError("SERVER_UNAVAILABLE", `Server "${this.definition.name}" is not connected.`, {
      cause: this.#error,
    });
  }

  #requireUsable(): void {
    if (this.#lifetime.signal.aborted) throw new TrunklineError("CLOSED", "The hub is closed.");
    requireConnectable(this.definition.name, this.#state);
    if (this.definition.unusable !== undefined && isTrunklineError(this.#error)) throw this.#error;
  }

  #enter(state: ServerState, error?: TrunklineError): void {
    const isWaking = this.#isResting && state === "pending" && error === undefined;
    this.#isResting = isWaking;
    this.#state = state;
    this.#error = error;
    if (state !== "connected") this.#connectedAtMs = undefined;
    this.#signingIn.stopWatching();
    if (state === "needs-auth" && !this.#lifetime.signal.aborted) {
      this.#signingIn.watch(() => {
        // No one awaits this attempt; its outcome shows in the state.
        if (this.#state === "needs-auth" && !this.#lifetime.signal.aborted)
          this.#try({ ask: false, signIn: undefined }, this.#itself).done.catch(() => {});
      });
    }
    if (!isWaking) this.#options.onState();
  }
}

/** An attempt to connect, which all holders share. Only the one who began it waits while its user is asked to sign in. */
class Attempt {
  readonly #holder: Leaseholder;
  /** Settles when the attempt has succeeded or failed. */
  readonly done: Promise<void>;
  /** Rejects if the attempt cannot succeed without asking a user. */
  readonly #asking: Promise<never>;

  /** Starts the work. It calls `onAsking` with the reason before it asks a user. `onEnd` is called when it has settled. */
  constructor(holder: Leaseholder, work: (onAsking: (reason: unknown) => void) => Promise<void>, onEnd: () => void) {
    this.#holder = holder;
    let onAsking: (reason: unknown) => void = () => {};
    this.#asking = new Promise<never>((_, reject) => {
      onAsking = reject;
    });
    // Usually no one else waits.
    this.#asking.catch(() => {});
    this.done = work((reason) => onAsking(reason)).finally(onEnd);
  }

  /** What a holder waits for. */
  for(holder: Leaseholder): Promise<void> {
    return holder === this.#holder ? this.done : Promise.race([this.done, this.#asking]);
  }
}
