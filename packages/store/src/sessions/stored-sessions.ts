// Sessions in the content database: what was added, changed and pinned in a period of work. Changes to them run in the
// writer.
import { randomBytes } from "node:crypto";
import { TrunklineError } from "@trunkline/core";
import type { SessionInfo, SessionSummary } from "../contract/index.js";
import { wholeNumber } from "../contract/params.js";
import { hexOf, resolveContent } from "../engine/sqlite/contents.js";
import type { Db } from "../engine/sqlite/database.js";
import { oneDocument } from "../engine/sqlite/find-document.js";
import { ownsSession, sessionPrefix, type Viewer } from "../engine/sqlite/visibility.js";
import type { ReadEnvironment } from "../engine/threads/thread-context.js";
import type { WriteContext } from "../engine/writing/write-queue.js";

interface SessionRow {
  readonly id: string;
  readonly label: string | null;
  readonly started: number;
  readonly stopped: number | null;
}

export function startSession(
  { truth }: WriteContext,
  { label, viewer }: { label?: string; viewer?: Viewer },
): { sessionId: string } {
  const id = `${sessionPrefix(viewer)}${randomBytes(8).toString("hex")}`;
  truth.run("INSERT INTO sessions (id, label, started) VALUES (?, ?, ?)", id, label ?? null, Date.now());
  return { sessionId: id };
}

const DEFAULT_LIMIT = 100;

const SESSIONS = `SELECT s.*, (SELECT count(*) FROM session_documents d WHERE d.session = s.id) AS documents,
  (SELECT count(*) FROM pins p WHERE p.session = s.id) AS pinned FROM sessions s`;

/** Lists sessions, newest first. `open`: only open ones. */
export function listSessions(
  { truth }: ReadEnvironment,
  params: { limit?: number; open?: boolean },
): { sessions: readonly SessionInfo[]; total: number } {
  const limit = wholeNumber(params.limit, { name: "limit", from: 1 }) ?? DEFAULT_LIMIT;
  const where = params.open ? "WHERE s.stopped IS NULL" : "";
  return truth.reading(() => {
    const rows = truth.all<SessionRow & { documents: number; pinned: number }>(
      `${SESSIONS} ${where} ORDER BY s.started DESC, s.id LIMIT ?`,
      limit,
    );
    const { total } = truth.one<{ total: number }>(`SELECT count(*) AS total FROM sessions s ${where}`);
    const sessions = rows.map((row) => ({
      sessionId: row.id,
      label: row.label,
      started: new Date(row.started).toISOString(),
      stopped: row.stopped === null ? null : new Date(row.stopped).toISOString(),
      documents: row.documents,
      pinned: row.pinned,
    }));
    return { sessions, total };
  });
}

/** Checks that a session is open. */
export function resumeSession({ truth }: ReadEnvironment, { session }: { session: string }): { sessionId: string } {
  if (requireSession(truth, session).stopped === null) return { sessionId: session };
  throw new TrunklineError("INVALID_ARGUMENT", `The session "${session}" has been stopped.`, {
    hint: "Start a new one; documents added later belong to it.",
  });
}

/** Ends a session. Its documents stay, and its pins remain until they are removed. */
export function stopSession({ truth }: WriteContext, { session }: { session: string }): SessionSummary {
  const row = requireSession(truth, session);
  const stopped = row.stopped ?? Date.now();
  truth.run("UPDATE sessions SET stopped = ? WHERE id = ?", stopped, session);
  const paths = (change: string) =>
    truth
      .all<{ path: string }>(
        `SELECT d.path FROM session_documents s JOIN documents d ON d.id = s.document
         WHERE s.session = ? AND s.change = ? ORDER BY d.path`,
        session,
        change,
      )
      .map((document) => document.path);
  const pinned = truth.all<{ hash: Uint8Array }>(
    "SELECT c.hash FROM pins p JOIN contents c ON c.id = p.content WHERE p.session = ? ORDER BY p.pinned",
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

interface PinParams {
  readonly session: string;
  readonly hash?: string;
  readonly path?: string;
  readonly absolute?: string;
  readonly viewer?: Viewer;
}

export function pinContent({ truth }: WriteContext, params: PinParams): { hash: string; pinned: boolean } {
  requireSession(truth, params.session, params.viewer);
  const content = contentMeant(truth, params);
  truth.run("INSERT OR IGNORE INTO pins VALUES (?, ?, ?)", params.session, content.id, Date.now());
  return { hash: hexOf(content.hash), pinned: true };
}

export function unpinContent({ truth }: WriteContext, params: PinParams): { hash: string; pinned: boolean } {
  requireSession(truth, params.session, params.viewer);
  const content = contentMeant(truth, params);
  const { changes } = truth.run("DELETE FROM pins WHERE session = ? AND content = ?", params.session, content.id);
  if (changes === 0) {
    throw new TrunklineError("NOT_FOUND", `${hexOf(content.hash)} is not pinned in this session.`);
  }
  return { hash: hexOf(content.hash), pinned: false };
}

function contentMeant(truth: Db, { hash, path, absolute, viewer }: PinParams): { id: number; hash: Uint8Array } {
  if ((hash === undefined) === (path === undefined)) {
    throw new TrunklineError("INVALID_ARGUMENT", "Give a hash or a path.");
  }
  if (hash !== undefined) return resolveContent(truth, hash);
  const document = oneDocument(truth, path as string, { absolute, viewer });
  return truth.one(
    "SELECT c.id, c.hash FROM versions v JOIN contents c ON c.id = v.content WHERE v.id = ?",
    document.version,
  );
}

function requireSession(truth: Db, id: string, viewer?: Viewer): SessionRow {
  const row = !ownsSession(viewer, id) ? undefined : truth.get<SessionRow>("SELECT * FROM sessions WHERE id = ?", id);
  if (row === undefined) {
    throw new TrunklineError("NOT_FOUND", `The store has no session "${id}".`, {
      hint: "Run trunkline store sessions to list them.",
    });
  }
  return row;
}
