// A small JSON Schema validator for model answers and tool arguments. It ignores keywords it does not know: it rejects
// only what is certainly wrong, and servers validate for themselves.
import { isRecord } from "@trunkline/core";

export interface SchemaCheckOptions {
  /** Whether to check `pattern`. Not for untrusted schemas: a regular expression can take forever. Default: no. */
  patterns?: boolean | undefined;
}

const MAX_PROBLEMS = 8;
const MAX_DEPTH = 64;

/** Returns the problems with a value, each with its path; empty if there are none. */
export function schemaProblems(schema: unknown, value: unknown, options: SchemaCheckOptions = {}): string[] {
  return new Checker(schema, options).check(schema, value, "", 0).slice(0, MAX_PROBLEMS);
}

class Checker {
  readonly #root: unknown;
  readonly #patterns: boolean;

  constructor(root: unknown, { patterns = false }: SchemaCheckOptions) {
    this.#root = root;
    this.#patterns = patterns;
  }

  check(schema: unknown, value: unknown, path: string, depth: number): string[] {
    if (schema === false) return [`${at(path)} must not be present`];
    if (!isRecord(schema) || depth > MAX_DEPTH) return [];
    return [
      ...this.#reference(schema, value, path, depth),
      ...this.#kind(schema, value, path),
      ...this.#combined(schema, value, path, depth),
      ...(typeof value === "string" ? this.#string(schema, value, path) : []),
      ...(typeof value === "number" ? numberProblems(schema, value, path) : []),
      ...(Array.isArray(value) ? this.#list(schema, value, path, depth) : []),
      ...(isRecord(value) ? this.#object(schema, value, path, depth) : []),
    ];
  }

  #reference(schema: Record<string, unknown>, value: unknown, path: string, depth: number): string[] {
    if (typeof schema.$ref !== "string" || !schema.$ref.startsWith("#")) return [];
    const steps = schema.$ref
      .slice(1)
      .split("/")
      .slice(1)
      .map((step) => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~"));
    let target: unknown = this.#root;
    for (const step of steps) target = isRecord(target) && Object.hasOwn(target, step) ? target[step] : undefined;
    return this.check(target, value, path, depth + 1);
  }

  #kind(schema: Record<string, unknown>, value: unknown, path: string): string[] {
    const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => typeof type === "string");
    if (types.length > 0 && !types.some((type) => isOfType(type, value))) {
      return [`${at(path)} must be ${types.join(" or ")}, not ${typeName(value)}`];
    }
    if (Array.isArray(schema.enum) && !schema.enum.some((item) => same(item, value))) {
      return [`${at(path)} must be one of ${schema.enum.map((item) => JSON.stringify(item)).join(", ")}`];
    }
    if ("const" in schema && !same(schema.const, value)) return [`${at(path)} must be ${JSON.stringify(schema.const)}`];
    return [];
  }

  #combined(schema: Record<string, unknown>, value: unknown, path: string, depth: number): string[] {
    const problems: string[] = [];
    for (const part of listOf(schema.allOf)) problems.push(...this.check(part, value, path, depth + 1));
    for (const key of ["anyOf", "oneOf"]) {
      const choices = listOf(schema[key]);
      if (choices.length === 0) continue;
      const found = choices.map((choice) => this.check(choice, value, path, depth + 1));
      const fitting = found.filter((list) => list.length === 0).length;
      if (fitting === 0) problems.push(`${at(path)} matches none of the allowed forms (${found[0]?.[0] ?? ""})`);
      else if (key === "oneOf" && fitting > 1)
        problems.push(`${at(path)} matches ${fitting} forms but must match exactly one`);
    }
    if ("not" in schema && this.check(schema.not, value, path, depth + 1).length === 0) {
      problems.push(`${at(path)} matches a form it must not match`);
    }
    return problems;
  }

  #string(schema: Record<string, unknown>, value: string, path: string): string[] {
    const length = [...value].length;
    const problems: string[] = [];
    if (typeof schema.minLength === "number" && length < schema.minLength) {
      problems.push(`${at(path)} must have at least ${schema.minLength} characters`);
    }
    if (typeof schema.maxLength === "number" && length > schema.maxLength) {
      problems.push(`${at(path)} must have at most ${schema.maxLength} characters`);
    }
    if (this.#patterns && typeof schema.pattern === "string" && !matches(schema.pattern, value)) {
      problems.push(`${at(path)} must match ${schema.pattern}`);
    }
    return problems;
  }

  #list(schema: Record<string, unknown>, value: readonly unknown[], path: string, depth: number): string[] {
    const problems: string[] = [];
    if (typeof schema.minItems === "number" && value.length < schema.minItems) {
      problems.push(`${at(path)} must have at least ${schema.minItems} items`);
    }
    if (typeof schema.maxItems === "number" && value.length > schema.maxItems) {
      problems.push(`${at(path)} must have at most ${schema.maxItems} items`);
    }
    if (schema.uniqueItems === true && new Set(value.map(canonicalJson)).size < value.length) {
      problems.push(`${at(path)} must not contain duplicates`);
    }
    const first = listOf(schema.prefixItems);
    value.forEach((item, index) => {
      const itemSchema = index < first.length ? first[index] : schema.items;
      if (problems.length < MAX_PROBLEMS)
        problems.push(...this.check(itemSchema, item, `${path}[${index}]`, depth + 1));
    });
    return problems;
  }

  #object(schema: Record<string, unknown>, value: Record<string, unknown>, path: string, depth: number): string[] {
    const properties = isRecord(schema.properties) ? schema.properties : {};
    const problems = listOf(schema.required)
      .filter((key): key is string => typeof key === "string" && !Object.hasOwn(value, key))
      .map((key) => `${at(join(path, key))} is missing`);
    const open = isRecord(schema.patternProperties);
    for (const [key, item] of Object.entries(value)) {
      if (problems.length >= MAX_PROBLEMS) break;
      if (Object.hasOwn(properties, key))
        problems.push(...this.check(properties[key], item, join(path, key), depth + 1));
      else if (schema.additionalProperties === false && !open) {
        const known = Object.keys(properties);
        const names = known.length === 0 ? "there are none" : `known: ${known.slice(0, 20).join(", ")}`;
        problems.push(`${at(join(path, key))} is unknown (${names})`);
      } else if (!open) problems.push(...this.check(schema.additionalProperties, item, join(path, key), depth + 1));
    }
    return problems;
  }
}

function numberProblems(schema: Record<string, unknown>, value: number, path: string): string[] {
  const rules: readonly [string, (limit: number) => boolean, string][] = [
    ["minimum", (limit) => value >= limit, "at least"],
    ["maximum", (limit) => value <= limit, "at most"],
    ["exclusiveMinimum", (limit) => value > limit, "more than"],
    ["exclusiveMaximum", (limit) => value < limit, "less than"],
    [
      "multipleOf",
      (limit) => limit <= 0 || Math.abs(value / limit - Math.round(value / limit)) < 1e-9,
      "a multiple of",
    ],
  ];
  return rules.flatMap(([key, holds, words]) => {
    const limit = schema[key];
    return typeof limit === "number" && !holds(limit) ? [`${at(path)} must be ${words} ${limit}`] : [];
  });
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
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

/** Serializes a value as JSON with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_, item: unknown) =>
      isRecord(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) : item,
    ) ?? "null"
  );
}

function same(a: unknown, b: unknown): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function at(path: string): string {
  return path === "" ? "the value" : path;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch (error) {
    if (error instanceof URIError) return step;
    throw error;
  }
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch (error) {
    if (error instanceof SyntaxError) return true;
    throw error;
  }
}
