// What an operation takes and gives, on one line: enough to call most of them without asking for the schema.
import { signatureOf, typeOf } from "@trunkline/core";

type Schema = Readonly<Record<string, unknown>>;

const LONGEST = 300;
const DEEPEST = 3;
/** What may say more of the parameters than a list of them does. */
const COMBINING = ["allOf", "anyOf", "oneOf", "$ref", "if"];

/**
 * As much as a line holds: first what it gives is left out, then objects within parameters, then types, then parameters.
 * One that ends with `…` does not tell all that it takes.
 */
export function briefSignature(schema: Schema, outputSchema: Schema | undefined): string {
  const params = signatureOf(schema, { depth: DEEPEST });
  const shorter = [
    ...(outputSchema === undefined ? [] : [`${params} => ${typeOf(outputSchema, DEEPEST)}`]),
    params,
    signatureOf(schema),
    signatureOf(schema, { optionalTypes: false }),
  ];
  const fitting = shorter.find((text) => text.length <= LONGEST) ?? `${shorter.at(-1)?.slice(0, LONGEST)}…`;
  return COMBINING.some((key) => schema[key] !== undefined) && !fitting.endsWith("…") ? `${fitting} …` : fitting;
}
