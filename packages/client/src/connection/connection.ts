// One server definition, one connection that heals itself. Each time it connects is a generation: what an old
// generation reports late (a close, a failed request) never touches the state of a newer one.
import type { McpSubscription, SubscriptionFilter, Transport } from "@modelcontextprotocol/client";
import {
  abortable,
  abortError,
  isRecord,
  isTrunklineError,
  type Logger,
  TrunklineError,
  toTrunklineError,
  withDeadline,
} from "@trunkline/core";
import { signInCancelled } from "../auth/errors.js";
import { type AuthOptions, ServerAuth, type SignInReport, usesSignIn } from "../auth/server-auth.js";
import { type Abilities, type Channel, type Root, runOutsideChannels } from "../channel/channel.js";
import { type AskPolicy, runOutsideCalls } from "../channel/in-flight.js";
import type { ServerDefinition } from "../config/types.js";
import { Conversation, type OutgoingRequest, type RequestOptions } from "./conversation.js";
import { connectError, isSessionExpired, neededScope, requestError, unusableError } from "./errors.js";
import { type ClientInfo, type Generation, type ListKind, openGeneration, type Verdict } from "./generation.js";
import { type ProcessExit, StdioTransport } from "./stdio-transport.js";

/** The states of a server, visible while they happen. */
export type ServerState = "pending" | "connected" | "failed" | "needs-auth" | "disabled" | "untrusted";

/** What a connection needs besides its definition, and whom it tells. */
export interface ConnectionOptions {
  clientInfo: ClientInfo;
  logger: Logger;
  env: Readonly<Record<string, string | undefined>>;
  workspaceFolder: string;
  /** Connecting may take no longer than this, whatever the entry allows. */
  connectLimitMs?: number | undefined;
  /** Values that were looked up at launch and must not be shown. */
  onSecrets: (values: readonly string[]) => void;
  /** The state has changed. */
  onState: () => void;
  /** A new generation is there; the connection counts as connected when this has settled. */
  onConnected: (signal: AbortSignal) => Promise<void>;
  onListChanged: (kind: ListKind) => void;
  /** Every notification that is not handled here: updated resources, finished elicitations, those of extensions. */
  onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Who is asked, and how. */
  asking: AskingOptions;
  /** How to sign in where a server wants it. */
  signingIn: AuthOptions;
}

/** What the hub lets servers ask. */
export interface AskingOptions {
  channel: Channel | undefined;
  policy: AskPolicy;
  abilities: Abilities;
  maxQuestions: number;
  roots: () => readonly Root[] | undefined;
  logLevel: string | undefined;
}

/** Waits between restarts after a crash, the n-th crash in a row taking the n-th. */
const RESTART_DELAYS_MS = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/** A server that has run this long without a crash starts the count anew. */
const STABLE_MS = 30_000;

/** How often a person is asked to sign in before a server that is never satisfied is given up. */
const MAX_SIGN_INS = 3;

/** How often a person is asked for more permissions on account of one request. */
const MAX_STEP_UPS = 2;

/** A list that has more pages than this does not end. */
const MAX_PAGES = 1_000;

/** A connection to one server. */
export class Connection {
  readonly definition: ServerDefinition;
  readonly #options: ConnectionOptions;
  readonly #lifetime = new AbortController();
  readonly #verdict: Verdict = {};
  readonly #conversation: Conversation;
  readonly #retiring = new Set<Promise<void>>();
  #generation: Generation | undefined;
  #attempt: Promise<void> | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #restarts = 0;
  #state: ServerState;
  #error: TrunklineError | undefined;
  #connectedAtMs: number | undefined;
  #roundTripMs: number | undefined;
  #tookMs: number | undefined;
  #transport: Transport | undefined;
  #closing: Promise<void> | undefined;
  #checking: Promise<void> | undefined;
  #auth: ServerAuth | undefined;
  #elsewhere: Disposable | undefined;
  /** Has been connected before, or somebody would not sign in: from then on a person is asked only on request. */
  #asksNoMore = false;

