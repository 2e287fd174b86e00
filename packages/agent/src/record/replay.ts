// Replays a recorded run without its model and tools. If the run differs from the recording, the error shows where.
import { canonicalJson, type ErrorCode, isRecord, Redactor, TrunklineError } from "@trunkline/core";
import { z } from "zod";
import { toMessage } from "../model/message-schema.js";
import type { Message, Model, ModelEvent, ModelRequest } from "../model/model.js";
import { withoutFrameKeys } from "../tools/framing.js";
import type { Approver, Tool } from "../tools/tool.js";
import type { JsonlLine } from "./jsonl-file.js";
import { comparable, messageHash, readRunFile } from "./run-file.js";

/** A recorded run; everything is answered from the file. */
export interface Replay {
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly approve: Approver;
  /** The prompt: the messages of the first recorded turn, without `system` messages. */
  readonly prompt: readonly Message[];
}

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  retryable: z.boolean(),
});
const modelSchema = z.object({ provider: z.string(), id: z.string() });
const eventSchema = z.looseObject({ type: z.enum(["text", "reasoning", "tool-call", "restart", "finish"]) });
const record = z.record(z.string(), z.unknown());
const lineSchemas = {
  turn: z.object({
    model: modelSchema,
    messages: z.array(z.string()),
    events: z.array(eventSchema),
    error: errorSchema.optional(),
  }),
  message: z.object({ hash: z.string(), message: z.unknown() }),
  tool: z.object({
    tool: z.object({
      name: z.string(),
      title: z.string(),
      description: z.string(),
      inputSchema: record,
      readOnly: z.boolean(),
    }),
  }),
  call: z.object({
    tool: z.string(),
    args: record,
    output: z
      .object({
        text: z.string(),
        images: z.array(z.object({ data: z.string(), mediaType: z.string() })).optional(),
        isError: z.boolean().optional(),
      })
      .optional(),
    error: errorSchema.optional(),
  }),
  approval: z.object({
    tool: z.string(),
    args: record,
    approval: z.union([
      z.object({ allowed: z.literal(true) }),
      z.object({ allowed: z.literal(false), reason: z.string() }),
    ]),
  }),
};

type Recorded = { [Kind in keyof typeof lineSchemas]: z.infer<(typeof lineSchemas)[Kind]> };

/**
 * Opens a recorded run for replay. `redactor` removes the same secrets as when it was recorded. Rejects with
 * `NOT_FOUND`, `CONFIG_INVALID` or `IO`. Requests that were not recorded are rejected with `INVALID_ARGUMENT`.
 */
export async function openReplay(
  path: string,
  { redactor = new Redactor() }: { redactor?: Redactor } = {},
): Promise<Replay> {
  const lines = await readRunFile(path);
  const turns = linesOf("turn", lines, path);
  const messages = new Map(linesOf("message", lines, path).map(({ hash, message }) => [hash, toMessage(message)]));
  const calls = linesOf("call", lines, path);
  const approvals = linesOf("approval", lines, path);
  const first = turns[0];
  const usedCalls = new Set<object>();
  const usedApprovals = new Set<object>();
  const same = (wanted: { tool: string; args: unknown }) => (line: { tool: string; args: unknown }) =>
    line.tool === wanted.tool && argsKey(line.args, redactor) === argsKey(wanted.args, redactor);
  return {
    model: replayedModel({ turns, messages, redactor }),
    prompt: (first?.messages ?? []).flatMap((hash) => {
      const message = messages.get(hash);
      return message === undefined || message.role === "system" ? [] : [message];
    }),
    tools: linesOf("tool", lines, path).map(({ tool }) => ({
      ...tool,
      async call(args) {
        const call = take(calls, usedCalls, same({ tool: tool.name, args }));
        if (call === undefined) throw unrecordedCall(tool.name, args, calls);
        if (call.error !== undefined) throw toError(call.error);
        return call.output ?? { text: "" };
      },
    })),
    approve: async ({ tool, args }) => {
      const found = take(approvals, usedApprovals, same({ tool: tool.name, args }));
      return found?.approval ?? { allowed: false, reason: "The recorded run did not ask for it." };
    },
  };
}

