// Paginates long lists. The cursor is an offset into the list; if the list changes in between, list_changed notifies
// the client.

/** Large enough that clients that ignore the cursor still get everything in most setups. */
const PAGE_SIZE = 1_000;

import { RPC_CODES, RpcError } from "@trunkline/protocol";

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** Returns the page for a cursor. Throws an `RpcError` for an invalid one. */
export function pageOf<T>(items: readonly T[], cursor: unknown): Page<T> {
  const start = cursor === undefined || cursor === null ? 0 : placeOf(cursor);
  if (start === undefined || (start > 0 && start >= items.length)) {
    throw new RpcError(RPC_CODES.invalidParams, "Invalid cursor. Start again without one.");
  }
  const end = start + PAGE_SIZE;
  return {
    items: start === 0 && items.length <= PAGE_SIZE ? items : items.slice(start, end),
    ...(end < items.length ? { nextCursor: Buffer.from(String(end)).toString("base64url") } : {}),
  };
}

function placeOf(cursor: unknown): number | undefined {
  if (typeof cursor !== "string") return undefined;
  const text = Buffer.from(cursor, "base64url").toString();
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}
