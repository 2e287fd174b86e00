// The gateways of a store on PostgreSQL.
import { createHash, randomUUID } from "node:crypto";
import {
  abortError,
  type BatchClaim,
  type BatchKey,
  type EndedTask,
  type Gateway,
  type GatewayAnswer,
  isGatewayName,
  type Logger,
  messageOf,
  type Team,
  TrunklineError,
} from "@trunkline/core";
import { type Database, type DriverConnection, storeError } from "../database/sql.js";
import { BatchClaims } from "./batch-claims.js";
import { Exchanges, type GatewayHandler } from "./exchanges.js";
import { GatewayStates, IS_HELD } from "./gateway-states.js";
import { Mailbox } from "./mailbox.js";
import { inSchema, TEAM_CHANNEL, TeamSql } from "./team-sql.js";

const SWEEP_MS = 60_000;
/** How long the last answers to other gateways may take. */
const LAST_ANSWERS_MS = 2_000;
/** What the ended tasks of one principal may take up together. */
const MOST_TASK_BYTES = 256 * 1024 * 1024;

export class PostgresTeam implements Team {
  readonly #database: Database;
  readonly #logger: Logger;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  async join(name: string): Promise<Gateway> {
    if (!isGatewayName(name)) {
      throw new TrunklineError("USAGE", `"${name}" cannot be the name of a gateway.`, {
        hint: "Use up to 32 letters, digits and -.",
      });
    }
    const gateway = new PostgresGateway(this.#database, { name, logger: this.#logger });
    await gateway.open();
    return gateway;
  }
}

class PostgresGateway implements Gateway {
  readonly name: string;
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #run = randomUUID();
  readonly #sql: TeamSql;
  readonly #states: GatewayStates;
  readonly #mailbox: Mailbox;
  readonly #exchanges: Exchanges;
  readonly #batches: BatchClaims;
  #stopListening: (() => Promise<void>) | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #leaving: Promise<void> | undefined;

  constructor(database: Database, { name, logger }: { name: string; logger: Logger }) {
    this.name = name;
    this.#database = database;
    this.#logger = logger;
    this.#sql = new TeamSql(database);
    this.#states = new GatewayStates(this.#sql);
    const receive: ConstructorParameters<typeof Mailbox>[1]["receive"] = (message) => this.#exchanges.receive(message);
    this.#mailbox = new Mailbox(this.#sql, { name, logger, receive });
    this.#exchanges = new Exchanges({ mailbox: this.#mailbox, states: this.#states, logger });
    this.#batches = new BatchClaims(this.#sql, { states: this.#states, gateway: name, run: this.#run });
  }

