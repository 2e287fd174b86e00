// Converts between the two spellings of the contract. TypeScript uses `includeContent` and `listSnapshots`; the wire,
// and so the CLI's JSON, uses `include_content` and `list_snapshots`. This is the only place that converts between
// them.

/** `include_content` as TypeScript spells it. */
export type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** An object with its own keys in camelCase; nested values are unchanged. */
export type CamelKeys<T> = { [Name in keyof T as Name extends string ? CamelCase<Name> : Name]: T[Name] };

/** Fields whose keys are user-defined or data, such as file extensions and headers. */
const OPAQUE: ReadonlySet<string> = new Set(["metadata", "headers", "fileTypes", "explain"]);

/** Fields that the wire spells like TypeScript, because the parameter of that name does. */
const KEPT: ReadonlySet<string> = new Set(["outputPath"]);

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Converts wire parameters to the form the store's methods take. Shallow, because no parameter contains an object with
 * keys of ours.
 */
export function fromWire(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [camelCase(name), value]));
}

/** Converts a result to its wire form, at every depth. */
export function toWire(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(toWire);
  if (typeof result !== "object" || result === null || ArrayBuffer.isView(result)) return result;
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) => [
      KEPT.has(name) ? name : snakeCase(name),
      OPAQUE.has(name) ? value : toWire(value),
    ]),
  );
}
