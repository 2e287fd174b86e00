// Which revisions are served, and in which era each is. Written here rather than taken from the client package, which would
// load the whole client before the first answer; a test keeps the two lists equal.

/** The revisions with a handshake, oldest first. */
export const LEGACY_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;

/** What a legacy client gets that asks for a revision nobody here knows. */
export const LATEST_LEGACY_REVISION = "2025-11-25";

/** The stateless revision. */
export const MODERN_REVISION = "2026-07-28";

/** What `server/discover` lists, and -32022 offers. */
export const MODERN_REVISIONS: readonly string[] = [MODERN_REVISION];

/** The one revision in which messages may come in batches. */
export const BATCH_REVISION = "2025-03-26";

/** Revisions are dates, so that their order is that of their text. */
export function isAtLeast(revision: string, since: string): boolean {
  return revision >= since;
}

/** Whether a revision of this name belongs to the modern era, known or not. */
export function isModernRevision(revision: string): boolean {
  return isAtLeast(revision, MODERN_REVISION);
}

/** The revision that a legacy client gets which asked for this one. */
export function negotiateLegacy(requested: unknown): string {
  return (LEGACY_REVISIONS as readonly unknown[]).includes(requested) ? (requested as string) : LATEST_LEGACY_REVISION;
}
