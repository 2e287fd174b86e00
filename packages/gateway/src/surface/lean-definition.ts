// The short form of a tool's definition: the first sentence, and of each parameter its name, type, values and whether it
// is required. Nothing in it differs from the full definition, which `describe` shows.
import { isRecord } from "@trunkline/core";
import type { ServedTool } from "../interfaces/served-tool.js";

type Definition = ServedTool["definition"];
type Raw = Readonly<Record<string, unknown>>;

/** In characters. A longer sentence is cut between words. */
const LONGEST_SENTENCE = 200;
/** Deeper parts of a schema accept anything. */
const MOST_DEPTH = 8;

/** Returns the short form of a definition. */
export function leanDefinition({ name, description, inputSchema, annotations }: Definition): Definition {
  const sentence = typeof description === "string" ? firstSentence(description) : "";
  const hints = isRecord(annotations) ? unusualHints(annotations) : {};
  return {
    name,
    ...(sentence === "" ? {} : { description: sentence }),
    inputSchema: { type: "object", ...(isRecord(inputSchema) ? leanSchema(inputSchema, 0) : {}) },
    ...(Object.keys(hints).length === 0 ? {} : { annotations: hints }),
  };
}

/** Abbreviations that do not end a sentence, although a capital letter may follow. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|no|fig|ca)\.$/i;
const SENTENCE_END = /[.!?](?=\s+[^\p{Ll}\s])|[。！？]/gu;

/** Returns the first sentence of a description, on one line. */
export function firstSentence(description: string): string {
  // A sentence longer than this is cut anyway, and a hostile description must not cost time.
  const start = description.trimStart().slice(0, 20 * LONGEST_SENTENCE);
  const [paragraph = ""] = start.split(/\n\s*\n/, 1);
  const text = paragraph.replace(/\s+/g, " ").trim();
  for (const { index } of text.matchAll(SENTENCE_END)) {
    const sentence = text.slice(0, index + 1);
    if (!ABBREVIATION.test(sentence)) return shortened(sentence);
  }
  return shortened(text);
}

/** Cuts a text between words. */
function shortened(text: string): string {
  if (text.length <= LONGEST_SENTENCE) return text;
  const head = text.slice(0, LONGEST_SENTENCE);
  const end = head.lastIndexOf(" ");
  // One long run without a blank, as in Chinese: cut between characters.
  const cut = end > LONGEST_SENTENCE / 2 ? head.slice(0, end) : head.replace(/[\uD800-\uDBFF]$/, "");
  return `${cut.replace(/[\s,;:.(–-]+$/, "")}…`;
}

/** What a client assumes if a tool does not say. */
const ASSUMED_HINTS: Raw = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** Keeps the hints that differ from what a client assumes anyway. */
function unusualHints(annotations: Raw): Raw {
  return Object.fromEntries(
    Object.entries(ASSUMED_HINTS)
      .map(([hint, assumed]) => [hint, annotations[hint], assumed] as const)
      .filter(([, value, assumed]) => typeof value === "boolean" && value !== assumed)
      .map(([hint, value]) => [hint, value]),
  );
}

/** Keywords whose value stays as it is. `x-mcp-header` obliges the client to repeat the argument in a header. */
const KEPT: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "const",
  "format",
  "required",
  "nullable",
  "$ref",
  "x-mcp-header",
]);
/** Keywords with one schema, or a list of them. */
const SCHEMAS: ReadonlySet<string> = new Set([
  "items",
  "prefixItems",
  "anyOf",
  "oneOf",
  "allOf",
  "additionalProperties",
]);
/** Keywords with schemas by name. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);

function leanSchema(schema: Raw, depth: number): Raw {
  // Own properties only: a schema may define a parameter named `__proto__`.
  return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => leanKeyword(key, value, depth)));
}

function leanKeyword(key: string, value: unknown, depth: number): readonly [string, unknown][] {
  if (KEPT.has(key)) return key === "required" && Array.isArray(value) && value.length === 0 ? [] : [[key, value]];
  if (depth >= MOST_DEPTH) return [];
  if (SCHEMAS.has(key)) {
    // Whether more parameters are allowed matters only if they have a type.
    if (key === "additionalProperties" && (!isRecord(value) || Object.keys(value).length === 0)) return [];
    return [[key, Array.isArray(value) ? value.map((each) => leanValue(each, depth)) : leanValue(value, depth)]];
  }
  if (!SCHEMA_MAPS.has(key) || !isRecord(value)) return [];
  return [[key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, leanValue(each, depth)]))]];
}

function leanValue(value: unknown, depth: number): unknown {
  return isRecord(value) ? leanSchema(value, depth + 1) : value;
}
