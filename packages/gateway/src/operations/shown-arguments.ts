// The arguments of a call, as a person who is asked about it sees them: every name, and of every long value its beginning,
// its end and its size. All of it is one line of JSON in which nothing looks like part of the question.
import { isRecord, printable } from "@trunkline/core";
import type { Params } from "../interfaces/operation.js";

/** Replaces known secrets in a text. */
export type Redact = (text: string) => string;

/** Beyond this a person no longer reads what is allowed. */
export const MOST_SHOWN_CHARS = 8_000;
/** A longer text or list is cut in its middle: at the larger length if everything fits then. */
const LONGEST_VALUES = [1_000, 200];
const SHOWN_BEGINNING = 120;
const SHOWN_END = 60;
/** A secret is recognized only as a whole, so this much is redacted before the ends of a text are cut off. */
const REDACTED_CHARS = 64 * 1024;

/**
 * Formats the arguments: required ones first, then the others that the schema declares, then the rest. Undefined if the
 * names and shortened values together are too long.
 */
export function shownArguments(
  params: Params,
  { schema, redact }: { readonly schema: unknown; readonly redact: Redact },
): string | undefined {
  const fields = inOrder(params, schema);
  for (const longestValue of LONGEST_VALUES) {
    const shown = new ShownText(redact, longestValue);
    shown.record(fields);
    if (!shown.isTooLong) return shown.text;
  }
  return undefined;
}

function inOrder(params: Params, schema: unknown): readonly (readonly [string, unknown])[] {
  const { required, properties } = isRecord(schema) ? schema : {};
  const declared = [
    ...(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []),
    ...(isRecord(properties) ? Object.keys(properties) : []),
  ];
  const names = new Set([...declared.filter((name) => Object.hasOwn(params, name)), ...Object.keys(params)]);
  return [...names].map((name) => [name, params[name]] as const).filter(([, value]) => value !== undefined);
}

/** Collects what is shown, and stops once it is too long. */
class ShownText {
  text = "";
  readonly #redact: Redact;
  readonly #longestValue: number;

  constructor(redact: Redact, longestValue: number) {
    this.#redact = redact;
    this.#longestValue = longestValue;
  }

  get isTooLong(): boolean {
    return this.text.length > MOST_SHOWN_CHARS;
  }

  /** Names are never cut or redacted: a name that is not shown could be the one that matters. */
  record(fields: readonly (readonly [string, unknown])[]): void {
    this.#list("{}", fields, ([name, value]) => {
      this.text += `${quoted(name)}: `;
      this.#value(value);
    });
  }

  #list<T>([open, close]: string, items: readonly T[], show: (item: T) => void): void {
    this.text += open;
    let separator = "";
    for (const item of items) {
      if (this.isTooLong) return;
      this.text += separator;
      show(item);
      separator = ", ";
    }
    this.text += close;
  }

  #value(value: unknown): void {
    if (typeof value === "string") this.text += this.#string(value);
    else if (isPlainRecord(value)) this.record(Object.entries(value));
    else if (!Array.isArray(value)) this.text += scalar(value);
    // Names in a list have to be seen, too. A list without any is a long value like others.
    else if (value.some((item) => typeof item === "object" && item !== null))
      this.#list("[]", value, (item) => this.#value(item));
    else this.text += this.#plainList(value);
  }

  #string(text: string): string {
    const whole = text.length <= REDACTED_CHARS ? this.#redact(text) : undefined;
    if (whole !== undefined && whole.length <= this.#longestValue) return quoted(whole);
    const head = charactersOf((whole ?? this.#redact(text.slice(0, REDACTED_CHARS))).slice(0, SHOWN_BEGINNING * 2));
    const tail = charactersOf((whole ?? this.#redact(text.slice(-REDACTED_CHARS))).slice(-SHOWN_END * 2));
    const cut = `${head.slice(0, SHOWN_BEGINNING).join("")} … ${tail.slice(-SHOWN_END).join("")}`;
    return `${quoted(cut)} (${counted(text.length)} characters)`;
  }

  /** Cut between items, so that what stands in quotes stays there. */
  #plainList(list: readonly unknown[]): string {
    const shown = (item: unknown) => (typeof item === "string" ? this.#string(item) : scalar(item));
    const first = taken(list, shown, this.#longestValue);
    if (first.length === list.length) return `[${first.join(", ")}]`;
    const head = taken(list, shown, SHOWN_BEGINNING);
    const tail = taken(list.slice(head.length).reverse(), shown, SHOWN_END).reverse();
    const more = list.length - head.length - tail.length;
    const middle = more === 0 ? [] : [`… ${counted(more)} more …`];
    return `[${[...head, ...middle, ...tail].join(", ")}] (${counted(list.length)} items)`;
  }
}

/** The first items that fit, at least one if there are any. */
function taken(list: readonly unknown[], shown: (item: unknown) => string, mostChars: number): string[] {
  const texts: string[] = [];
  let length = 0;
  for (const item of list) {
    const text = shown(item);
    length += text.length + 2;
    if (length > mostChars && texts.length > 0) break;
    texts.push(text);
  }
  return texts;
}

function scalar(value: unknown): string {
  const json = JSON.stringify(value) ?? "null";
  return typeof value === "object" && value !== null ? quoted(json) : json;
}

function counted(number: number): string {
  return number.toLocaleString("en-US");
}

/** The characters of a text that was cut, without the halves of surrogate pairs at its ends. */
function charactersOf(text: string): string[] {
  return [...text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "")];
}

function quoted(text: string): string {
  return printable(JSON.stringify(text));
}

function isPlainRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
