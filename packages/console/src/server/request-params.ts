// The parameters of each request as values to check: what arrives over HTTP can be anything.
import { isRecord, TrunklineError } from "@trunkline/core";
import type { ParamsOf, RequestName } from "../contract/index.js";

type Kind = "string" | "boolean" | "count" | "strings" | "object";
/** `?` marks a parameter that may be absent. */
type Spec = Kind | `${Kind}?`;

const SPECS: { readonly [Name in RequestName]: { readonly [Key in keyof ParamsOf<Name>]-?: Spec } } = {
  overview: {},
  servers: { workspace: "string", connect: "boolean?" },
  "servers/act": { workspace: "string", server: "string", action: "string" },
  "servers/sign-in": { workspace: "string", server: "string" },
  "servers/add": { workspace: "string", server: "object", dryRun: "boolean?" },
  "servers/imports": { workspace: "string" },
  "servers/import": { workspace: "string", ids: "strings" },
  definitions: { workspace: "string" },
  "definitions/approve": { workspace: "string", id: "string", hash: "string" },
  calls: { workspace: "string", limit: "count", before: "string?" },
  "calls/details": { workspace: "string", id: "string" },
  "calls/days": { workspace: "string", days: "count" },
  "calls/record": { workspace: "string", on: "boolean" },
  tools: { workspace: "string", find: "string?" },
  "tools/definition": { workspace: "string", server: "string", tool: "string" },
  "tools/call": { workspace: "string", server: "string", tool: "string", arguments: "object" },
  operation: { workspace: "string", op: "string", params: "object" },
  questions: {},
  "questions/answer": { id: "string", answer: "object" },
  settings: { workspace: "string" },
  "settings/open": { workspace: "string", path: "string" },
  "settings/revoke": { workspace: "string", id: "string" },
};

const IS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  count: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  strings: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  object: isRecord,
};

const MEANINGS: Readonly<Record<Kind, string>> = {
  string: "a string",
  boolean: "true or false",
  count: "a whole number",
  strings: "a list of strings",
  object: "an object",
};

export function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(SPECS, name);
}

/** Returns the parameters of a request. Throws `INVALID_ARGUMENT` if one is missing, of another type or unknown. */
export function readParams<Name extends RequestName>(name: Name, value: unknown): ParamsOf<Name> {
  if (!isRecord(value)) throw invalid(`The parameters of ${name} must be an object.`);
  const specs: Readonly<Record<string, Spec>> = SPECS[name];
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(specs, key)) throw invalid(`${name} has no parameter "${key}".`);
  }
  for (const [key, spec] of Object.entries(specs)) {
    const isOptional = spec.endsWith("?");
    const kind = (isOptional ? spec.slice(0, -1) : spec) as Kind; // A spec without its mark is a kind.
    if (value[key] === undefined && isOptional) continue;
    if (!IS[kind](value[key])) throw invalid(`The parameter "${key}" of ${name} must be ${MEANINGS[kind]}.`);
  }
  return value as ParamsOf<Name>; // Checked above.
}

function invalid(message: string): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", message);
}
