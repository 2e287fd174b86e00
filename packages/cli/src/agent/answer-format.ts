// `--format`: text, JSON, or JSON of a schema that is given inline or in a file.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { AgentRequest } from "@trunkline/agent";
import { isRecord, messageOf, systemCodeOf, TrunklineError } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";

/** The form of the answer; undefined for text. */
export type AnswerFormat = AgentRequest["format"];

/** Reads `--format`. Throws `USAGE` for what is neither. */
export async function readFormat(
  { cwd, signal }: Pick<CommandContext, "cwd" | "signal">,
  format: string,
): Promise<AnswerFormat> {
  if (format === "text") return undefined;
  if (format === "json") return { type: "json" };
  if (/^\s*\{/.test(format)) return { type: "json", schema: parseSchema(format, "The schema given with --format") };
  let text: string;
  try {
    text = await readFile(resolve(cwd, format), { encoding: "utf8", signal });
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined || signal.aborted) throw error;
    throw new TrunklineError("USAGE", `"${format}" is no format: it is neither text nor json, nor a file (${code}).`, {
      hint: 'Give --format json, a JSON Schema such as \'{"type": "object"}\', or a file that holds one.',
      cause: error,
    });
  }
  return { type: "json", schema: parseSchema(text, format) };
}

function parseSchema(text: string, what: string): Record<string, unknown> {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw new TrunklineError("USAGE", `${what} is not JSON: ${messageOf(error)}`, { cause: error });
  }
  if (isRecord(schema)) return schema;
  throw new TrunklineError("USAGE", `${what} is no JSON Schema: that is an object.`);
}