  async open(): Promise<void> {
    const { driver } = this.#database;
    try {
      this.#stopListening = await driver.listen(
        TEAM_CHANNEL,
        (payload) => this.#wake(payload),
        (connection) => this.#take(connection),
      );
    } catch (error) {
      throw storeError(error, driver.place);
    }
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_MS);
    this.#sweeping.unref();
    await this.#sweep();
    void this.#mailbox.read();
  }

  serve(handler: GatewayHandler): () => void {
    return this.#exchanges.serve(handler);
  }

  async ask(
    gateway: string,
    body: Uint8Array,
    options: { signal: AbortSignal; onPart: (part: Uint8Array) => void },
  ): Promise<GatewayAnswer> {
    this.#requireJoined();
    return await this.#exchanges.ask(gateway, body, options);
  }

  async keepTask({ id, principal, detail, ttlMs, max }: EndedTask): Promise<void> {
    await this.#sql.rows(
      `INSERT INTO @ended_tasks (id, principal, detail, expires) VALUES ($1, $2, $3, now() + $4::float8 * interval '1 ms')
       ON CONFLICT (id) DO NOTHING`,
      ...[id, principal, detail, ttlMs],
    );
    await this.#sql.rows(
      `DELETE FROM @ended_tasks WHERE id IN (
         SELECT id FROM (SELECT id, row_number() OVER newest AS place, sum(octet_length(detail)) OVER newest AS bytes
           FROM @ended_tasks WHERE principal = $1 WINDOW newest AS (ORDER BY ended DESC, id)) t
         WHERE place > $2::int OR bytes > ${MOST_TASK_BYTES})`,
      ...[principal, max],
    );
  }

  async findTask(id: string, principal: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#sql.rows<{ detail: Uint8Array }>(
      "SELECT detail FROM @ended_tasks WHERE id = $1 AND principal = $2 AND expires > now()",
      ...[id, principal],
    );
    return row?.detail;
  }

  async forgetTasks(principal: string): Promise<void> {
    await this.#sql.rows("DELETE FROM @ended_tasks WHERE principal = $1", principal);
  }

  async claimBatch(key: BatchKey, keptMs: number): Promise<BatchClaim> {
    this.#requireJoined();
    return await this.#batches.claim(key, keptMs);
  }

  async endBatch(key: BatchKey, outcome: Uint8Array | "released" | "lost"): Promise<void> {
    await this.#batches.end(key, outcome);
  }

  async waitForBatch(key: BatchKey, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw abortError(signal, "The batch");
    await this.#batches.changed(key, signal);
  }

  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  async #leave(): Promise<void> {
    clearInterval(this.#sweeping);
    // A call that has ended must not count as lost with this gateway.
    await this.#exchanges.answered(LAST_ANSWERS_MS);
    this.#exchanges.close();
    this.#batches.close();
    await this.#mailbox.close();
    try {
      await this.#sql.change(
        "UPDATE @gateways SET gone = now() WHERE name = $1 AND run = $2",
        [this.name, this.#run],
        ["gone", this.name],
      );
      await this.#sql.rows("DELETE FROM @gateway_messages WHERE recipient = $1", this.name);
    } catch (error) {
      // The others notice by the lock.
      this.#logger.debug("cannot tell other gateways about the end", { error: messageOf(error) });
    }
    await this.#stopListening?.();
  }

  #requireJoined(): void {
    if (this.#leaving !== undefined) throw new TrunklineError("CLOSED", "The gateway is stopping.");
  }

  /** Takes the name on a new connection. Its lock is released when the connection ends. */
  async #take(connection: DriverConnection): Promise<void> {
    // A machine that vanished must not keep its name for hours. Connections through a socket file ignore this. And the
    // connection is meant to be idle.
    await connection.exec(
      `SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
       SET idle_session_timeout = 0`,
    );
    const lock = lockOf(this.name);
    const { rows } = await connection.query("SELECT pg_try_advisory_lock($1::bigint) AS taken", [lock]);
    if (!(rows as { taken: boolean }[])[0]?.taken) {
      throw new TrunklineError("USAGE", `A gateway named "${this.name}" already uses this store.`, {
        hint: "Start this one with another name: --gateway <name>.",
      });
    }
    await connection.query(
      inSchema(
        `INSERT INTO @gateways (name, run, lock) VALUES ($1, $2, $3::bigint)
         ON CONFLICT (name) DO UPDATE SET run = excluded.run, lock = excluded.lock, seen = now(), gone = NULL`,
      ),
      [this.name, this.#run, lock],
    );
  }

  #wake(payload: string): void {
    const [what = "", whom = ""] = payload.split(" ");
    if (payload === "" || (what === "to" && whom === this.name)) void this.#mailbox.read();
    if (payload === "" || what === "gone") {
      this.#states.forget();
      void this.#exchanges.look();
    }
    if (payload === "" || what === "batch") this.#batches.wake(whom === "" ? undefined : whom);
  }

  /** Removes what has expired and what dead gateways left. */
  async #sweep(): Promise<void> {
    const minutes = (count: number) => `now() - interval '${count} minutes'`;
    try {
      await this.#sql.rows("UPDATE @gateways SET seen = now() WHERE name = $1 AND run = $2", this.name, this.#run);
      await this.#sql.rows(
        `DELETE FROM @gateway_messages m WHERE sent < ${minutes(5)}
         AND NOT EXISTS (SELECT 1 FROM @gateways g WHERE g.name = m.recipient AND ${IS_HELD})`,
      );
      // Long enough for clients to learn that it is gone.
      await this.#sql.rows(`DELETE FROM @gateways g WHERE seen < ${minutes(24 * 60)} AND NOT ${IS_HELD}`);
      await this.#sql.rows("DELETE FROM @ended_tasks WHERE expires <= now()");
      await this.#sql.rows("DELETE FROM @batches WHERE expires <= now()");
    } catch (error) {
      this.#logger.debug("cannot remove what other gateways left", { error: messageOf(error) });
    }
  }
}

/** Returns the number of a name's advisory lock, as text: it has 64 bits. */
function lockOf(name: string): string {
  const digest = createHash("sha256").update(`trunkline gateway ${name}`).digest();
  return digest.readBigInt64BE(0).toString();
}
