// The two spellings of the contract. TypeScript says `includeContent` and `listSnapshots`; the wire, and with it the
// command line's JSON, says `include_content` and `list_snapshots`. This is the only place that turns one into the other.

/** `include_content` as TypeScript writes it. */
export type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** An object with its own keys in camelCase; what is inside the values stays as it is. */
export type CamelKeys<T> = { [Name in keyof T as Name extends string ? CamelCase<Name> : Name]: T[Name] };

/** Their keys belong to the user, or are data: file extensions, headers. */
const OPAQUE: ReadonlySet<string> = new Set(["metadata", "headers", "fileTypes", "explain"]);

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Parameters from the wire as the store's methods take them. No parameter holds an object with names of ours. */
export function fromWire(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [camelCase(name), value]));
}

/** A result as the wire carries it, at every depth. */
export function toWire(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(toWire);
  if (typeof result !== "object" || result === null || ArrayBuffer.isView(result)) return result;
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) => [snakeCase(name), OPAQUE.has(name) ? value : toWire(value)]),
  );
}
