// Long lists in pages. The cursor is a place in the list: where the list changes meanwhile, list_changed tells.

/** Clients that ignore the cursor still get what most people have. */
const PAGE_SIZE = 1_000;

/** One page. */
import { RPC_CODES, RpcError } from "@trunkline/protocol";

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** The page that a cursor stands for. Throws an `RpcError` for one that is none of ours. */
export function pageOf<T>(items: readonly T[], cursor: unknown): Page<T> {
  const start = cursor === undefined || cursor === null ? 0 : placeOf(cursor);
  if (start === undefined || (start > 0 && start >= items.length)) {
    throw new RpcError(RPC_CODES.invalidParams, "This cursor stands for no page. Begin again without one.");
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
