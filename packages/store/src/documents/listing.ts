import type { ListParams } from "../contract/index.js";
import { wholeNumber } from "../contract/params.js";

const DEFAULT_LIMIT = 100;

/** What the parameters of `list` ask for, apart from which documents. */
interface Listing {
  readonly limit: number;
  /** Without meaning if the listing continues at a cursor. */
  readonly offset: number;
  /** Only so many documents, the last indexed ones. */
  readonly recent: number | undefined;
  readonly sortBy: NonNullable<ListParams["sortBy"]>;
  readonly isDescending: boolean;
}

/** Reads the parameters of `list` for both engines. */
export function listingOf(params: ListParams): Listing {
  const recent = wholeNumber(params.recent, { name: "recent", from: 1 });
  const sortBy = params.sortBy ?? (recent === undefined ? "name" : "indexed");
  return {
    limit: wholeNumber(params.limit, { name: "limit", from: 1 }) ?? recent ?? DEFAULT_LIMIT,
    offset: wholeNumber(params.offset, { name: "offset" }) ?? 0,
    recent,
    sortBy,
    isDescending: (params.sortOrder ?? (sortBy === "name" ? "asc" : "desc")) === "desc",
  };
}
