// The difference between two definitions, line by line, for a person to read.
import { isRecord } from "@trunkline/core";
import type { Definition } from "./pinned-definition.js";

/** One line that was removed or added: the field, and one line of its text. */
export interface DiffLine {
  readonly sign: "-" | "+";
  readonly field: string;
  readonly text: string;
}

/** Fields in the order of the definition. Lines that both definitions have are left out. */
export function diffDefinitions(before: Definition | undefined, after: Definition | undefined): DiffLine[] {
  const [old, fresh] = [fieldsOf(before ?? {}), fieldsOf(after ?? {})];
  const lines: DiffLine[] = [];
  for (const field of new Set([...old.keys(), ...fresh.keys()])) {
    const [was, is] = [old.get(field), fresh.get(field)];
    if (was === is) continue;
    // A server decides how many lines there are: neither a search in a list per line, nor a spread into arguments.
    const [oldLines, newLines] = [linesOf(was), linesOf(is)];
    const [inOld, inNew] = [new Set(oldLines), new Set(newLines)];
    for (const text of oldLines) if (!inNew.has(text)) lines.push({ sign: "-", field, text });
    for (const text of newLines) if (!inOld.has(text)) lines.push({ sign: "+", field, text });
  }
  return lines;
}

/** Every value of a definition as text, by its path. */
function fieldsOf(definition: Definition): Map<string, string> {
  const fields = new Map<string, string>();
  const { _meta: _, ...rest } = definition;
  const open: { path: string; value: unknown }[] = [{ path: "", value: rest }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    const inner = Array.isArray(value)
      ? value.map((each, at) => ({ path: `${path}[${at}]`, value: each as unknown }))
      : isRecord(value)
        ? Object.entries(value).map(([key, each]) => ({ path: path === "" ? key : `${path}.${key}`, value: each }))
        : [];
    for (const each of inner.reverse()) open.push(each);
    if (inner.length === 0) fields.set(path, typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  }
  return fields;
}

function linesOf(text: string | undefined): string[] {
  return text === undefined ? [] : text.split("\n");
}
