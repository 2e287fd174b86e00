// Makes a server's elicitation safe to show: it names the server, cannot pass for one of Trunkline's own questions, has
// no hidden characters and no dangerous links, and does not ask for a password in a form. Every channel gets the vetted
// question, whoever implements it.
import { isRecord, printable } from "@trunkline/core";
import { asksForSecret, isSecretField, isSecretNumber, looksLike } from "./secret-words.js";
import { defuseLinks, linkProblem } from "./web-links.js";

type Raw = Readonly<Record<string, unknown>>;

type Vetted = { readonly params: Raw } | { readonly refused: string };

/** More than anyone reads, and little enough for every client. */
const MAX_CHARS = 20_000;
/** Deeper than any form that the protocol allows. */
const MAX_DEPTH = 12;
const MAX_NAME_CHARS = 64;

/** How a server's message begins. Only our own questions begin with "Trunkline asks:". */
function askerOf(server: string): string {
  const isPlain = /^[\p{L}\p{N}][\p{L}\p{N}_.@/-]*$/u.test(server) && server.length <= MAX_NAME_CHARS;
  if (isPlain && !claimsToBeUs(server)) return `${server} asks: `;
  return `The server "${printable(server).slice(0, MAX_NAME_CHARS)}" asks: `;
}

/** Removes what {@link askerOf} put in front, for a program that names the server in its own way. */
export function withoutAsker(message: string, server: string): string {
  const asker = askerOf(server);
  return message.startsWith(asker) ? message.slice(asker.length) : message;
}

/** Vets the parameters of `elicitation/create`. A refusal says why, after "it". */
export function vetElicitation(params: Raw, server: string): Vetted {
  const said = typeof params.message === "string" ? params.message : "";
  if (params.mode === "url") {
    const { url } = params;
    const problem = typeof url === "string" ? linkProblem(url) : "it has no address";
    if (problem !== undefined) return { refused: `wants to open a page, but ${problem}` };
    // As it was checked: other readers could take another spelling for another address.
    const { host, href } = new URL(String(url));
    return { params: { ...params, url: href, message: `${spoken(said, server)}\n(This opens a page at ${host}.)` } };
  }
  if (params.mode !== undefined && params.mode !== "form") return { refused: "asks in an unknown mode" };
  const message = spoken(said, server);
  const { requestedSchema, url: _, ...rest } = params;
  if (requestedSchema === undefined) return { params: { ...rest, message } };
  if (!isRecord(requestedSchema)) return { refused: "has a form that is not an object" };
  const problem = formProblem(requestedSchema, said);
  if (problem !== undefined) return { refused: problem };
  return { params: { ...rest, message, requestedSchema: cleanSchema(requestedSchema) } };
}

/** A server's text behind its name. A line that claims to be spoken by someone gets the server's name, too. */
function spoken(text: string, server: string): string {
  const asker = askerOf(server);
  const lines = cleanLines(text).split("\n");
  return asker + lines.map((line, index) => (index > 0 && claimsSpeaker(line) ? `${asker}${line}` : line)).join("\n");
}

function claimsSpeaker(line: string): boolean {
  return claimsToBeUs(line.slice(0, 40)) || /^\W*\S+(?: \S+)? asks\b/i.test(line);
}

function claimsToBeUs(text: string): boolean {
  return looksLike(text)
    .replace(/1/g, "l")
    .replace(/[^a-z]/g, "")
    .includes("trunkline");
}

/** Not only control characters: some letters are blank, and joiners are needed between letters only. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\u2800]/gu;

function hasHidden(text: string): boolean {
  return text.search(HIDDEN) !== -1;
}

function cleanLines(text: string): string {
  const clean = text
    .slice(0, MAX_CHARS)
    .replace(/\r\n?/g, "\n")
    .replace(HIDDEN, (character) => (/[\n\t\u200c\u200d]/.test(character) ? character : ""))
    // Blank lines would move the server's name out of sight.
    .replace(/\n\s*\n(?:\s*\n)+/g, "\n\n");
  const more = text.length - MAX_CHARS;
  return defuseLinks(more > 0 ? `${clean}… (${more} more characters)` : clean);
}

function cleanLine(text: string): string {
  return cleanLines(text).replace(/\s+/g, " ").trim();
}

/** Fields whose text is shown. Values that the server gets back are not changed. */
const SHOWN = new Set(["title", "description", "default", "enumNames"]);

