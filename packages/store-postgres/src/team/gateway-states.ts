// Which gateways live. A living one holds an advisory lock on its own connection, which the database releases when the
// connection ends, so no clock is involved. A connection can also break while its gateway lives; it is back within seconds.
import { abortError, sleep } from "@trunkline/core";
import type { TeamSql } from "./team-sql.js";

/** How long the lock may be free before its gateway counts as gone. Gateways reconnect after a second. */
const SILENT_MS = 2_500;
const LOOK_AGAIN_MS = 500;
/** How long a gateway that was seen alive is taken to be so. Open exchanges are looked at anyway. */
const FRESH_MS = 500;

/** Whether the lock of `g`, a row of gateways, is held. The columns of pg_locks are the two halves of its number. */
export const IS_HELD = `EXISTS (SELECT 1 FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid::bigint = ((g.lock >> 32) & 4294967295) AND l.objid::bigint = (g.lock & 4294967295))`;

/** `run` changes when a gateway of the same name starts again. */
export interface GatewayState {
  readonly run: string;
  readonly isGone: boolean;
  /** The lock is free, but perhaps not for long. */
  readonly isSilent: boolean;
}

export class GatewayStates {
  readonly #sql: TeamSql;
  /** Since when a gateway has been silent, and when that was last seen, by run. */
  readonly #silent = new Map<string, { readonly since: number; readonly last: number }>();

  /** Until when a gateway is taken to be alive, by name. */
  readonly #alive = new Map<string, { readonly state: GatewayState; readonly untilMs: number }>();

  constructor(sql: TeamSql) {
    this.#sql = sql;
  }

  /** Returns the states of gateways by name. Unknown ones are missing. */
  async look(names: readonly string[]): Promise<ReadonlyMap<string, GatewayState>> {
    const rows = await this.#sql.rows<{ name: string; run: string; gone: boolean; held: boolean }>(
      `SELECT g.name, g.run, g.gone IS NOT NULL AS gone, ${IS_HELD} AS held FROM @gateways g WHERE g.name = ANY($1::text[])`,
      names,
    );
    const states = new Map<string, GatewayState>();
    for (const { name, run, gone, held } of rows) {
      const isSilent = !gone && !held;
      const isGone = gone || (isSilent && this.#isOver(run));
      if (!isSilent || isGone) this.#silent.delete(run);
      // Others need not wait again.
      if (isSilent && isGone)
        await this.#sql.rows(
          `UPDATE @gateways g SET gone = now() WHERE name = $1 AND run = $2 AND NOT ${IS_HELD}`,
          name,
          run,
        );
      const state = { run, isGone, isSilent: isSilent && !isGone };
      states.set(name, state);
      if (held && !gone) this.#alive.set(name, { state, untilMs: performance.now() + FRESH_MS });
      else this.#alive.delete(name);
    }
    return states;
  }

  /** Returns the state of one gateway, after it is certain. */
  async settled(name: string, signal: AbortSignal): Promise<GatewayState | undefined> {
    for (;;) {
      if (signal.aborted) throw abortError(signal, "The request to another gateway");
      const known = this.#alive.get(name);
      if (known !== undefined && performance.now() < known.untilMs) return known.state;
      const state = (await this.look([name])).get(name);
      if (state === undefined || !state.isSilent) return state;
      // Only rejects if it is aborted, which is reported above.
      await sleep(LOOK_AGAIN_MS, signal).catch(() => {});
    }
  }

  /** Something has changed: the next look asks the database. */
  forget(): void {
    this.#alive.clear();
  }

  #isOver(run: string): boolean {
    const now = performance.now();
    const known = this.#silent.get(run);
    // What was seen long ago says nothing about the time in between.
    const since = known === undefined || now - known.last > SILENT_MS ? now : known.since;
    this.#silent.set(run, { since, last: now });
    return now - since >= SILENT_MS;
  }
}
