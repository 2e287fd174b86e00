// Validation and normalization of parameters that several operations share.
import { TrunklineError } from "@trunkline/core";
import type { MetadataParam } from "./operations.js";

/** Returns metadata as an object. `key=value` gives a string; any other form throws `INVALID_ARGUMENT`. */
export function metadataObject(metadata: MetadataParam | undefined): Record<string, unknown> {
  if (metadata === undefined) return {};
  if (!Array.isArray(metadata)) return { ...(metadata as Record<string, unknown>) };
  return Object.fromEntries(
    (metadata as readonly string[]).map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1)
        throw new TrunklineError("INVALID_ARGUMENT", `"${pair}" is not metadata.`, { hint: "Use key=value." });
      return [pair.slice(0, at).trim(), pair.slice(at + 1)];
    }),
  );
}

/** Trims the tags and drops empty ones. */
export function tagList(tags: readonly string[] | undefined): string[] {
  return [...new Set((tags ?? []).map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}

/** Checks that a value is an integer within bounds. */
export function wholeNumber(
  value: number | undefined,
  { name, from = 0, to = Number.MAX_SAFE_INTEGER }: { name: string; from?: number; to?: number },
): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && value >= from && value <= to) return value;
  throw new TrunklineError("INVALID_ARGUMENT", `${name} must be a whole number from ${from} to ${to}, not ${value}.`);
}

/** Parses `10-40`, `10-` or `10`; both ends are inclusive. */
export function parseRange(
  text: string,
  { name, first }: { name: string; first: 0 | 1 },
): { from: number; to: number } {
  const match = /^\s*(\d+)\s*(?:(-)\s*(\d+)?)?\s*$/.exec(text);
  const from = Number(match?.[1]);
  const to = match?.[2] === undefined ? from : match[3] === undefined ? Number.MAX_SAFE_INTEGER : Number(match[3]);
  if (match === null || from < first || to < from) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not a range of ${name}.`, {
      hint: `Use ${first}-40, ${first + 9}- or ${first + 9}; ${name} start at ${first}.`,
    });
  }
  return { from, to };
}

/** Encodes the position where a later call continues a listing. Opaque to callers. */
export function encodeCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** Decodes a cursor of the same operation. Throws `INVALID_ARGUMENT`. */
export function decodeCursor(cursor: string, length: number): (string | number)[] {
  try {
    const place = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as unknown;
    if (
      Array.isArray(place) &&
      place.length === length &&
      place.every((v) => typeof v === "string" || typeof v === "number")
    ) {
      return place;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new TrunklineError("INVALID_ARGUMENT", "This cursor does not belong to this operation.", {
    hint: "Pass the cursor of the previous answer, with the same parameters.",
  });
}