function linesOf<Kind extends keyof Recorded>(kind: Kind, lines: readonly JsonlLine[], path: string): Recorded[Kind][] {
  return lines
    .filter(({ value }) => value.type === kind)
    .map(({ value, number }) => {
      const parsed = lineSchemas[kind].safeParse(value);
      if (!parsed.success)
        throw new TrunklineError("CONFIG_INVALID", `Line ${number} of ${path} is not a valid ${kind}.`);
      // The table gives each kind its own schema; TypeScript cannot follow the pair through the index.
      return parsed.data as Recorded[Kind];
    });
}

function take<T extends object>(items: readonly T[], used: Set<object>, fits: (item: T) => boolean): T | undefined {
  const found = items.find((item) => !used.has(item) && fits(item));
  if (found !== undefined) used.add(found);
  return found;
}

function argsKey(args: unknown, redactor: Redactor): string {
  return withoutFrameKeys(canonicalJson(redactor.value(args)));
}

interface ReplayState {
  readonly turns: readonly Recorded["turn"][];
  readonly messages: ReadonlyMap<string, Message | undefined>;
  readonly redactor: Redactor;
}

function replayedModel(state: ReplayState): Model {
  const { turns, redactor } = state;
  const used = new Set<object>();
  const [first] = turns;
  return {
    provider: first?.model.provider ?? "replay",
    id: first?.model.id ?? "replay",
    async *stream(request) {
      const hashes = request.messages.map((message) => messageHash(message, redactor));
      // Sub-agents can run in a different order, so any turn with the same messages will do.
      const turn = take(turns, used, ({ messages }) => messages.join() === hashes.join());
      if (turn === undefined) throw diverged(request, hashes, { ...state, used });
      // The event was recorded from a model's stream.
      for (const event of turn.events) yield event as unknown as ModelEvent;
      if (turn.error !== undefined) throw toError(turn.error);
    },
  };
}

function toError({ code, message, hint, retryable }: z.infer<typeof errorSchema>): TrunklineError {
  // The code was recorded from a TrunklineError; an unknown one does no harm.
  return new TrunklineError(code as ErrorCode, message, { retryable, hint });
}

/** Creates the error for an unrecorded turn, showing the first difference from the next recorded one. */
function diverged(
  request: ModelRequest,
  hashes: readonly string[],
  { turns, messages, redactor, used }: ReplayState & { readonly used: ReadonlySet<object> },
): TrunklineError {
  const number = used.size + 1;
  const next = turns.find((turn) => !used.has(turn));
  if (next === undefined) {
    return divergence(`The recorded run has ${turns.length} turns, and one more was requested.`);
  }
  const length = Math.max(hashes.length, next.messages.length);
  const index = Array.from({ length }, (_, at) => at).find((at) => hashes[at] !== next.messages[at]) ?? 0;
  const recorded = messages.get(next.messages[index] ?? "");
  const given = request.messages[index];
  const [was, is] = firstDifference(
    recorded === undefined ? "" : comparable(recorded, redactor),
    given === undefined ? "" : comparable(given, redactor),
  );
  return divergence(
    `Turn ${number} differs from the recording: message ${index + 1} (${given?.role ?? recorded?.role ?? "none"}) is different. ` +
      `Recorded: ${was}. Now: ${is}.`,
    { turn: number, message: index + 1 },
  );
}

function unrecordedCall(tool: string, args: unknown, calls: readonly Recorded["call"][]): TrunklineError {
  const known = calls.filter((call) => call.tool === tool).map((call) => canonicalJson(call.args));
  const [was, is] = firstDifference(known[0] ?? "", canonicalJson(args));
  return divergence(`No call of ${tool} was recorded with these arguments. Recorded: ${was}. Now: ${is}.`, { tool });
}

function divergence(message: string, data?: Record<string, unknown>): TrunklineError {
  return new TrunklineError("INVALID_ARGUMENT", message, {
    hint: "Use the same prompt, tools and options as in the recording, or record it again.",
    ...(isRecord(data) ? { data } : {}),
  });
}

/** Returns both texts around their first difference. */
function firstDifference(a: string, b: string): [string, string] {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  const from = Math.max(0, at - 30);
  const cut = (text: string) => {
    if (text === "") return "nothing";
    return `${from > 0 ? "…" : ""}${text.slice(from, at + 80)}${text.length > at + 80 ? "…" : ""}`;
  };
  return [cut(a), cut(b)];
}
