// How the store talks to PostgreSQL: transactions with the store's schema and the viewer's rights, whatever the driver is.
import { abortable, abortError, messageOf, TrunklineError } from "@trunkline/core";
import type { Viewer } from "@trunkline/store/parts";

/** One connection, used by one transaction at a time. */
export interface DriverConnection {
  /** A statement with a name is parsed and planned once for each connection. */
  query(text: string, values: readonly unknown[], name?: string): Promise<{ rows: unknown[]; count: number }>;
  /** Runs several statements without parameters, in one round trip. Returns the rows of the last one. */
  exec(text: string): Promise<unknown[]>;
}

/** The database behind a store. Errors are as the driver throws them, with an SQLSTATE in `code` if there is one. */
export interface Driver {
  /** The address without a password, for messages. */
  readonly place: string;
  /** How many connections are in use, open but idle, and waited for. */
  connections(): { used: number; idle: number; waiting: number };
  /**
   * Runs work on a connection of its own. A connection that failed is not used again. An abort stops the statement that
   * runs; the work then fails.
   */
  use<T>(work: (connection: DriverConnection) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Calls back for each notification, and after a reconnect, until the returned function is called. `prepare` runs on each
   * new connection before it listens; what it does to the session lasts as long as the connection.
   */
  listen(
    channel: string,
    listener: (payload: string) => void,
    prepare?: (connection: DriverConnection) => Promise<void>,
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export const SCHEMA = "trunkline";
const CALL = "The store's call";

/** Statements of one transaction. */
export class Sql {
  readonly #connection: DriverConnection;
  readonly #begun: Promise<unknown>;
  readonly #signal: AbortSignal | undefined;
  #isOver = false;

  /** `begun`: the start of the transaction, which the first statement does not wait for. */
  constructor(connection: DriverConnection, { begun, signal }: { begun: Promise<unknown>; signal?: AbortSignal }) {
    this.#connection = connection;
    this.#begun = begun;
    this.#signal = signal;
  }

  /** The rows' shape is up to the statement. */
  async rows<R>(text: string, ...values: readonly unknown[]): Promise<R[]> {
    return (await this.#query(text, values)).rows as R[];
  }

  async get<R>(text: string, ...values: readonly unknown[]): Promise<R | undefined> {
    return (await this.rows<R>(text, ...values))[0];
  }

  async one<R>(text: string, ...values: readonly unknown[]): Promise<R> {
    const row = await this.get<R>(text, ...values);
    if (row === undefined) throw new TrunklineError("INTERNAL", "The store's database returned no row.");
    return row;
  }

  /** Returns how many rows were changed. */
  async run(text: string, ...values: readonly unknown[]): Promise<number> {
    return (await this.#query(text, values)).count;
  }

  async exec(text: string): Promise<void> {
    this.#requireWanted();
    await Promise.all([this.#begun, this.#connection.exec(text)]);
  }

  /** The transaction ends. What is still under way must not use the connection any more: others have it then. */
  end(): void {
    this.#isOver = true;
  }

  /** Answers are in the order of statements, so waiting for the start as well takes no time. */
  async #query(text: string, values: readonly unknown[]): ReturnType<DriverConnection["query"]> {
    this.#requireWanted();
    const answer = this.#connection.query(text, values.map(storableValue), nameOf(text));
    return (await Promise.all([this.#begun, answer]))[1];
  }

  #requireWanted(): void {
    if (this.#signal?.aborted) throw abortError(this.#signal, CALL);
    if (this.#isOver) throw new TrunklineError("INTERNAL", "The transaction has ended.");
  }
}

const MOST_NAMES = 300;
const names = new Map<string, string>();

/** Names the statements that are used again. The text of some depends on filters, so there is a limit. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known === "" ? named(text) : known;
  if (names.size < MOST_NAMES) names.set(text, "");
  return undefined;
}

let lastName = 0;

function named(text: string): string {
  const name = `trunkline_${++lastName}`;
  names.set(text, name);
  return name;
}

/** PostgreSQL has no text with NUL, and one name with it must not stop the work on others. */
function storableValue(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
  return Array.isArray(value) ? value.map(storableValue) : value;
}

interface TransactionOptions {
  /** For whom the transaction reads. See the views `seen_…` in the schema. */
  readonly viewer?: Viewer;
  readonly signal?: AbortSignal;
}

interface Transaction extends TransactionOptions {
  readonly mode: string;
  /** A statement without parameters. */
  readonly first?: string;
}

/** What a transaction does. `rows` are those of its first statement. */
type Work<T> = (sql: Sql, rows: unknown[]) => Promise<T>;

/** Serialization failures, deadlocks and plans that a migration made invalid are resolved by trying again. */
const RETRIED = ["40001", "40P01", "0A000"];
const MOST_ATTEMPTS = 5;

/** The locks that transactions share, so that they exclude each other where they must. */
export const LOCKS = {
  migrate: 0x54524b01,
  history: 0x54524b02,
  gc: 0x54524b03,
  graph: 0x54524b04,
  words: 0x54524b05,
  journal: 0x54524b10,
  vectors: 0x54524b11,
} as const;

export class Database {
  readonly driver: Driver;
  /** The schemas of extensions, in addition to ours. */
  extensionSchemas: readonly string[] = ["public"];

  constructor(driver: Driver) {
    this.driver = driver;
  }

  /** Reads one consistent state. */
  async read<T>(options: TransactionOptions, work: (sql: Sql) => Promise<T>): Promise<T> {
    return await this.#transaction({ ...options, mode: "ISOLATION LEVEL REPEATABLE READ READ ONLY" }, work);
  }

  /**
   * Reads with few round trips: `first` is sent together with the start of the transaction, and the caller does not wait
   * for its end. Each statement sees the newest state, so the work must not depend on two statements seeing the same.
   */
  async look<T>(options: TransactionOptions, first: string, work: Work<T>): Promise<T> {
    return await new Promise<T>((resolve, reject) => {
      const mode = "ISOLATION LEVEL READ COMMITTED READ ONLY";
      this.#transaction({ ...options, mode, first }, async (sql, rows) => resolve(await work(sql, rows))).catch(reject);
    });
  }

  /** Changes are durable when it resolves. */
  async write<T>(options: TransactionOptions, work: (sql: Sql) => Promise<T>): Promise<T> {
    return await this.#transaction({ ...options, mode: "ISOLATION LEVEL READ COMMITTED" }, work);
  }

  async #transaction<T>(transaction: Transaction, work: Work<T>): Promise<T> {
    const { signal } = transaction;
    if (signal?.aborted) throw abortError(signal, CALL);
    const running = this.#attempts(transaction, work);
    if (signal === undefined) return await running;
    // The driver stops the statement; the caller does not wait until its connection is free again.
    running.catch(() => {});
    try {
      return await abortable(signal, running);
    } catch (error) {
      if (signal.aborted) throw abortError(signal, CALL);
      throw error;
    }
  }

  async #attempts<T>(transaction: Transaction, work: Work<T>): Promise<T> {
    const { signal } = transaction;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.driver.use((connection) => this.#run(connection, transaction, work), signal);
      } catch (error) {
        if (RETRIED.includes(stateOf(error)) && attempt < MOST_ATTEMPTS && !signal?.aborted) continue;
        throw storeError(error, this.driver.place);
      }
    }
  }

  async #run<T>(
    connection: DriverConnection,
    { mode, viewer = "", signal, first }: Transaction,
    work: Work<T>,
  ): Promise<T> {
    // A viewer's name has only letters, digits, - and _.
    const path = [SCHEMA, ...this.extensionSchemas].map((name) => `"${name.replaceAll('"', '""')}"`).join(", ");
    // Plans are made for the tables as they are, not for those of the first call: a new store is empty then.
    const settings = `SET LOCAL search_path TO ${path}; SET LOCAL trunkline.viewer TO '${viewer}'; SET LOCAL jit TO off; SET LOCAL plan_cache_mode TO force_custom_plan`;
    const begin = `BEGIN ${mode}; ${settings}${first === undefined ? "" : `; ${first}`}`;
    // Sent together with the first statement. If it fails, it may have failed before the transaction began, and then the
    // first statement is the only one that has run.
    const begun = connection.exec(begin);
    begun.catch(() => {});
    const sql = new Sql(connection, { begun, signal });
    try {
      const result = await work(sql, first === undefined ? [] : await begun);
      await begun;
      sql.end();
      await connection.exec("COMMIT");
      return result;
    } catch (error) {
      sql.end();
      // A connection that is gone has rolled back already.
      await connection.exec("ROLLBACK").catch(() => {});
      throw error;
    }
  }
}

export function stateOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Reasons why a database cannot be reached, or went away. */
const GONE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed",
  EPIPE: "the connection was closed",
  ETIMEDOUT: "it did not answer",
  ENOTFOUND: "its name cannot be resolved",
  EAI_AGAIN: "its name cannot be resolved",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "there is no route to it",
  ENOENT: "its socket does not exist",
  "57P01": "it is shutting down",
  "57P02": "it crashed and restarts",
  "57P03": "it is starting up or shutting down",
  "53300": "it has no connection left",
  "25006": "it is read-only, perhaps after a fail-over",
};

/** Reasons that are more often a mistake in the address than an outage. */
const MISTYPED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
]);

interface Refusal {
  readonly reason: string;
  readonly hint: string;
}

const WRONG_PASSWORD: Refusal = {
  reason: "the password is wrong or missing",
  hint: "Check the user and the password: it comes from the address, PGPASSWORD or ~/.pgpass.",
};
const UNKNOWN_AUTHORITY: Refusal = {
  reason: "its certificate is not signed by a known authority",
  hint: "Name the file of the authority's certificate in the address: sslrootcert=<file>.",
};
const NO_ENCRYPTION: Refusal = {
  reason: "it does not offer encrypted connections",
  hint: "Turn on ssl in postgresql.conf, or use sslmode=disable on a network that you trust.",
};

const REFUSED: Readonly<Record<string, Refusal>> = {
  "28P01": WRONG_PASSWORD,
  "28000": {
    reason: "the user may not connect",
    hint: "Check the user and sslmode in the address, and pg_hba.conf on the server.",
  },
  "3D000": {
    reason: "the database does not exist",
    hint: "Check its name in the address, or create it: createdb --owner=<user> <database>",
  },
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: { reason: "its certificate has expired", hint: "Renew the certificate of the server." },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    reason: "its certificate is for another host",
    hint: "Use the host name that is in the certificate, or sslmode=verify-ca.",
  },
  "42501": {
    reason: "the user lacks a privilege",
    hint: "Connect as the user that ran `trunkline store init`, or grant this one the same privileges.",
  },
};

/** Returns an error of the store. Messages of drivers are shown only if they cannot contain an address or password. */
export function storeError(error: unknown, place: string): TrunklineError {
  if (error instanceof TrunklineError) return error;
  const state = stateOf(error);
  const reason =
    GONE[state] ??
    (isTimeout(error) ? GONE.ETIMEDOUT : undefined) ??
    (state.startsWith("08") || isConnectionLost(error) ? "the connection was lost" : undefined);
  if (reason !== undefined) {
    return new TrunklineError("STORE_UNAVAILABLE", `Cannot reach the store's database at ${place}: ${reason}.`, {
      cause: error,
      hint: MISTYPED.has(state)
        ? "Check that it runs and that the address is right, then try again; nothing that was acknowledged is lost."
        : "Try again; nothing that was acknowledged is lost.",
    });
  }
  const refused = REFUSED[state] ?? refusalOf(error);
  if (refused !== undefined) {
    return new TrunklineError("STORE_UNAVAILABLE", `The store's database at ${place} refused: ${refused.reason}.`, {
      cause: error,
      retryable: false,
      hint: refused.hint,
    });
  }
  if (state === "53100") {
    return new TrunklineError("IO", `The disk of the store's database at ${place} is full.`, { cause: error });
  }
  if (state === "") return new TrunklineError("INTERNAL", messageOf(error), { cause: error });
  return new TrunklineError("INTERNAL", `The store's database failed (${state}): ${messageOf(error)}`, {
    cause: error,
  });
}

/** Refusals for which `pg` has only a message. */
function refusalOf(error: unknown): Refusal | undefined {
  const message = messageOf(error);
  if (/client password must be a/i.test(message)) return WRONG_PASSWORD;
  if (/server does not support SSL/i.test(message)) return NO_ENCRYPTION;
  return undefined;
}

function isTimeout(error: unknown): boolean {
  return /timeout expired|timeout exceeded|connection timeout|query read timeout/i.test(messageOf(error));
}

function isConnectionLost(error: unknown): boolean {
  return (
    error instanceof Error &&
    /connection terminated|client has encountered a connection error|not queryable/i.test(error.message)
  );
}
