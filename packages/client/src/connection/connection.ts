// One server definition, one self-healing connection. Each time it connects, a new generation begins: late events of an
// old generation (a close, a failed request) never affect a newer one.
import { abortable, abortError, isTrunklineError, signalOf, TrunklineError, toTrunklineError } from "@trunkline/core";
import type { SignInReport } from "../auth/sign-in-report.js";
import { runOutsideChannels, type SignIn } from "../channel/channel.js";
import type { Call } from "../channel/in-flight.js";
import { callTimeoutOf, connectTimeoutOf, type ServerDefinition } from "../config/loaded-config.js";
import { LargeMessages, largeOf } from "../results/large-messages.js";
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
import { CUT, ListPages } from "./list-pages.js";
import type { OutgoingRequest } from "./outgoing.js";
import { Restarts } from "./restarts.js";
import { Conversation, type RequestOptions } from "./server-conversation.js";
import { SigningIn } from "./signing-in.js";
import type { Subscription, SubscriptionFilter } from "./subscriptions.js";

/** Maximum number of times to ask the user to sign in before giving up on a server that is never satisfied. */
const MAX_SIGN_INS = 3;

/** Maximum number of times to ask the user for more permissions for one request. */
const MAX_STEP_UPS = 2;

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
  #generation: Generation | undefined;
  #attempt: Promise<void> | undefined;
  #state: ServerState;
  #error: TrunklineError | undefined;
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
    const { asking, signingIn, logger, onSecrets } = options;
    this.#conversation = new Conversation({ ...asking, definition, logger });
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

  get state(): ServerState {
    return this.#state;
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
  async connect(signal?: AbortSignal): Promise<void> {
    if (this.#state === "connected") return;
    this.#requireUsable();
    await this.#join(this.#try({ ask: this.#signingIn.asksUnasked }), signal);
  }

  /**
   * Connects, asking the user to sign in if the server needs it. Returns `completed` if the server is connected
   * afterwards, whether or not the user had to be asked. `signIn` is how the caller's user is asked; by default as the
   * hub does it.
   */
  async authenticate(signal?: AbortSignal, signIn?: SignIn): Promise<"completed" | "cancelled"> {
    try {
      // Let a running attempt finish first: it may be one that does not ask.
      if (this.#attempt !== undefined) await this.#join(this.#attempt, signal).catch(() => {});
      signal?.throwIfAborted();
      this.#requireUsable();
      if (this.#state !== "connected") await this.#join(this.#try({ ask: true, signIn }), signal);
      if (this.#signingIn.isWanting) await this.#join(this.#signingIn.signIn(signIn), signal);
      return "completed";
    } catch (error) {
      if (isTrunklineError(error, "AUTH_REQUIRED") && error.data?.signIn === "cancelled") return "cancelled";
      throw error;
    }
  }

  /** Returns the running attempt, or starts a new one. */
  #try(options: { ask: boolean; signIn?: SignIn | undefined }): Promise<void> {
    this.#restarts.cancel();
    this.#attempt ??= runOutsideChannels(() => this.#connectSignedIn(options)).finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  /** Connects. If the server needs a sign-in, asks the user (outside the connect timeout) and tries again. */
  async #connectSignedIn({ ask, signIn }: { ask: boolean; signIn?: SignIn | undefined }): Promise<void> {
    for (let signIns = 0; ; signIns++) {
      try {
        return await this.#connect();
      } catch (error) {
        if (!ask || signIns === MAX_SIGN_INS || !(await this.#signingIn.recover(error, signIn))) throw error;
      }
    }
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
  async request(request: RequestSource, options: RequestOptions = {}): Promise<Record<string, unknown>> {
    for (let stepUps = 0; ; stepUps++) {
      try {
        return await this.#requestOnce(request, options);
      } catch (error) {
        if (stepUps === MAX_STEP_UPS || !(await this.#stepUp(error, options))) throw error;
      }
    }
  }

  async #requestOnce(source: RequestSource, options: RequestOptions): Promise<Record<string, unknown>> {
    if (this.#state !== "connected") await this.connect(signalOf(options));
    const make = typeof source === "function" ? source : () => source;
    const generation = this.#requireGeneration();
    try {
      return await this.#send(generation, make(), options);
    } catch (error) {
      if (!isSessionExpired(error)) throw error;
      this.#options.logger.info("session expired, connecting again", { server: this.definition.name });
      await this.#replace(generation, signalOf(options));
    }
    const request = make();
    try {
      return await this.#send(this.#requireGeneration(), request, options);
    } catch (error) {
      if (!isSessionExpired(error)) throw error;
      throw sessionExpired(this.#conversation.describe(request.method), error, { isAgain: true });
    }
  }

  /**
   * Follows `nextCursor` to the end of a list. An empty or repeated cursor ends the list with a warning. Can be called
   * in `onConnected`.
   */
  async listAll(
    method: string,
    key: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<Record<string, unknown>[]> {
    const generation = this.#requireGeneration();
    const pages = new ListPages(key);
    for (let params: { cursor?: string } | undefined = {}; params !== undefined; ) {
      const startedMs = performance.now();
      const page = await this.#send(generation, { method, params }, options);
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
    await this.connect(signal);
    const { session } = this.#requireGeneration();
    try {
      return await session.subscribe(filter, { timeoutMs: callTimeoutOf(this.definition), signal });
    } catch (error) {
      const what = this.#conversation.describe("subscriptions/listen");
      if (signal?.aborted) throw abortError(signal, what);
      throw requestError(error, { server: this.definition, what, exit: undefined, lines: () => [] });
    }
  }

  /** The minimum log level. A modern server gets it with each call. */
  get logLevel(): string | undefined {
    return this.#conversation.logLevel;
  }

  /** Sets the minimum log level. A legacy server also needs a request for that. */
  setLogLevel(level: string): void {
    this.#conversation.setLogLevel(level);
  }

  get era(): "legacy" | "modern" | undefined {
    return this.#generation?.era;
  }

  /** Closes the connection and ends the server's process. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#restarts.cancel();
      this.#signingIn.stopWatching();
      this.#lifetime.abort(new TrunklineError("CLOSED", "The hub was closed."));
      const generation = this.#generation;
      this.#generation = undefined;
      await this.#attempt?.catch(() => {});
      await generation?.close();
      await Promise.all([...this.#retiring, this.#checking, this.#large.close()]);
      if (this.#state === "connected") this.#enter("pending");
    })();
    return this.#closing;
  }

  /**
   * Asks the user to grant what a rejected request needs, and returns whether it was granted. If no one can be asked,
   * the next sign-in requests it.
   */
  async #stepUp(error: unknown, options: RequestOptions): Promise<boolean> {
    if (!(await this.#signingIn.mayStepUp(error))) return false;
    await this.#join(
      runOutsideChannels(() => this.#signingIn.signIn()),
      signalOf(options),
    );
    return true;
  }

  async #connect(): Promise<void> {
    const { onSecrets, onConnected, asking } = this.#options;
    const connectLimitMs = this.#options.connectLimitMs || Number.POSITIVE_INFINITY;
    this.#enter("pending");
    const launched = launch(this.definition, onSecrets);
    const startedMs = performance.now();
    try {
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
  }

  #onNotification(method: string, params: Readonly<Record<string, unknown>>, call: Call | undefined): void {
    this.#conversation.notice(method, params, call);
    // Progress already goes to the callers that asked for it.
    if (method !== "notifications/progress") this.#options.onNotification(method, params);
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
  ): Promise<Record<string, unknown>> {
    generation.inFlight++;
    try {
      return await this.#conversation.send(generation, request, options);
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
        lines: () => this.#lastLines(generation),
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
      if (generation !== this.#generation) this.#retire(generation);
    }
  }

  /** Opens a new generation in place of this one; later callers find it already replaced. */
  async #replace(generation: Generation, signal: AbortSignal | undefined): Promise<void> {
    if (generation === this.#generation) {
      this.#generation = undefined;
      this.#enter("pending");
      this.#retire(generation);
    }
    await this.connect(signal);
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
    const lines = this.#lastLines(generation);
    this.#lost(
      generation,
      new TrunklineError("SERVER_EXITED", `Server "${name}" ${how}${linesText(exit, lines)}`, {
        hint: "It is being started again.",
        ...exitData(exit, lines),
      }),
    );
  }

  #lastLines({ stderrTail }: Generation): readonly string[] {
    return lastLines(stderrTail, this.#options.redact);
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
    this.#state = state;
    this.#error = error;
    if (state !== "connected") this.#connectedAtMs = undefined;
    this.#signingIn.stopWatching();
    if (state === "needs-auth" && !this.#lifetime.signal.aborted) {
      this.#signingIn.watch(() => {
        // No one awaits this attempt; its outcome shows in the state.
        if (this.#state === "needs-auth" && !this.#lifetime.signal.aborted) this.#try({ ask: false }).catch(() => {});
      });
    }
    this.#options.onState();
  }
}

/** Builds the items of a large page, as far as there is room for them. */
async function withItems(
  page: Record<string, unknown>,
  key: string,
  { room }: ListPages,
): Promise<Record<string, unknown>> {
  const large = largeOf(page);
  if (large?.has(key) !== true) return page;
  const { items, isAll } = await large.items(key, room);
  return isAll ? { ...page, [key]: items } : { ...page, [key]: items, [CUT]: true };
}
