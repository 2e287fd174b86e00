// The signature of a found operation: enough to call it, on one line.
import { signatureOf, typeOf } from "@trunkline/core";

const LONGEST_SIGNATURE = 300;
const DEEPEST_TYPE = 3;
/** Keywords that can constrain the parameters beyond the listed ones. */
const COMBINING = ["allOf", "anyOf", "oneOf", "$ref", "if"];

/**
 * Builds a signature short enough for one line: omits the output first, then hints, nested objects, types and
 * parameters. A signature that ends with `…` is incomplete.
 */
export function briefSignature(
  schema: Readonly<Record<string, unknown>>,
  outputSchema: Readonly<Record<string, unknown>> | undefined,
): string {
  const hinted = signatureOf(schema, { depth: DEEPEST_TYPE, hints: true });
  const shorter = [
    ...(outputSchema === undefined ? [] : [`${hinted} => ${typeOf(outputSchema, DEEPEST_TYPE)}`]),
    hinted,
    signatureOf(schema, { depth: DEEPEST_TYPE }),
    signatureOf(schema),
    signatureOf(schema, { optionalTypes: false }),
  ];
  const fitting =
    shorter.find((text) => text.length <= LONGEST_SIGNATURE) ?? `${shorter.at(-1)?.slice(0, LONGEST_SIGNATURE)}…`;
  return COMBINING.some((key) => schema[key] !== undefined) && !fitting.endsWith("…") ? `${fitting} …` : fitting;
}
