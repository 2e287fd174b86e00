// Batches with an idempotency key, claimed by one gateway at a time.
import { abortError, type BatchClaim, type BatchKey } from "@trunkline/core";
import type { GatewayStates } from "./gateway-states.js";
import type { TeamSql } from "./team-sql.js";

/** A notification can get lost, and a gateway can end without one. */
const LOOK_MS = 1_000;

interface BatchRow {
  readonly batch: string;
  readonly gateway: string | null;
  readonly run: string | null;
  readonly result: Uint8Array | null;
}

export class BatchClaims {
  readonly #sql: TeamSql;
  readonly #states: GatewayStates;
  readonly #gateway: string;
  readonly #run: string;
  readonly #waiting = new Map<() => void, string>();

  constructor(sql: TeamSql, options: { states: GatewayStates; gateway: string; run: string }) {
    this.#sql = sql;
    this.#states = options.states;
    this.#gateway = options.gateway;
    this.#run = options.run;
  }

  async claim({ principal, id, batch }: BatchKey, keptMs: number): Promise<BatchClaim> {
    for (;;) {
      const claimed = await this.#sql.rows(
        `INSERT INTO @batches AS b (principal, id, batch, gateway, run, expires)
         VALUES ($1, $2, $3, $4, $5, now() + $6::float8 * interval '1 ms')
         ON CONFLICT (principal, id) DO UPDATE SET batch = excluded.batch, gateway = excluded.gateway, run = excluded.run,
           result = NULL, expires = excluded.expires
         WHERE b.expires <= now() RETURNING 1`,
        ...[principal, id, batch, this.#gateway, this.#run, keptMs],
      );
      if (claimed.length > 0) return { kind: "claimed" };
      const [row] = await this.#sql.rows<BatchRow>(
        "SELECT batch, gateway, run, result FROM @batches WHERE principal = $1 AND id = $2 AND expires > now()",
        ...[principal, id],
      );
      // Released or expired in between.
      if (row === undefined) continue;
      const known = row.batch;
      if (row.result !== null) return { kind: "ended", batch: known, result: row.result };
      return { kind: (await this.#isRunning(row)) ? "running" : "lost", batch: known };
    }
  }

  async end({ principal, id }: BatchKey, outcome: Uint8Array | "released" | "lost"): Promise<void> {
    const own = "WHERE principal = $1 AND id = $2 AND run = $3";
    const values = [principal, id, this.#run];
    const wake = ["batch", id] as const;
    if (outcome === "released") await this.#sql.change(`DELETE FROM @batches ${own}`, values, wake);
    else {
      const result = typeof outcome === "string" ? null : outcome;
      await this.#sql.change(`UPDATE @batches SET result = $4, gateway = NULL ${own}`, [...values, result], wake);
    }
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
    if (run === this.#run) return true;
    const state = (await this.#states.look([gateway])).get(gateway);
    return state !== undefined && state.run === run && !state.isGone;
  }
}