function cleanSchema(value: unknown, key = ""): unknown {
  if (typeof value === "string") return SHOWN.has(key) ? cleanLine(value) : value;
  if (Array.isArray(value)) return value.map((item) => cleanSchema(item, key));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, cleanSchema(inner, key === "properties" ? "" : name)]),
  );
}

/** Returns why a form is refused. */
function formProblem(schema: Raw, message: string): string | undefined {
  if (hidesText(schema, 0)) return "has a form with hidden characters in names or values";
  const fields = [...fieldsOf(schema)].filter(({ kind }) => kind !== "choice");
  if (fields.some(asksInField)) return ASKS;
  const around = [message, schema.title, schema.description].filter(isText);
  const isNumber = fields.every(({ kind }) => kind === "number");
  return fields.length > 0 && around.some((text) => asksForSecret(text, { isNumber })) ? ASKS : undefined;
}

interface Field {
  readonly name: string;
  readonly field: Raw;
  readonly kind: "text" | "number" | "choice";
}

/** Keys under which the names of fields are. */
const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions"]);

/**
 * The fields of a form. The protocol allows no nested ones, but a client may show them anyway, and those of `allOf`,
 * `items` or a definition. The form is not deeper than {@link MAX_DEPTH}.
 */
function* fieldsOf(schema: Raw): Generator<Field> {
  for (const [key, inner] of Object.entries(schema)) {
    const isNamed = NAMED.has(key) && isRecord(inner);
    for (const [name, field] of isNamed
      ? Object.entries(inner)
      : Array.isArray(inner)
        ? inner.entries()
        : [["", inner]])
      if (isRecord(field) && !("const" in field)) {
        const kind = kindOf(field);
        yield { name: isNamed ? String(name) : "", field, kind };
        if (kind !== "choice") yield* fieldsOf(field);
      } else if (isNamed) yield { name: String(name), field: {}, kind: "text" };
  }
}

/** Keys of a field whose value is not shown as a sentence. */
const NOT_SAID = new Set(["$ref", "$schema", "default", "format", "pattern", "title", "type"]);

function asksInField({ name, field, kind }: Field): boolean {
  const isNumber = kind === "number";
  const words = [name, field.title, ...(Array.isArray(field.examples) ? field.examples : [])].filter(isText);
  if (words.some(isNumber ? isSecretNumber : isSecretField)) return true;
  const sentences = Object.entries(field).flatMap(([key, value]) =>
    isText(value) && !NOT_SAID.has(key) ? [value] : [],
  );
  // A single word is a value, not a request.
  if (isText(field.default) && /\s/.test(field.default)) sentences.push(field.default);
  return sentences.some((text) => asksForSecret(text, { isNumber })) || (!isNumber && isMasked(field));
}

const ASKS = "asks for a password or another secret in a form";

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Whether the field takes free text, a number, or only one of the values that it lists. */
function kindOf({ type, enum: values, oneOf, anyOf, items }: Raw): "text" | "number" | "choice" {
  const types = (Array.isArray(type) ? type : [type]).filter((name) => name !== "null");
  if (types.length === 1 && (types[0] === "boolean" || types[0] === "null")) return "choice";
  if ((Array.isArray(values) && values.length > 0) || isConstants(oneOf) || isConstants(anyOf)) return "choice";
  if (types[0] === "array" && isRecord(items)) return kindOf(items);
  return types.length > 0 && types.every((name) => name === "number" || name === "integer") ? "number" : "text";
}

function isConstants(options: unknown): boolean {
  return (
    Array.isArray(options) && options.length > 0 && options.every((option) => isRecord(option) && "const" in option)
  );
}

function isMasked({ format, writeOnly }: Raw): boolean {
  return writeOnly === true || (isText(format) && isSecretField(format));
}

/** Whether names or values that cannot be cleaned have hidden characters. */
function hidesText(value: unknown, depth: number, key = ""): boolean {
  if (depth > MAX_DEPTH) return true;
  if (typeof value === "string") return !SHOWN.has(key) && hasHidden(value);
  if (Array.isArray(value)) return value.some((item) => hidesText(item, depth + 1, key));
  if (!isRecord(value)) return false;
  return Object.entries(value).some(
    ([name, inner]) => hasHidden(name) || hidesText(inner, depth + 1, key === "properties" ? "" : name),
  );
}
