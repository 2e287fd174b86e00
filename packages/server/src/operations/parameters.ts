// Parameters that several operations share.
import type { Zod } from "./define.js";

/** A flag that is off unless given. */
export function flag(z: Zod, description: string) {
  return z.boolean().optional().meta({ default: false, description });
}

/** A whole number. */
export function count(
  z: Zod,
  description: string,
  { min = 0, max, initial }: { min?: number; max?: number; initial?: number } = {},
) {
  const number = max === undefined ? z.int().min(min) : z.int().min(min).max(max);
  return number.optional().meta({ ...(initial === undefined ? {} : { default: initial }), description });
}

/** Optional text. */
export function text(z: Zod, description: string) {
  return z.string().optional().describe(description);
}

/** An optional list of texts. */
export function texts(z: Zod, description: string) {
  return z.array(z.string()).optional().describe(description);
}

/** Metadata, in either of its forms. */
export function metadata(z: Zod, description: string) {
  return z
    .union([z.record(z.string(), z.unknown()), z.array(z.string())])
    .optional()
    .describe(description);
}

/** The session that an operation belongs to. */
export function session(z: Zod, description: string) {
  return z.union([z.boolean(), z.string()]).optional().describe(description);
}

/** Documents, as answers of other operations hold them, or their paths. What else they carry is of no concern. */
export function documents(z: Zod, description: string) {
  const name = z.string().optional();
  return z
    .array(z.object({ path: name, hash: name, collection: name }))
    .optional()
    .describe(description);
}

/** The filters of search, grep and list. */
export function filters(z: Zod) {
  return {
    collection: text(z, "Only this collection."),
    snapshot: text(z, "The documents as they were in this snapshot: id or label."),
    tags: texts(z, "Only documents with one of these tags."),
    match_all_tags: flag(z, "All of the tags have to be there."),
    metadata: metadata(z, 'Only documents with this metadata: an object, or ["key=value"].'),
    session: session(z, "Only documents of this session: its id, or true for the current one."),
  };
}

/** Other names for the filters, for sorting and for paging. */
export const FILTER_ALIASES = {
  tag: "tags",
  all_tags: "match_all_tags",
  session_id: "session",
  snapshot_id: "snapshot",
  ext: "extension",
  file_extension: "extension",
  next_cursor: "cursor",
  page_token: "cursor",
} as const;
