// The searchable texts of an operation.

/** The searchable facts about an operation. */
export interface Candidate {
  /** For example `github.create_issue`. */
  readonly name: string;
  readonly server?: string;
  /** The name without the server. */
  readonly tool: string;
  readonly description: string;
  /** What people ask for when they mean it. Weighs little: a tool that says so itself comes first. Never shown. */
  readonly askedAs?: string;
  /** JSON Schema of the parameters. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** The fields that words are looked up in. */
export type Field = "tool" | "server" | "description" | "params";

const LONGEST_TEXT = 1000;
const LONGEST_SENTENCE = 300;

export function fieldsOf({ tool, server, description, askedAs = "", schema }: Candidate): Record<Field, string> {
  const params = paramsOf(schema).map(({ name, hint, values }) => `${name} ${hint} ${values.join(" ")}`);
  return { tool, server: server ?? "", description, params: `${askedAs} ${params.join(" ")}`.trim() };
}

/** How many texts of a candidate are embedded. */
export const TEXTS = 3;

/**
 * Returns the texts of a candidate to embed: its names, its first sentence, and everything. Several vectors find more
 * than one, because a long text covers much that no question asks about.
 */
export function embeddedTexts({ tool, server, description, schema }: Candidate): [string, string, string] {
  const text = description.replace(/\s+/g, " ").trim();
  const title = spaced(tool);
  const params = paramsOf(schema).map(({ name }) => spaced(name));
  return [
    server === undefined ? title : `${spaced(server)} ${title}`,
    firstSentence(text) || title,
    `${title}: ${text.slice(0, LONGEST_TEXT)} ${params.join(", ")}`,
  ];
}

/** Of a long list of values, only the first are searchable. */
const MOST_VALUES = 30;

type Property = { description?: unknown; enum?: unknown } | null | undefined;

function paramsOf(schema: Candidate["schema"]): { name: string; hint: string; values: readonly string[] }[] {
  const properties = (schema?.properties ?? {}) as Record<string, Property>;
  return Object.entries(properties).map(([name, property]) => {
    const hint = property?.description;
    const values = Array.isArray(property?.enum) ? property.enum : [];
    return {
      name,
      hint: typeof hint === "string" ? hint.trim() : "",
      values: values.filter((value) => typeof value === "string").slice(0, MOST_VALUES),
    };
  });
}

function firstSentence(text: string): string {
  return (/^.*?(?:[.!?](?=\s+[^\p{Ll}])|[。！？]|$)/u.exec(text)?.[0] ?? text).slice(0, LONGEST_SENTENCE);
}

function spaced(name: string): string {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
