// Sessions: what was added, changed and pinned in a period of work.
import { randomBytes } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import type { ListSessionsResult, PinResult, SessionSummary } from "@trunkline/store/contract";
import { sessionPrefix, type Viewer, wholeNumber } from "@trunkline/store/parts";
import { oneDocument } from "../contents/named-documents.js";
import { contentById, hexOf, resolveContent } from "../contents/pg-contents.js";
import type { Sql } from "../database/sql.js";

interface SessionRow {
  readonly id: string;
  readonly label: string | null;
  readonly started: number;
  readonly stopped: number | null;
}

const DEFAULT_LIMIT = 100;

export async function startSession(
  sql: Sql,
  { label, viewer }: { label?: string; viewer?: Viewer },
): Promise<{ sessionId: string }> {
  const id = `${sessionPrefix(viewer)}${randomBytes(8).toString("hex")}`;
  await sql.run("INSERT INTO sessions (id, label, started) VALUES ($1, $2, $3)", id, label ?? null, Date.now());
  return { sessionId: id };
}

/** Lists sessions, newest first. `open`: only open ones. */
export async function listSessions(sql: Sql, params: { limit?: number; open?: boolean }): Promise<ListSessionsResult> {
  const limit = wholeNumber(params.limit, { name: "limit", from: 1 }) ?? DEFAULT_LIMIT;
  const where = params.open ? "WHERE s.stopped IS NULL" : "";
  const rows = await sql.rows<SessionRow & { documents: number; pinned: number }>(
    `SELECT s.*, (SELECT count(*) FROM session_documents d WHERE d.session = s.id) AS documents,
       (SELECT count(*) FROM pins p WHERE p.session = s.id) AS pinned
     FROM seen_sessions s ${where} ORDER BY s.started DESC, s.id LIMIT $1`,
    limit,
  );
  const { total } = await sql.one<{ total: number }>(`SELECT count(*) AS total FROM seen_sessions s ${where}`);
  const sessions = rows.map((row) => ({
    sessionId: row.id,
    label: row.label,
    started: new Date(row.started).toISOString(),
    stopped: row.stopped === null ? null : new Date(row.stopped).toISOString(),
    documents: row.documents,
    pinned: row.pinned,
  }));
  return { sessions, total };
}

/** Checks that a session is open. */
export async function resumeSession(sql: Sql, { session }: { session: string }): Promise<{ sessionId: string }> {
  if ((await requireSession(sql, session)).stopped === null) return { sessionId: session };
  throw new TrunklineError("INVALID_ARGUMENT", `The session "${session}" has been stopped.`, {
    hint: "Start a new one; documents added later belong to it.",
  });
}

/** Ends a session. Its documents stay, and its pins remain until they are removed. */
export async function stopSession(sql: Sql, { session }: { session: string }): Promise<SessionSummary> {
  const row = await requireSession(sql, session);
  const stopped = row.stopped ?? Date.now();
  await sql.run("UPDATE sessions SET stopped = $2 WHERE id = $1", session, stopped);
  const changes = await sql.rows<{ path: string; change: string }>(
    `SELECT d.path, s.change FROM session_documents s JOIN documents d ON d.id = s.document
     WHERE s.session = $1 ORDER BY d.path`,
    session,
  );
  const paths = (change: string) => changes.filter((each) => each.change === change).map(({ path }) => path);
  const pinned = await sql.rows<{ hash: Uint8Array }>(
    "SELECT c.hash FROM pins p JOIN contents c ON c.id = p.content WHERE p.session = $1 ORDER BY p.pinned",
    session,
  );
  return {
    sessionId: session,
    label: row.label,
    started: new Date(row.started).toISOString(),
    stopped: new Date(stopped).toISOString(),
    added: paths("added"),
    changed: paths("changed"),
    removed: paths("removed"),
    pinned: pinned.map(({ hash }) => hexOf(hash)),
  };
}

interface ResolvedPinParams {
  readonly session: string;
  readonly hash?: string;
  readonly path?: string;
  readonly absolute?: string;
}

export async function pinContent(sql: Sql, params: ResolvedPinParams): Promise<PinResult> {
  const content = await contentMeant(sql, params);
  const text = "INSERT INTO pins VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
  await sql.run(text, params.session, content.id, Date.now());
  return { hash: hexOf(content.hash), pinned: true };
}

export async function unpinContent(sql: Sql, params: ResolvedPinParams): Promise<PinResult> {
  const content = await contentMeant(sql, params);
  const count = await sql.run("DELETE FROM pins WHERE session = $1 AND content = $2", params.session, content.id);
  if (count === 0) throw new TrunklineError("NOT_FOUND", `${hexOf(content.hash)} is not pinned in this session.`);
  return { hash: hexOf(content.hash), pinned: false };
}

async function contentMeant(sql: Sql, { session, hash, path, absolute }: ResolvedPinParams) {
  await requireSession(sql, session);
  if ((hash === undefined) === (path === undefined)) {
    throw new TrunklineError("INVALID_ARGUMENT", "Give a hash or a path.");
  }
  if (hash !== undefined) return await resolveContent(sql, hash);
  const document = await oneDocument(sql, path as string, { absolute });
  const { content } = await sql.one<{ content: number }>(
    "SELECT content FROM versions WHERE id = $1",
    document.version,
  );
  return await contentById(sql, content);
}

async function requireSession(sql: Sql, id: string): Promise<SessionRow> {
  const row = await sql.get<SessionRow>("SELECT * FROM seen_sessions WHERE id = $1", id);
  if (row !== undefined) return row;
  throw new TrunklineError("NOT_FOUND", `The store has no session "${id}".`, {
    hint: "Run trunkline store sessions to list them.",
  });
}
