import { createHash } from "node:crypto";
import { TrunklineError } from "./errors.js";

declare const contentIdBrand: unique symbol;

/** The SHA-256 of the whole content: 64 lowercase hex digits, without a prefix. */
export type ContentId = string & { readonly [contentIdBrand]: "ContentId" };

/** The minimum length of an abbreviated id, see {@link parseContentIdPrefix}. */
const MIN_CONTENT_ID_PREFIX = 8;

const ALGORITHM_PREFIX = /^sha256[-:]/i;
const FULL_ID = /^[0-9a-f]{64}$/;
const PREFIX_ID = new RegExp(`^[0-9a-f]{${MIN_CONTENT_ID_PREFIX},64}$`);

/** Computes the id of these bytes; a string counts as its UTF-8 bytes. */
export function contentIdOf(bytes: Uint8Array | string): ContentId {
  return createHash("sha256").update(bytes).digest("hex") as ContentId;
}

/** Parses a full id, with or without a `sha256-` or `sha256:` prefix, in any case. Throws `INVALID_ARGUMENT`. */
export function parseContentId(text: string): ContentId {
  const digits = bareDigits(text);
  if (FULL_ID.test(digits)) return digits as ContentId;
  throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not a content id.`, {
    hint: 'A content id has 64 hex digits, optionally prefixed with "sha256-" or "sha256:".',
  });
}

/** Whether the text is a full content id in any accepted spelling. */
export function isContentId(text: string): boolean {
  return FULL_ID.test(bareDigits(text));
}

/** Parses an abbreviated id of at least 8 digits and returns its bare digits. Throws `INVALID_ARGUMENT`. */
export function parseContentIdPrefix(text: string): string {
  const digits = bareDigits(text);
  if (PREFIX_ID.test(digits)) return digits;
  throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not a content id or a prefix of one.`, {
    hint: `Give at least ${MIN_CONTENT_ID_PREFIX} hex digits.`,
  });
}

function bareDigits(text: string): string {
  return text.trim().replace(ALGORITHM_PREFIX, "").toLowerCase();
}
