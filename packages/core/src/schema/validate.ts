// The validator for JSON Schema. It ignores keywords it does not know: it rejects only what is certainly wrong, and
// servers validate for themselves. Schemas may be hostile, so they get a limited amount of work.
import { canonicalJson, isRecord } from "../json.js";
import { limitProblems } from "./value-limits.js";

export interface ValidationOptions {
  /** Whether the schema is ours, so that every `pattern` may be run. Default: only those that are certain to be quick. */
  trusted?: boolean;
  /** Whether integers have to be small enough to be exact. Default: no. */
  exact?: boolean;
}

export interface SchemaProblem {
  readonly path: readonly (string | number)[];
  readonly kind: "missing" | "unknown" | "wrong";
  /** What is wrong, to be read after the name of the value: `must be at least 3`. */
  readonly text: string;
}

const MAX_PROBLEMS = 8;
const MAX_DEPTH = 64;
/** A schema that combines itself with itself would take forever. */
const MAX_STEPS = 200_000;

/** Returns the problems with a value as sentences without their ends, such as `a[1] must be number, not string`. */
export function schemaProblems(schema: unknown, value: unknown, options: ValidationOptions = {}): string[] {
  return validate(schema, value, options).map(({ path, text }) => `${pathText(path) || "the value"} ${text}`);
}

/** Returns the first few problems with a value; empty if there are none. */
export function validate(schema: unknown, value: unknown, options: ValidationOptions = {}): readonly SchemaProblem[] {
  return new Checker(schema, options).check(schema, value, []).slice(0, MAX_PROBLEMS);
}

/** Formats a path as people write it: `documents[0].hash`. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
}

type Schema = Readonly<Record<string, unknown>>;
type Path = SchemaProblem["path"];

class Checker {
  readonly #root: unknown;
  readonly #options: ValidationOptions;
  #depth = 0;
  #steps = 0;

  constructor(root: unknown, options: ValidationOptions) {
    this.#root = root;
    this.#options = options;
  }

  check(schema: unknown, value: unknown, path: Path): SchemaProblem[] {
    if (schema === false) return [wrong(path, "must not be present")];
    if (!isRecord(schema) || this.#depth > MAX_DEPTH || ++this.#steps > MAX_STEPS) return [];
    this.#depth++;
    const problems = [
      ...this.#reference(schema, value, path),
      ...kindProblems(schema, value, this.#options).map((text) => wrong(path, text)),
      ...this.#combined(schema, value, path),
      ...limitProblems(schema, value, this.#options).map((text) => wrong(path, text)),
      ...(Array.isArray(value) ? this.#items(schema, value, path) : []),
      ...(isRecord(value) ? this.#properties(schema, value, path) : []),
    ];
    this.#depth--;
    return problems;
  }

  #reference({ $ref: reference }: Schema, value: unknown, path: Path): SchemaProblem[] {
    if (typeof reference !== "string" || !reference.startsWith("#")) return [];
    const steps = reference
      .slice(1)
      .split("/")
      .slice(1)
      .map((step) => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~"));
    let target: unknown = this.#root;
    for (const step of steps) target = isRecord(target) && Object.hasOwn(target, step) ? target[step] : undefined;
    return this.check(target, value, path);
  }

  #combined(schema: Schema, value: unknown, path: Path): SchemaProblem[] {
    const problems = list(schema.allOf).flatMap((part) => this.check(part, value, path));
    for (const key of ["anyOf", "oneOf"]) {
      const choices = list(schema[key]);
      if (choices.length === 0) continue;
      const found = choices.map((choice) => this.check(choice, value, path));
      const fitting = found.filter((each) => each.length === 0).length;
      if (fitting === 0) {
        const [first] = found[0] ?? [];
        const why = first === undefined ? "" : `${pathText(first.path) || "the value"} ${first.text}`;
        problems.push(wrong(path, `matches none of the allowed forms (${why})`));
      } else if (key === "oneOf" && fitting > 1)
        problems.push(wrong(path, `matches ${fitting} forms but must match exactly one`));
    }
    if ("not" in schema && this.check(schema.not, value, path).length === 0)
      problems.push(wrong(path, "matches a form it must not match"));
    return problems;
  }

  #items(schema: Schema, value: readonly unknown[], path: Path): SchemaProblem[] {
    const problems: SchemaProblem[] = [];
    const first = list(schema.prefixItems);
    for (const [index, item] of value.entries()) {
      if (problems.length >= MAX_PROBLEMS) break;
      const itemSchema = index < first.length ? first[index] : schema.items;
      problems.push(...this.check(itemSchema, item, [...path, index]));
    }
    return problems;
  }

  #properties(schema: Schema, value: Schema, path: Path): SchemaProblem[] {
    const properties = isRecord(schema.properties) ? schema.properties : {};
    const problems = list(schema.required)
      .filter((key): key is string => typeof key === "string" && !has(value, key))
      .map((key): SchemaProblem => ({ path: [...path, key], kind: "missing", text: "is missing" }));
    const open = isRecord(schema.patternProperties);
    for (const [key, item] of Object.entries(value)) {
      if (problems.length >= MAX_PROBLEMS) break;
      if (item === undefined) continue;
      const at = [...path, key];
      if (Object.hasOwn(properties, key)) problems.push(...this.check(properties[key], item, at));
      else if (schema.additionalProperties === false && !open) {
        const known = Object.keys(properties);
        const names = known.length === 0 ? "there are none" : `known: ${known.slice(0, 20).join(", ")}`;
        problems.push({ path: at, kind: "unknown", text: `is unknown (${names})` });
      } else if (!open) problems.push(...this.check(schema.additionalProperties, item, at));
    }
    return problems;
  }
}

/** JSON has no undefined values. */
function has(value: Schema, key: string): boolean {
  return Object.hasOwn(value, key) && value[key] !== undefined;
}

function wrong(path: Path, text: string): SchemaProblem {
  return { path, kind: "wrong", text };
}

function kindProblems(schema: Schema, value: unknown, { exact = false }: ValidationOptions): string[] {
  const types = [schema.type].flat().filter((type) => typeof type === "string");
  if (types.length > 0 && !types.some((type) => hasType(type, value, exact)))
    return [`must be ${types.join(" or ")}, not ${typeName(value)}`];
  if (Array.isArray(schema.enum) && !schema.enum.some((item) => isSame(item, value)))
    return [`must be one of ${schema.enum.map((item) => JSON.stringify(item)).join(", ")}`];
  return "const" in schema && !isSame(schema.const, value) ? [`must be ${JSON.stringify(schema.const)}`] : [];
}

function hasType(type: unknown, value: unknown, exact: boolean): boolean {
  switch (type) {
    case "integer":
      return exact ? Number.isSafeInteger(value) : Number.isInteger(value);
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return true;
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch (error) {
    if (error instanceof URIError) return step;
    throw error;
  }
}
