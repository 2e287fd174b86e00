// Statements of a team. Most are single ones that commit by themselves: a relayed call takes as few round trips as possible.
import { type Database, SCHEMA, storeError } from "../database/sql.js";

/** Wakes gateways. The payload says for what; an empty one stands for everything. */
export const TEAM_CHANNEL = "trunkline_team";

type Wake = "to" | "batch" | "gone";

export class TeamSql {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Runs one statement. `@` before a name stands for the store's schema. Rejects with a store error. */
  async rows<R>(text: string, ...values: readonly unknown[]): Promise<R[]> {
    const { driver } = this.#database;
    try {
      const { rows } = await driver.use((connection) => connection.query(inSchema(text), values));
      return rows as R[];
    } catch (error) {
      throw storeError(error, driver.place);
    }
  }

  /** Runs a statement that changes rows, and wakes gateways if it did. */
  async change(text: string, values: readonly unknown[], [what, whom]: readonly [Wake, string]): Promise<void> {
    const place = values.length + 1;
    await this.rows(
      `WITH changed AS (${text} RETURNING 1)
       SELECT pg_notify('${TEAM_CHANNEL}', $${place}) FROM (SELECT count(*) AS n FROM changed) c WHERE n > 0`,
      ...values,
      `${what} ${whom}`,
    );
  }
}

export function inSchema(text: string): string {
  return text.replace(/@(?=[a-z])/g, `${SCHEMA}.`);
}