  constructor(definition: ServerDefinition, options: ConnectionOptions) {
    this.definition = definition;
    this.#options = options;
    const { channel, policy, maxQuestions, roots, logLevel } = options.asking;
    this.#conversation = new Conversation({
      server: definition.name,
      logger: options.logger,
      defaultChannel: channel,
      policy,
      asks: definition.asks ?? true,
      callTimeoutMs: definition.callTimeoutMs,
      maxQuestions,
      roots,
      logLevel,
    });
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

  /** When the present generation was connected, in milliseconds since 1970. */
  get connectedAtMs(): number | undefined {
    return this.#connectedAtMs;
  }

  /** How long the last request for a list took. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  /** How long the last attempt to connect took, listing included. */
  get tookMs(): number | undefined {
    return this.#tookMs;
  }

  /** The revision that was negotiated. */
  get revision(): string | undefined {
    return this.#generation?.client.getNegotiatedProtocolVersion();
  }

  /** The server's name and version, as it gives them. */
  get serverInfo(): { name: string; version: string } | undefined {
    const info = this.#generation?.client.getServerVersion();
    return info === undefined ? undefined : { name: info.name, version: info.version };
  }

  /** What the server says it can do. */
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#generation?.client.getServerCapabilities() ?? {};
  }

  /** The last lines of the server's stderr. */
  get stderrTail(): readonly string[] {
    return this.#transport instanceof StdioTransport ? this.#transport.stderrTail : [];
  }

  /** The process of a stdio server. */
  get pid(): number | undefined {
    return this.#transport instanceof StdioTransport ? (this.#transport.pid ?? undefined) : undefined;
  }

  /** Where the sign-in stands, for a server that may want one. */
  get signIn(): SignInReport | undefined {
    return this.#auth?.report;
  }

  /**
   * Connects, or joins the attempt that is under way: however many callers there are, there is one attempt. The signal
   * ends this caller's waiting, not the attempt that others may be waiting for.
   */
  async connect(signal?: AbortSignal): Promise<void> {
    if (this.#state === "connected") return;
    this.#requireUsable();
    await this.#join(this.#try({ ask: !this.#asksNoMore }), signal);
  }

  /**
   * Has a person sign in where the server wants it, and connects. `completed` where it is connected afterwards, whether
   * or not anybody had to be asked.
   */
  async authenticate(signal?: AbortSignal): Promise<"completed" | "cancelled"> {
    try {
      // An attempt that is under way may be one that asks nobody.
      if (this.#attempt !== undefined) await this.#join(this.#attempt, signal).catch(() => {});
      signal?.throwIfAborted();
      this.#requireUsable();
      if (this.#state !== "connected") await this.#join(this.#try({ ask: true }), signal);
      if (this.#auth?.isWanting) await this.#join(this.#signIn(this.#auth), signal);
      return "completed";
    } catch (error) {
      if (isTrunklineError(error, "AUTH_REQUIRED") && error.data?.signIn === "cancelled") return "cancelled";
      throw error;
    }
  }

  /** The attempt under way, or a new one. */
  #try(options: { ask: boolean }): Promise<void> {
    clearTimeout(this.#restartTimer);
    // Outside every scope: what the connection reads later must not seem to belong to whoever opened it.
    this.#attempt ??= runOutsideCalls(() => runOutsideChannels(() => this.#connectOrSignIn(options))).finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
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
   * Sends a request and returns the result as the server sent it. Progress starts the time anew. A session that the
   * server has forgotten is opened again once, and the request, which was refused unseen, repeated.
   */
  async request(request: OutgoingRequest, options: RequestOptions = {}): Promise<Record<string, unknown>> {
    for (let stepUps = 0; ; stepUps++) {
      try {
        return await this.#requestOnce(request, options);
      } catch (error) {
        if (stepUps === MAX_STEP_UPS || !(await this.#stepUp(error, options.signal))) throw error;
      }
    }
  }

  async #requestOnce(request: OutgoingRequest, options: RequestOptions): Promise<Record<string, unknown>> {
    await this.connect(options.signal);
    const generation = this.#requireGeneration();
    try {
      return await this.#send(generation, request, options);
    } catch (error) {
      if (!isSessionExpired(error)) throw error;
      this.#options.logger.info("session expired, connecting again", { server: this.definition.name });
      await this.#replace(generation, options.signal);
      return await this.#send(this.#requireGeneration(), request, options);
    }
  }

  /** Follows `nextCursor` to the end of a list. An empty or repeated cursor ends it with a warning. Usable in `onConnected`. */
  async listAll(
    method: string,
    key: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<Record<string, unknown>[]> {
    const generation = this.#requireGeneration();
    const { logger } = this.#options;
    const items: Record<string, unknown>[] = [];
    const seen = new Set<string>();
    for (let cursor: string | undefined; ; ) {
      const startedMs = performance.now();
      const page = await this.#send(generation, { method, params: cursor === undefined ? {} : { cursor } }, options);
      this.#roundTripMs = performance.now() - startedMs;
      const entries = page[key];
      if (Array.isArray(entries)) items.push(...entries.filter(isRecord));
      const next = page.nextCursor;
      if (typeof next !== "string") return items;
      if (next === "" || seen.has(next) || seen.size >= MAX_PAGES) {
        logger.warn("the server's list does not end; what came so far is used", {
          server: this.definition.name,
          method,
        });
        return items;
      }
      seen.add(next);
      cursor = next;
    }
  }

  /** Sends a notification; it is lost where nobody is connected. */
  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#generation?.client.notification({ method, params });
  }

  /** Opens a stream on which a modern server tells of changes, for as long as the present generation lasts. */
  async listen(filter: SubscriptionFilter, signal?: AbortSignal): Promise<McpSubscription> {
    await this.connect(signal);
    const { client } = this.#requireGeneration();
    const options = { timeout: this.definition.callTimeoutMs, ...(signal === undefined ? {} : { signal }) };
    try {
      return await runOutsideCalls(() => runOutsideChannels(() => client.listen(filter, options)));
    } catch (error) {
      const what = this.#conversation.describe("subscriptions/listen");
      if (signal?.aborted) throw abortError(signal, what);
      throw requestError(error, { server: this.definition, what, exit: undefined });
    }
  }

  /** The level from which the server is to send log messages. A modern one is told with each call. */
  get logLevel(): string | undefined {
    return this.#conversation.logLevel;
  }

  /** Sets the level; a legacy server has to be told by a request as well. */
  setLogLevel(level: string): void {
    this.#conversation.setLogLevel(level);
  }

  /** The era of the present generation. */
  get era(): "legacy" | "modern" | undefined {
    return this.#generation?.era;
  }

  /** Ends the connection and the server's process. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      clearTimeout(this.#restartTimer);
      this.#elsewhere?.[Symbol.dispose]();
      this.#lifetime.abort(new TrunklineError("CLOSED", "The hub was closed."));
      const generation = this.#generation;
      this.#generation = undefined;
      await this.#attempt?.catch(() => {});
      await generation?.close();
      await Promise.all([...this.#retiring, this.#checking]);
      if (this.#state === "connected") this.#enter("pending");
    })();
    return this.#closing;
  }

  /** Connects; where the server wants a sign-in, asks a person for it, outside the connect timeout, and tries again. */
  async #connectOrSignIn({ ask }: { ask: boolean }): Promise<void> {
    for (let signIns = 0; ; signIns++) {
      try {
        return await this.#connect();
      } catch (error) {
        const auth = this.#auth;
        if (!ask || signIns === MAX_SIGN_INS || auth?.interactive !== true || !isTrunklineError(error, "AUTH_REQUIRED"))
          throw error;
        await auth.want(neededScope(error));
        await this.#signIn(auth);
      }
    }
  }

  /** Has a person sign in; a no, or a failure, is the state of the server until somebody tries again. */
  async #signIn(auth: ServerAuth): Promise<void> {
    let failure: TrunklineError;
    this.#asksNoMore = true;
    try {
      if ((await auth.signIn(this.#lifetime.signal)) === "completed") return;
      failure = signInCancelled(this.definition.name);
    } catch (error) {
      failure = toTrunklineError(error);
    }
    if (this.#lifetime.signal.aborted) throw this.#lifetime.signal.reason;
    // A callback that throws fails the connect; everything else leaves the sign-in to be done.
    if (this.#state !== "connected")
      this.#enter(failure.code === "SERVER_UNAVAILABLE" ? "failed" : "needs-auth", failure);
    throw failure;
  }

  /** Whether a person has granted what a refused request needs. Where nobody is asked, the next sign-in asks for it. */
  async #stepUp(error: unknown, signal: AbortSignal | undefined): Promise<boolean> {
    const scope = neededScope(error);
    const auth = this.#auth;
    if (scope === undefined || auth === undefined) return false;
    await auth.want(scope);
    if (!auth.interactive) return false;
    await this.#join(
      runOutsideCalls(() => runOutsideChannels(() => this.#signIn(auth))),
      signal,
    );
    return true;
  }

  async #connect(): Promise<void> {
    const { name } = this.definition;
    const connectTimeoutMs = Math.min(
      this.definition.connectTimeoutMs,
      this.#options.connectLimitMs ?? Number.POSITIVE_INFINITY,
    );
    this.#enter("pending");
    let exit: ProcessExit | undefined;
    const launched = this.#launch();
    const startedMs = performance.now();
    try {
      const unusable = unusableError(launched.definition);
      if (unusable !== undefined) throw unusable;
      this.#auth ??= this.#createAuth(launched.definition);
      await withDeadline(
        {
          what: `Connecting to "${name}"`,
          timeoutMs: connectTimeoutMs,
          signal: this.#lifetime.signal,
          hint: `Does it answer when it is started by hand? "timeout" in its entry allows more than ${connectTimeoutMs / 1000} seconds.`,
        },
        async (signal) => {
          const generation = await openGeneration(
            {
              ...this.#options,
              abilities: this.#options.asking.abilities,
              definition: launched.definition,
              verdict: this.#verdict,
              auth: this.#auth,
              onClose: (closed) => this.#onClose(closed),
              onStreamLost: () => this.#checkSession(),
              onQuestion: (question, asked) => this.#conversation.answer(question, asked),
              onNotification: (method, params) => this.#onNotification(method, params),
              onTransport: (transport) => {
                this.#transport = transport;
              },
            },
            signal,
          );
          this.#generation = generation;
          await this.#options.onConnected(signal);
          signal.throwIfAborted();
          // It may have ended while it was listing; its late close finds a state that is not "connected" yet.
          if (generation.closed) throw new TrunklineError("SERVER_EXITED", `Server "${name}" ended while connecting.`);
        },
      );
      this.#tookMs = performance.now() - startedMs;
      this.#error = undefined;
      this.#connectedAtMs = Date.now();
      this.#asksNoMore = true;
      this.#enter("connected");
    } catch (error) {
      const generation = this.#generation;
      this.#generation = undefined;
      await generation?.close();
      if (this.#transport instanceof StdioTransport) {
        // A deadline leaves the process behind while it is still being ended: wait, so that no caller sees an orphan.
        await this.#transport.close();
        exit = this.#transport.exit;
      }
      if (this.#lifetime.signal.aborted) throw this.#lifetime.signal.reason;
      const failure = connectError(error, {
        server: launched.definition,
        exit,
        stderr: this.stderrTail,
        noise: this.#transport instanceof StdioTransport ? this.#transport.firstNoise : undefined,
        missing: launched.missing,
      });
      this.#enter(failure.code === "AUTH_REQUIRED" ? "needs-auth" : "failed", failure);
      throw failure;
    }
  }

  #onNotification(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === "notifications/message") {
      const { level, logger, data } = params;
      this.#conversation.log({ level: String(level), data, ...(typeof logger === "string" ? { logger } : {}) });
    }
    this.#conversation.notice(method, params);
    // Progress has its own way to those who asked for it.
    if (method !== "notifications/progress") this.#options.onNotification(method, params);
  }

  /** Finds out, with a request that changes nothing, whether the session is still there; if not, the request heals it. */
  #checkSession(): void {
    if (this.#state !== "connected" || this.#checking !== undefined || this.era !== "legacy") return;
    this.#checking = runOutsideCalls(() => runOutsideChannels(() => this.request({ method: "ping", params: {} })))
      .then(() => {})
      .catch((error: unknown) =>
        this.#options.logger.debug("the session does not answer", { server: this.definition.name, error }),
      )
      .finally(() => {
        this.#checking = undefined;
      });
  }

  /** Values that are looked up only now: `\${NAME}` in a skill. */
  #launch(): { definition: ServerDefinition; missing: readonly string[] } {
    const { definition } = this;
    const { unset = [] } = definition;
    const launched = definition.atLaunch?.();
    if (launched === undefined) return { definition, missing: unset };
    this.#options.onSecrets(launched.secrets);
    return { definition: launched.definition, missing: [...unset, ...launched.missing] };
  }

  #createAuth(definition: ServerDefinition): ServerAuth | undefined {
    if (definition.type === "stdio" || !usesSignIn(definition) || !URL.canParse(definition.url)) return undefined;
    const { signingIn, logger, onSecrets } = this.#options;
    return new ServerAuth(definition, { ...signingIn, logger, onSecrets });
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
      if (isSessionExpired(error)) throw error;
      const { transport } = generation;
      const exit = transport instanceof StdioTransport ? transport.exit : undefined;
      const failure = requestError(error, {
        server: this.definition,
        what: this.#conversation.describe(request.method),
        exit,
      });
      if (failure.code === "CONNECTION_FAILED" && generation === this.#generation) this.#lost(generation, failure);
      // What could be renewed was renewed: now somebody has to sign in. A missing permission leaves the rest usable.
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

  /** Opens a new generation in place of this one; callers that come late find it replaced already. */
  async #replace(generation: Generation, signal: AbortSignal | undefined): Promise<void> {
    if (generation === this.#generation) {
      this.#generation = undefined;
      this.#enter("pending");
    }
    await this.connect(signal);
  }

  /** Closes a generation that has been replaced, as soon as the requests it still carries have ended. */
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
    const exit = generation.transport instanceof StdioTransport ? generation.transport.exit : undefined;
    const { name } = this.definition;
    const how = exit === undefined ? "closed the connection" : `ended (${exit.signal ?? `exit code ${exit.code}`})`;
    this.#lost(
      generation,
      new TrunklineError("SERVER_EXITED", `Server "${name}" ${how}.`, { hint: "It is being started again." }),
    );
  }

  /** The connection has gone by itself: say so, and try to get it back. */
  #lost(generation: Generation, error: TrunklineError): void {
    if (this.#lifetime.signal.aborted) return;
    const upMs = Date.now() - (this.#connectedAtMs ?? 0);
    if (upMs >= STABLE_MS) this.#restarts = 0;
    this.#generation = undefined;
    this.#enter("pending", error);
    this.#options.logger.warn("server lost", { server: this.definition.name, error });
    this.#retire(generation);
    this.#scheduleRestart();
  }

  #scheduleRestart(): void {
    const delayMs = RESTART_DELAYS_MS[this.#restarts];
    if (delayMs === undefined) {
      this.#enter("failed", this.#error);
      return;
    }
    this.#restarts++;
    this.#restartTimer = setTimeout(() => {
      if (this.#state === "connected" || this.#lifetime.signal.aborted) return;
      this.connect().catch(() => {
        if (!this.#lifetime.signal.aborted && this.#state === "failed") this.#scheduleRestart();
      });
    }, delayMs);
    // Waiting for a server that crashed is no reason to keep a program alive that has nothing else to do.
    this.#restartTimer.unref();
  }

  #requireGeneration(): Generation {
    if (this.#generation !== undefined) return this.#generation;
    throw new TrunklineError("SERVER_UNAVAILABLE", `Server "${this.definition.name}" is not connected.`, {
      cause: this.#error,
    });
  }

  #requireUsable(): void {
    const { name } = this.definition;
    if (this.#lifetime.signal.aborted) throw new TrunklineError("CLOSED", "The hub is closed.");
    if (this.#state === "disabled") {
      throw new TrunklineError("SERVER_UNAVAILABLE", `Server "${name}" is disabled.`, {
        hint: `Enable it: trunkline servers enable ${name}`,
      });
    }
    if (this.#state === "untrusted") {
      throw new TrunklineError(
        "SERVER_UNAVAILABLE",
        `Server "${name}" comes from a project file that nobody has confirmed.`,
        {
          hint: "See what it would run, and confirm it: trunkline trust",
        },
      );
    }
    if (this.definition.unusable !== undefined && isTrunklineError(this.#error)) throw this.#error;
  }

  #enter(state: ServerState, error?: TrunklineError): void {
    this.#state = state;
    this.#error = error;
    if (state !== "connected") this.#connectedAtMs = undefined;
    this.#elsewhere?.[Symbol.dispose]();
    this.#elsewhere = undefined;
    if (state === "needs-auth" && !this.#lifetime.signal.aborted) {
      this.#elsewhere = this.#auth?.onSignedInElsewhere(() => {
        // Nobody waits for it, and what comes of it is the state.
        if (this.#state === "needs-auth" && !this.#lifetime.signal.aborted) this.#try({ ask: false }).catch(() => {});
      });
    }
    this.#options.onState();
  }
}
