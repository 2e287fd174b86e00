// Tells an approver which parameters of a step are only known once earlier steps have run.
import { isRecord } from "@trunkline/core";
import { takesDocuments } from "./implicit-documents.js";
import { referencesIn } from "./references.js";

/** A step of a canonical batch. */
interface WrittenStep {
  readonly op: string;
  readonly params: unknown;
  readonly as?: string;
}

/** Describes the values that a step of a batch takes from earlier steps, one line each. */
export function describeSources(steps: readonly WrittenStep[], index: number): string[] {
  const step = steps[index];
  if (step === undefined) return [];
  const earlier = steps.slice(0, index);
  const names = new Map(earlier.flatMap(({ as, op }) => (as === undefined ? [] : [[as, op] as const])));
  const references = [...new Set(referencesIn(step.params, (name) => names.has(name)))];
  const lines = references.map((text) => `${text} is filled in later: ${sourceOf(text, earlier, names)}`);
  const before = earlier.at(-1);
  if (before !== undefined && isRecord(step.params) && takesDocuments(step.op, step.params)) {
    lines.push(`works on the documents that ${before.op} returns`);
  }
  return lines;
}

function sourceOf(text: string, earlier: readonly WrittenStep[], names: ReadonlyMap<string, string>): string {
  const isContent = text.startsWith("$hash:");
  const target = isContent ? text.slice("$hash:".length).trim() : text;
  const what = isContent ? "content from the store" : "a result";
  if (!target.startsWith("$")) return `${what}.`;
  const root = /^\$([A-Za-z_][A-Za-z0-9_-]*)/.exec(target)?.[1] ?? "";
  const op = root === "prev" ? earlier.at(-1)?.op : names.get(root);
  return op === undefined ? `${what} of an earlier step.` : `${what} of ${op}.`;
}
