// Calls the store for operations: for which client, in which session, and with which folders.
import { randomUUID } from "node:crypto";
import { type ContentStore, type FileLimits, TrunklineError } from "@trunkline/core";
import type { Caller, Exchange } from "../interfaces/exchange.js";
import type { OperationContext, Params } from "../interfaces/operation.js";
import { Places, type PlacesOptions } from "./allowed-paths.js";

/** What operations may access for clients. */
export interface AccessOptions extends PlacesOptions {
  readonly allowPrivateAddresses?: boolean | (() => Promise<boolean>);
}

interface StoreCallsOptions extends AccessOptions {
  /** Opens the store as a principal sees it. */
  readonly store: (principal: string) => Promise<ContentStore>;
}

interface CallDetails {
  readonly context: OperationContext;
  /** The client to act for. Default: the caller. */
  readonly client?: string;
  /** What the call may do with files. Default: nothing but what its parameters name, which are not paths. */
  readonly limits?: FileLimits;
}

/** A session as given in parameters. */
export type SessionParam = boolean | string | undefined;

type Result = Readonly<Record<string, unknown>>;

/**
 * The store as operations use it. Tracks which client started which session: a session given by its id acts for the
 * client that started it, so clients without a lasting connection can use sessions too.
 */
export class StoreCalls {
  readonly places: Places;
  readonly #options: StoreCallsOptions;
  /** Whose session it is and the client name it uses in the store, by session id. */
  readonly #clients = new Map<string, { principal: string; client: string }>();

  constructor(options: StoreCallsOptions) {
    this.#options = options;
    this.places = new Places(options);
  }

  /** The store as the caller's principal sees it. */
  store({ exchange }: OperationContext): Promise<ContentStore> {
    return this.#options.store(exchange.caller.principal);
  }

  /** Runs a store operation. */
  async run(operation: string, params: Params, { context, client, limits }: CallDetails): Promise<Result> {
    const { allowPrivateAddresses: allowed } = this.#options;
    const allowPrivateAddresses = typeof allowed === "function" ? await allowed() : allowed;
    const { exchange, signal, onProgress } = context;
    const store = await this.store(context);
    return await store.run(operation, params, {
      signal,
      ...(onProgress === undefined ? {} : { onProgress }),
      client: client ?? exchange.caller.id,
      ...(limits === undefined ? {} : { limits }),
      ...(allowPrivateAddresses === undefined ? {} : { allowPrivateAddresses }),
    });
  }

  /** Throws if `session` means the caller's own session but the connection cannot have one. */
  requireSession(session: SessionParam, { caller }: Exchange): void {
    if (session === true) requireLasting(caller);
  }

  /**
   * Returns the client to act for: the owner of the session if one is given by id, otherwise the caller. Resumes a
   * session that an earlier process started.
   */
  async clientOf(session: SessionParam, context: OperationContext): Promise<string> {
    const { caller } = context.exchange;
    if (typeof session === "string") {
      const known = this.#clients.get(session);
      if (known?.principal === caller.principal) return known.client;
      const client = `session/${session}`;
      await this.run("resume", { session_id: session }, { context, client });
      this.#clients.set(session, { principal: caller.principal, client });
      return client;
    }
    if (session === true) {
      requireLasting(caller);
      if (!this.#hasSession(caller)) throw noSession();
    }
    return caller.id;
  }

  /** Starts a session. For a client with a lasting connection, it becomes the current one. */
  async start(params: Params, context: OperationContext): Promise<Result> {
    const { caller } = context.exchange;
    const client = caller.lasting ? caller.id : `${caller.id}/${randomUUID()}`;
    const started = await this.run("start", params, { context, client });
    // The store stops the client's previous session.
    this.#forget(client);
    if (typeof started.session_id === "string") {
      this.#clients.set(started.session_id, { principal: caller.principal, client });
    }
    return started;
  }

  /** Ends a client's session. */
  async stop(client: string | undefined, context: OperationContext): Promise<Result> {
    const summary = await this.run("stop", {}, { context, client });
    this.#forget(client ?? context.exchange.caller.id);
    return summary;
  }

  /** Like {@link clientOf}, but requires a session. */
  async sessionClient(session: SessionParam, context: OperationContext): Promise<string> {
    return await this.clientOf(typeof session === "string" ? session : true, context);
  }

  /** Ends the session and the watches of a client that has disconnected. */
  async release(caller: Caller): Promise<void> {
    this.places.folders.release(caller);
    if (!caller.lasting || !this.#hasSession(caller)) return;
    this.#forget(caller.id);
    const store = await this.#options.store(caller.principal);
    await store.run("stop", {}, { client: caller.id });
  }

  #forget(client: string): void {
    for (const [session, owner] of this.#clients) if (owner.client === client) this.#clients.delete(session);
  }

  #hasSession({ id }: Caller): boolean {
    return [...this.#clients.values()].some(({ client }) => client === id);
  }
}

function requireLasting(caller: Caller): void {
  if (caller.lasting) return;
  throw new TrunklineError("INVALID_ARGUMENT", "This connection has no current session.", {
    hint: 'Pass the id that start returned: session: "ses-…".',
    data: { parameter: "session" },
  });
}

function noSession(): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", "No session is open.", {
    hint: 'Begin one with the tool session: {"action": "start"}.',
    data: { parameter: "session" },
  });
}
