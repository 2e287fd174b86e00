// Reads the fields of one entry of another program. What has the wrong type is left out with a note, never an error: the
// file belongs to somebody else.
import { isRecord } from "@trunkline/core";
import { WRITTEN_FIELDS } from "../fields.js";
import type { ServerEntry } from "../written-entry.js";

/** An object of another program's file. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of one entry, with texts already in our words. */
export class EntryReader {
  readonly notes: string[] = [];
  readonly #fields: Fields;
  readonly #translate: (text: string, note: (message: string) => void) => string;

  constructor(fields: Fields, translate: (text: string, note: (message: string) => void) => string) {
    this.#fields = fields;
    this.#translate = translate;
  }

  /** Remembers something that the user should know about this entry. Said once. */
  note = (message: string): void => {
    if (!this.notes.includes(message)) this.notes.push(message);
  };

  /** The value as the file has it. */
  raw(key: string): unknown {
    return this.#fields[key];
  }

  /** A text in our words. */
  text(key: string): string | undefined {
    const value = this.#fields[key];
    if (typeof value === "string") return this.translate(value);
    if (value !== undefined && value !== null) this.note(`"${key}" is not text and was left out`);
    return undefined;
  }

  /** A list of texts in our words. */
  texts(key: string): string[] | undefined {
    const value = this.#fields[key];
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value) && value.every(isScalar)) return value.map((item) => this.translate(String(item)));
    this.note(`"${key}" is not a list of texts and was left out`);
    return undefined;
  }

  /** A table of texts in our words. */
  map(key: string): Record<string, string> | undefined {
    const value = this.#fields[key];
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) {
      this.note(`"${key}" is not a table of texts and was left out`);
      return undefined;
    }
    const entries: [string, string][] = [];
    for (const [name, item] of Object.entries(value)) {
      if (isScalar(item)) entries.push([name, this.translate(String(item))]);
      else this.note(`"${key}.${name}" has no text and was left out`);
    }
    return Object.fromEntries(entries);
  }

  /** A list of names, as they are. */
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

  /** A duration in seconds, kept within what our field takes. */
  seconds(key: string, unit: "s" | "ms", range: { min: number; max: number }): number | undefined {
    const value = this.#fields[key];
    if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) return undefined;
    const seconds = unit === "ms" ? value / 1000 : value;
    return Math.min(Math.max(seconds, range.min), range.max);
  }

  /** Any text in our words. */
  translate(text: string): string {
    return this.#translate(text, this.note);
  }
}

/** Our `timeout`: seconds to connect. */
export const CONNECT_SECONDS = { min: 1, max: 600 };
/** Our `callTimeout`. */
export const CALL_SECONDS = { min: 1, max: Number.MAX_SAFE_INTEGER };

/** The fields of an entry, as far as they are known. */
export type EntryFields = { readonly [Key in keyof ServerEntry]?: ServerEntry[Key] | undefined };

/** The fields that are there, in the order in which a person would write them; empty tables and lists are left out. */
export function entryOf(fields: EntryFields): ServerEntry {
  return Object.fromEntries(
    WRITTEN_FIELDS.flatMap((key) => {
      const value = fields[key];
      if (value === undefined || value === false) return [];
      if (typeof value === "object" && Object.keys(value).length === 0) return [];
      return [[key, value]];
    }),
  );
}

/** A filter of tools, where there is anything to filter. */
export function toolFilter(allow: readonly string[] | undefined, deny: readonly string[] | undefined) {
  return { ...(allow === undefined ? {} : { allow }), ...(deny === undefined ? {} : { deny }) };
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
