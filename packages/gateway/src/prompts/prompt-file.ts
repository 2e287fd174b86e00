// A `PROMPT-*.md` file: its name, front matter and text.
import { isRecord } from "@trunkline/core";
import type { OwnPrompt, PromptParameter } from "./prompt.js";

/** Larger files are not read: they are not real prompts. */
export const MAX_PROMPT_BYTES = 1024 * 1024;

const FILE_NAME = /^PROMPT-(.+)\.md$/;
const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n((?:[\s\S]*?\r?\n)??)---[ \t]*(?:\r?\n|$)/;

/** Returns the prompt's name: `PROMPT-research-mcp.md` is `research_mcp`. Undefined for other files. */
export function promptNameOf(fileName: string): string | undefined {
  return FILE_NAME.exec(fileName)?.[1]?.replaceAll("-", "_");
}

/** The prompt in a file, and any problem with its front matter. */
interface ReadPrompt {
  readonly prompt: OwnPrompt;
  readonly problem?: string;
}

/** Reads a prompt. Invalid front matter is ignored, as if there were none. */
export async function readPromptFile(fileName: string, source: string): Promise<ReadPrompt | undefined> {
  const name = promptNameOf(fileName);
  if (name === undefined) return undefined;
  const match = FRONT_MATTER.exec(source);
  const text = (match === null ? source.replace(/^\uFEFF/, "") : source.slice(match[0].length)).replace(
    /^(?:[ \t]*\r?\n)+/,
    "",
  );
  const { fields, problem } = await readFrontMatter(match?.[1]);
  const heading = headingOf(text);
  const parameters = readParameters(fields.arguments);
  return {
    prompt: {
      name,
      title: textOf(fields.title),
      description: textOf(fields.description) ?? (heading === undefined ? fileName : `${heading} (${fileName})`),
      parameters,
      role: "assistant",
      render: (args) => fill(text, parameters, args),
    },
    problem,
  };
}

async function readFrontMatter(
  source: string | undefined,
): Promise<{ fields: Record<string, unknown>; problem?: string }> {
  if (source === undefined || source.trim() === "") return { fields: {} };
  // Loaded on demand: most prompts have no front matter.
  const { parse } = await import("yaml");
  try {
    // Aliases could expand a small file into a huge one.
    const fields: unknown = parse(source, { maxAliasCount: 0, logLevel: "error" });
    if (isRecord(fields)) return { fields };
    return { fields: {}, problem: "its front matter is not a mapping" };
  } catch (error) {
    return { fields: {}, problem: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
}

/**
 * Reads parameters given as a list (`- topic`, `- name: topic`) or by name (`topic: what it is about`, `topic:
 * {required: true}`).
 */
function readParameters(value: unknown): PromptParameter[] {
  const entries: [unknown, unknown][] = Array.isArray(value)
    ? value.map((item: unknown) => (isRecord(item) ? [item.name, item] : [item, {}]))
    : isRecord(value)
      ? Object.entries(value)
      : [];
  const parameters = new Map<string, PromptParameter>();
  for (const [name, about] of entries) {
    if (typeof name !== "string" || name === "" || parameters.has(name)) continue;
    const { description, required, default: fallback } = isRecord(about) ? about : { description: about };
    const text = textOf(fallback);
    parameters.set(name, {
      name,
      description: textOf(description),
      required: required === true && text === undefined,
      fallback: text,
    });
  }
  return [...parameters.values()];
}

/**
 * Replaces only declared parameters, so Markdown about templates stays intact. Inserted values are not expanded again.
 */
function fill(text: string, parameters: readonly PromptParameter[], args: Readonly<Record<string, string>>): string {
  const values = new Map(parameters.map(({ name, fallback = "" }) => [name, args[name] ?? fallback]));
  return text.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (whole, name: string) => values.get(name) ?? whole);
}

/** Returns the first heading outside code blocks. */
function headingOf(text: string): string | undefined {
  let fence: string | undefined;
  let previous = "";
  for (const line of text.split(/\r?\n/)) {
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || (mark[0] === fence[0] && mark.length >= fence.length))) {
      fence = fence === undefined ? mark : undefined;
      previous = "";
      continue;
    }
    if (fence !== undefined) continue;
    const heading = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line)?.[1];
    if (heading !== undefined && heading !== "") return heading;
    if (/^ {0,3}(?:=+|-{2,})[ \t]*$/.test(line) && previous.trim() !== "") return previous.trim();
    previous = line;
  }
  return undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
