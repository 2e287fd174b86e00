// Messages between gateways: rows that the recipient reads and deletes. A notification only says that there are some, so
// their size does not matter, and one that gets lost is made up for by the next look.
import type { Logger } from "@trunkline/core";
import type { TeamSql } from "./team-sql.js";

export type MessageKind = "request" | "cancel" | "part" | "end" | "none";

interface Message {
  /** The request that it belongs to, unique for its sender. */
  readonly exchange: string;
  readonly kind: MessageKind;
  /** Counts what one side sends in an exchange: a message that was sent twice is read once. */
  readonly number: number;
  readonly body: Uint8Array;
}

export interface ReceivedMessage extends Message {
  readonly sender: string;
}

interface MessageRow extends ReceivedMessage {
  readonly id: number;
}

export const NO_BODY = new Uint8Array();
const READ_AT_ONCE = 16;
const COLUMNS = 6;

export class Mailbox {
  readonly #sql: TeamSql;
  readonly #name: string;
  readonly #logger: Logger;
  readonly #receive: (message: ReceivedMessage) => void;
  /** Received, but perhaps not deleted. */
  readonly #received = new Set<number>();
  #reading: Promise<void> | undefined;
  #again = false;
  #isClosed = false;

  constructor(sql: TeamSql, options: { name: string; logger: Logger; receive: (message: ReceivedMessage) => void }) {
    this.#sql = sql;
    this.#name = options.name;
    this.#logger = options.logger;
    this.#receive = options.receive;
  }

  async send(recipient: string, messages: readonly Message[]): Promise<void> {
    const values = messages.flatMap(({ exchange, number, kind, body }) => [
      recipient,
      this.#name,
      exchange,
      number,
      kind,
      Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    ]);
    const rows = messages.map((_, at) => {
      const places = Array.from({ length: COLUMNS }, (__, column) => `$${at * COLUMNS + column + 1}`);
      return `(${places.join(", ")})`;
    });
    await this.#sql.change(
      `INSERT INTO @gateway_messages (recipient, sender, exchange, number, kind, body) VALUES ${rows.join(", ")}`,
      values,
      ["to", recipient],
    );
  }

  /** Receives what has arrived. Never rejects: after a failure the next look finds it. */
  async read(): Promise<void> {
    if (this.#isClosed) return;
    this.#again = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#reading;
  }

  async #readAll(): Promise<void> {
    try {
      while (this.#again && !this.#isClosed) {
        this.#again = false;
        while ((await this.#readSome()) === READ_AT_ONCE && !this.#isClosed);
      }
    } catch (error) {
      this.#logger.debug("cannot read messages of other gateways", { error });
    }
  }

  async #readSome(): Promise<number> {
    const rows = await this.#sql.rows<MessageRow>(
      `SELECT id, sender, exchange, number, kind, body FROM @gateway_messages WHERE recipient = $1
       ORDER BY id LIMIT ${READ_AT_ONCE}`,
      this.#name,
    );
    if (rows.length === 0) return 0;
    for (const { id, ...message } of rows) {
      if (this.#received.has(id)) continue;
      this.#received.add(id);
      try {
        this.#receive(message);
      } catch (error) {
        // One message must not keep the others from being read.
        this.#logger.error("a message of another gateway could not be handled", { error });
      }
    }
    const ids = rows.map(({ id }) => id);
    await this.#sql.rows("DELETE FROM @gateway_messages WHERE id = ANY($1::bigint[])", ids);
    for (const id of ids) this.#received.delete(id);
    return rows.length;
  }
}
