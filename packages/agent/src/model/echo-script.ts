// The script of the echo provider: JSONL, one turn of the model per line; empty lines and lines that start with `//`
// are skipped. A line is an object with any of
//
//   text       what the model says                                       "text": "It is 4."
//   reasoning  what it thinks first                                      "reasoning": "2 + 2"
//   tool, args one call, by title or wire name                           "tool": "docs.lookup", "args": {"q": "x"}
//   calls      several calls                                             "calls": [{"tool": "a.b", "args": {}}, …]
//   error      fails the turn after everything else on the line: a message, or {code, message, retryable, retryAfterMs}
//   delayMs    the delay before the model says anything
//   usage      {inputTokens, outputTokens}, instead of counting
//   finish     the finish reason, instead of the one that follows from the line: "length"
//
// A string as `args` stands for arguments that are not valid JSON. Inside `args`, a string that is only a reference is
// replaced: `$last.text` is the text of the latest tool result, `$last.json.a[0].b` a value inside it if it is JSON,
// and `$results[0]…` counts the conversation's results from the start.
import { isRecord, parseJson, TrunklineError } from "@trunkline/core";
import { z } from "zod";
import { unframeOutput } from "../tools/framing.js";
import type { Message, MessagePart } from "./model.js";

const callSchema = z.strictObject({
  tool: z.string().min(1),
  args: z.union([z.record(z.string(), z.unknown()), z.string()]).default({}),
});

const lineSchema = z
  .strictObject({
    text: z.string().optional(),
    reasoning: z.string().optional(),
    tool: z.string().min(1).optional(),
    args: z.union([z.record(z.string(), z.unknown()), z.string()]).optional(),
    calls: z.array(callSchema).optional(),
    error: z
      .union([
        z.string(),
        z.strictObject({
          code: z
            .enum(["AUTH_REQUIRED", "CONNECTION_FAILED", "TIMEOUT", "UPSTREAM", "INVALID_ARGUMENT"])
            .default("UPSTREAM"),
          message: z.string(),
          retryable: z.boolean().optional(),
          retryAfterMs: z.number().nonnegative().optional(),
        }),
      ])
      .optional(),
    delayMs: z.number().nonnegative().optional(),
    usage: z.strictObject({ inputTokens: z.number(), outputTokens: z.number() }).optional(),
    finish: z.enum(["stop", "tool-calls", "length", "content-filter", "other"]).optional(),
  })
  .refine((line) => line.args === undefined || line.tool !== undefined, { message: "args needs tool" });

type Line = z.infer<typeof lineSchema>;

export interface EchoTurn extends Omit<Line, "tool" | "args" | "calls" | "error"> {
  readonly calls: readonly z.infer<typeof callSchema>[];
  readonly error: TrunklineError | undefined;
}

/** Throws `INVALID_ARGUMENT` with the number of the bad line. */
export function parseEchoScript(text: string): EchoTurn[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === "" || line.trimStart().startsWith("//")) return [];
    const parsed = lineSchema.safeParse(parseJson(line));
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      const at = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
      throw new TrunklineError(
        "INVALID_ARGUMENT",
        `Line ${index + 1} of the script cannot be used${at}: ${parseJson(line) === undefined ? "it is not JSON" : issue?.message}.`,
        { hint: 'Each line is an object such as {"text": "…"} or {"tool": "server.tool", "args": {…}}.' },
      );
    }
    return [toTurn(parsed.data)];
  });
}

function toTurn({ tool, args = {}, calls = [], error, ...rest }: Line): EchoTurn {
  return {
    ...rest,
    calls: [...(tool === undefined ? [] : [{ tool, args }]), ...calls],
    error: error === undefined ? undefined : toError(error),
  };
}

function toError(error: NonNullable<Line["error"]>): TrunklineError {
  if (typeof error === "string") return new TrunklineError("UPSTREAM", error);
  const { code, message, retryable, retryAfterMs } = error;
  return new TrunklineError(code, message, {
    retryable,
    ...(retryAfterMs === undefined ? {} : { data: { retryAfterMs } }),
  });
}

const REFERENCE = /^\$(?:last|results\[(\d+)\])\.(text|json)((?:\.[\w-]+|\[\d+\])*)$/;

/** Copies scripted arguments and replaces references. Throws `INVALID_ARGUMENT` if a reference does not resolve. */
export function resolveReferences(value: unknown, messages: readonly Message[]): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, messages));
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveReferences(item, messages)]));
  }
  const match = typeof value === "string" ? REFERENCE.exec(value) : null;
  if (match === null) return value;
  const results = messages.flatMap(({ parts }) =>
    parts.filter((part): part is Extract<MessagePart, { type: "tool-result" }> => part.type === "tool-result"),
  );
  const result = match[1] === undefined ? results.at(-1) : results[Number(match[1])];
  const text = result === undefined ? undefined : unframeOutput(result.text);
  const found = match[2] === "text" || text === undefined ? text : walk(parseJson(text), match[3] ?? "");
  if (found === undefined) {
    throw new TrunklineError("INVALID_ARGUMENT", `The script's reference ${match[0]} does not resolve.`);
  }
  return found;
}

function walk(value: unknown, path: string): unknown {
  let current = value;
  for (const [, key, index] of path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)) {
    if (key !== undefined) current = isRecord(current) && Object.hasOwn(current, key) ? current[key] : undefined;
    else current = Array.isArray(current) ? current[Number(index)] : undefined;
  }
  return current;
}
