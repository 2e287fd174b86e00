// Background work that fails is tried again after growing pauses, by the clock of the database, because the clocks of
// gateways can differ. Work that keeps failing is set aside: `status` reports it, and `repair` tries it again.
import { isTrunklineError, messageOf, printable } from "@trunkline/core";
import type { Sql } from "../database/sql.js";

export interface JobRow {
  readonly job: number;
  readonly entry: number;
  /** The state of the entry, if it still exists. */
  readonly state: number | null;
  /** How often it failed. */
  readonly attempts: number;
}

/** Pauses after each failed attempt. After the last one, the work is set aside. */
const PAUSES_S = [5, 30, 120, 600] as const;
const MAX_PROBLEM_CHARS = 500;
/** How soon to look again for work that another gateway has, which may have died. */
const OTHERS_MS = 2000;
const LONGEST_MS = 60_000;

/** Locks some due jobs that no other gateway has. `only`: this one. */
export async function lockJobs(sql: Sql, most: number, only?: number): Promise<readonly JobRow[]> {
  return await sql.rows<JobRow>(
    `SELECT j.id AS job, j.entry, e.state, j.attempts FROM jobs j LEFT JOIN entries e ON e.id = j.entry
     WHERE j.due <= clock_timestamp() AND ($2::bigint IS NULL OR j.id = $2::bigint)
     ORDER BY j.id LIMIT $1 FOR UPDATE OF j SKIP LOCKED`,
    most,
    only ?? null,
  );
}

/** Whether the failure has nothing to do with the work itself. */
export function isOutage(error: unknown): boolean {
  return isTrunklineError(error, "STORE_UNAVAILABLE") || isTrunklineError(error, "CLOSED");
}

/**
 * Notes a failed attempt, unless someone else who tried at the same time has noted it. Damaged content is set aside at
 * once: it does not heal.
 */
export async function noteFailure(sql: Sql, { job, attempts }: JobRow, error: unknown): Promise<void> {
  const isFinal = isTrunklineError(error, "IO") && error.data?.damaged === true;
  await sql.run(
    `UPDATE jobs SET attempts = attempts + 1, problem = $2,
       due = CASE WHEN $3 OR attempts >= $4 THEN 'infinity'::timestamptz
         ELSE clock_timestamp() + make_interval(secs => ($5::int[])[attempts + 1]) END
     WHERE id = $1 AND attempts = $6`,
    ...[job, printable(messageOf(error)).slice(0, MAX_PROBLEM_CHARS), isFinal, PAUSES_S.length, PAUSES_S, attempts],
  );
}

/** How much work is due, including what other gateways have. Work that failed and waits for its next attempt is not. */
export async function dueWork(sql: Sql): Promise<number> {
  const text = `SELECT (SELECT count(*) FROM jobs WHERE due <= clock_timestamp())
    + (SELECT count(*) FROM graph_files WHERE is_pending) AS due`;
  return (await sql.one<{ due: number }>(text)).due;
}

/** How long to wait before looking for work again; undefined if there is none that could become free. */
export async function nextLookMs(sql: Sql): Promise<number | undefined> {
  const { others, later } = await sql.one<{ others: boolean; later: number | null }>(
    `SELECT EXISTS (SELECT 1 FROM jobs WHERE due <= clock_timestamp())
         OR EXISTS (SELECT 1 FROM graph_files WHERE is_pending) AS others,
       (SELECT (extract(epoch FROM min(due) - clock_timestamp()) * 1000)::float8 FROM jobs
        WHERE attempts > 0 AND due > clock_timestamp() AND due < 'infinity') AS later`,
  );
  if (others) return OTHERS_MS;
  return later === null ? undefined : Math.min(Math.max(later, 0) + 1, LONGEST_MS);
}

interface NotIndexed {
  readonly documents: number;
  readonly problems: readonly { readonly path: string; readonly problem: string }[];
}

const SHOWN_PROBLEMS = 5;

/** What was set aside. Stored results of a principal are counted but not named. */
export async function setAside(sql: Sql): Promise<NotIndexed | undefined> {
  const from = `jobs j JOIN entries e ON e.id = j.entry AND e.state = 2 WHERE j.due = 'infinity'`;
  const { documents } = await sql.one<{ documents: number }>(`SELECT count(*) AS documents FROM ${from}`);
  if (documents === 0) return undefined;
  const problems = await sql.rows<{ path: string; problem: string }>(
    `SELECT d.path, coalesce(j.problem, '') AS problem FROM jobs j JOIN entries e ON e.id = j.entry AND e.state = 2
     JOIN documents d ON d.id = e.document
     WHERE j.due = 'infinity' AND NOT e.results ORDER BY d.path LIMIT ${SHOWN_PROBLEMS}`,
  );
  return { documents, problems };
}
