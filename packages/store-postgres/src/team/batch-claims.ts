// Batches with an idempotency key, claimed by one gateway at a time.
import { abortError, type BatchClaim, type BatchKey } from "@trunkline/core";
import type { GatewayStates } from "./gateway-states.js";
import type { TeamSql } from "./team-sql.js";

/** A notification can get lost, and a gateway can end without one. */
const LOOK_MS = 1_000;

const OWN_ROW = "WHERE principal = $1 AND id = $2 AND run = $3";

interface BatchRow {
  readonly batch: string;
  readonly gateway: string | null;
  readonly run: string | null;
  readonly result: Uint8Array | null;
}

/** What this gateway does with a key. */
interface OwnClaim {
  /** Whether the batch runs here. */
  isRunning: boolean;
  /** The row may say that the batch runs here although it does not: the answer to a statement got lost. */
  isDoubtful: boolean;
  /** How many statements try to claim it. */
  claiming: number;
  clearing: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
}

export class BatchClaims {
  readonly #sql: TeamSql;
  readonly #states: GatewayStates;
  readonly #gateway: string;
  readonly #run: string;
  readonly #waiting = new Map<() => void, string>();
  readonly #own = new Map<string, OwnClaim>();
  #isClosed = false;

  constructor(sql: TeamSql, options: { states: GatewayStates; gateway: string; run: string }) {
    this.#sql = sql;
    this.#states = options.states;
    this.#gateway = options.gateway;
    this.#run = options.run;
  }

  async claim(key: BatchKey, keptMs: number): Promise<BatchClaim> {
    for (;;) {
      while (this.#mustClear(key)) await this.#clear(key);
      if (await this.#insert(key, keptMs)) return { kind: "claimed" };
      const [row] = await this.#sql.rows<BatchRow>(
        "SELECT batch, gateway, run, result FROM @batches WHERE principal = $1 AND id = $2 AND expires > now()",
        ...[key.principal, key.id],
      );
      // Released or expired in between.
      if (row === undefined) continue;
      const known = row.batch;
      if (row.result !== null) return { kind: "ended", batch: known, result: row.result };
      if (row.run !== this.#run || row.gateway === null) {
        return { kind: (await this.#isRunning(row)) ? "running" : "lost", batch: known };
      }
      const own = this.#own.get(keyOf(key));
      if (own !== undefined && (own.isRunning || own.claiming > 0)) return { kind: "running", batch: known };
      this.#ownOf(key).isDoubtful = true;
    }
  }

  async end(key: BatchKey, outcome: Uint8Array | "released" | "lost"): Promise<void> {
    const own = this.#ownOf(key);
    if (outcome === "released") {
      own.isRunning = false;
      own.isDoubtful = true;
      try {
        await this.#clear(key);
      } catch {
        // Tried again later: until then the row only makes others wait.
      }
      return;
    }
    const result = typeof outcome === "string" ? null : outcome;
    await this.#sql.change(
      `UPDATE @batches SET result = $4, gateway = NULL ${OWN_ROW}`,
      [key.principal, key.id, this.#run, result],
      ["batch", key.id],
    );
    own.isRunning = false;
    this.#settle(key);
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#own.values()) clearTimeout(timer);
  }

  /** Returns whether this gateway has claimed the batch now. */
  async #insert(key: BatchKey, keptMs: number): Promise<boolean> {
    const own = this.#ownOf(key);
    own.claiming++;
    try {
      const claimed = await this.#sql.rows(
        `INSERT INTO @batches AS b (principal, id, batch, gateway, run, expires)
         VALUES ($1, $2, $3, $4, $5, now() + $6::float8 * interval '1 ms')
         ON CONFLICT (principal, id) DO UPDATE SET batch = excluded.batch, gateway = excluded.gateway, run = excluded.run,
           result = NULL, expires = excluded.expires
         WHERE b.expires <= now() RETURNING 1`,
        ...[key.principal, key.id, key.batch, this.#gateway, this.#run, keptMs],
      );
      if (claimed.length === 0) return false;
      own.isRunning = true;
      own.isDoubtful = false;
      return true;
    } catch (error) {
      // It may have been claimed, but the batch does not run.
      own.isDoubtful ||= !own.isRunning;
      throw error;
    } finally {
      own.claiming--;
      if (own.isDoubtful) this.#clearLater(key);
      else this.#settle(key);
    }
  }

  #mustClear(key: BatchKey): boolean {
    const own = this.#own.get(keyOf(key));
    if (own === undefined) return false;
    return own.clearing !== undefined || (own.isDoubtful && !own.isRunning && own.claiming === 0);
  }

  /** Removes a row that says that the batch runs here. Claims wait for this, so it cannot remove a later one. */
  #clear(key: BatchKey): Promise<void> {
    const own = this.#ownOf(key);
    own.clearing ??= this.#sql
      .change(
        `DELETE FROM @batches ${OWN_ROW} AND gateway IS NOT NULL AND result IS NULL`,
        [key.principal, key.id, this.#run],
        ["batch", key.id],
      )
      .then(() => {
        own.isDoubtful = false;
      })
      .finally(() => {
        own.clearing = undefined;
        if (own.isDoubtful) this.#clearLater(key);
        else this.#settle(key);
      });
    return own.clearing;
  }

  #clearLater(key: BatchKey): void {
    const own = this.#ownOf(key);
    if (this.#isClosed || own.timer !== undefined) return;
    own.timer = setTimeout(() => {
      own.timer = undefined;
      // A failure is followed by another attempt.
      if (this.#mustClear(key)) this.#clear(key).catch(() => {});
      else if (own.isDoubtful && !own.isRunning) this.#clearLater(key);
      else this.#settle(key);
    }, LOOK_MS);
    own.timer.unref();
  }

  #ownOf(key: BatchKey): OwnClaim {
    const known = this.#own.get(keyOf(key));
    if (known !== undefined) return known;
    const own = { isRunning: false, isDoubtful: false, claiming: 0, clearing: undefined, timer: undefined };
    this.#own.set(keyOf(key), own);
    return own;
  }

  #settle(key: BatchKey): void {
    const { isRunning, isDoubtful, claiming, clearing } = this.#ownOf(key);
    if (isRunning || isDoubtful || claiming > 0 || clearing !== undefined) return;
    clearTimeout(this.#own.get(keyOf(key))?.timer);
    this.#own.delete(keyOf(key));
  }

  async changed({ id }: BatchKey, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(onChange);
      };
      const onChange = () => {
        settle();
        resolve();
      };
      const onAbort = () => {
        settle();
        reject(abortError(signal, "The batch"));
      };
      const timer = setTimeout(onChange, LOOK_MS);
      this.#waiting.set(onChange, id);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Wakes those who wait for this batch, or all. */
  wake(id: string | undefined): void {
    for (const [onChange, awaited] of [...this.#waiting]) if (id === undefined || id === awaited) onChange();
  }

  async #isRunning({ gateway, run }: BatchRow): Promise<boolean> {
    if (gateway === null) return false;
    const state = (await this.#states.look([gateway])).get(gateway);
    return state !== undefined && state.run === run && !state.isGone;
  }
}

function keyOf({ principal, id }: BatchKey): string {
  return JSON.stringify([principal, id]);
}
