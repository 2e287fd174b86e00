// Parameters that several operations share, checked and brought into one form.
import { TrunklineError } from "@trunkline/core";
import type { MetadataParam } from "./operations.js";

/** Metadata as an object. `key=value` gives a string; what is not of that form is `INVALID_ARGUMENT`. */
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

/** Tags without blanks around them and without empty ones. */
export function tagList(tags: readonly string[] | undefined): string[] {
  return [...new Set((tags ?? []).map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}

/** A whole number within bounds. */
export function wholeNumber(
  value: number | undefined,
  { name, from = 0, to = Number.MAX_SAFE_INTEGER }: { name: string; from?: number; to?: number },
): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && value >= from && value <= to) return value;
  throw new TrunklineError("INVALID_ARGUMENT", `${name} has to be a whole number from ${from} to ${to}, not ${value}.`);
}

/** `10-40`, `10-` or `10`: both ends included. */
export function parseRange(
  text: string,
  { name, first }: { name: string; first: 0 | 1 },
): { from: number; to: number } {
  const match = /^\s*(\d+)\s*(?:(-)\s*(\d+)?)?\s*$/.exec(text);
  const from = Number(match?.[1]);
  const to = match?.[2] === undefined ? from : match[3] === undefined ? Number.MAX_SAFE_INTEGER : Number(match[3]);
  if (match === null || from < first || to < from) {
    throw new TrunklineError("INVALID_ARGUMENT", `"${text}" is not a range of ${name}.`, {
      hint: `Use ${first}-40, ${first + 9}- or ${first + 9}; ${name} begin at ${first}.`,
    });
  }
  return { from, to };
}

/** A place in a listing that a later call goes on from; opaque to callers. */
export function encodeCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** Reads a cursor of the same operation. Throws `INVALID_ARGUMENT`. */
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
  throw new TrunklineError("INVALID_ARGUMENT", "This cursor is not one of this operation.", {
    hint: "Pass the cursor of the answer before, with the same parameters.",
  });
}
