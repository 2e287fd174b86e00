// Reads the fields of another program's entry. A field of the wrong type is skipped with a note, never an error: the
// file is not ours.
import { isRecord, withoutUndefined } from "@trunkline/core";
import { IMPORTED_FIELDS, type ServerEntry } from "../entry-fields.js";

/** An object from another program's file. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of one entry, with strings already translated to our syntax. */
export class EntryReader {
  readonly notes: string[] = [];
  readonly #fields: Fields;
  readonly #translate: (text: string, note: (message: string) => void) => string;

  constructor(fields: Fields, translate: (text: string, note: (message: string) => void) => string) {
    this.#fields = fields;
    this.#translate = translate;
  }

  /** Notes something the user should know about this entry. Duplicates are dropped. */
  note = (message: string): void => {
    if (!this.notes.includes(message)) this.notes.push(message);
  };

  /** Returns the value as in the file. */
  raw(key: string): unknown {
    return this.#fields[key];
  }

  /** Reads a string and translates it. */
  text(key: string): string | undefined {
    const value = this.#fields[key];
    if (typeof value === "string") return this.translate(value);
    if (value !== undefined && value !== null) this.note(`"${key}" is not a string and was skipped`);
    return undefined;
  }

  /** Reads a list of strings and translates them. */
  texts(key: string): string[] | undefined {
    const value = this.#fields[key];
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value) && value.every(isScalar)) return value.map((item) => this.translate(String(item)));
    this.note(`"${key}" is not a list of strings and was skipped`);
    return undefined;
  }

  /** Reads a table of strings and translates them. */
  map(key: string): Record<string, string> | undefined {
    const value = this.#fields[key];
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) {
      this.note(`"${key}" is not a table of strings and was skipped`);
      return undefined;
    }
    const entries: [string, string][] = [];
    for (const [name, item] of Object.entries(value)) {
      if (isScalar(item)) entries.push([name, this.translate(String(item))]);
      else this.note(`"${key}.${name}" is not a string and was skipped`);
    }
    return Object.fromEntries(entries);
  }

  /** Reads a list of names, untranslated. */
  names(key: string): string[] | undefined {
    const value = this.#fields[key];
    return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string")
      ? value
      : undefined;
  }

  flag(key: string): boolean | undefined {
    const value = this.#fields[key];
    return typeof value === "boolean" ? value : undefined;
  }

  /** Reads a duration in seconds, clamped to the range of our field. */
  seconds(key: string, unit: "s" | "ms", range: { min: number; max: number }): number | undefined {
    const value = this.#fields[key];
    if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) return undefined;
    const seconds = unit === "ms" ? value / 1000 : value;
    return Math.min(Math.max(seconds, range.min), range.max);
  }

  translate(text: string): string {
    return this.#translate(text, this.note);
  }
}

export const CONNECT_SECONDS = { min: 1, max: 600 };
export const CALL_SECONDS = { min: 1, max: Number.MAX_SAFE_INTEGER };

export type EntryFields = { readonly [Key in keyof ServerEntry]?: ServerEntry[Key] | undefined };

/**
 * Builds an entry from the fields that are set, in the order a person would write them; empty tables and lists are
 * dropped.
 */
export function entryOf(fields: EntryFields): ServerEntry {
  return Object.fromEntries(
    IMPORTED_FIELDS.flatMap((key) => {
      const value = fields[key];
      if (value === undefined || value === false) return [];
      if (typeof value === "object" && Object.keys(value).length === 0) return [];
      return [[key, value]];
    }),
  );
}

/** Builds a tool filter if there is anything to filter. */
export function toolFilter(allow: readonly string[] | undefined, deny: readonly string[] | undefined) {
  return withoutUndefined({ allow, deny });
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
