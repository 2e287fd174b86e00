// The agent `tools`: native tool calls, turn after turn, until the model answers without one. Also runs the tool calls
// of every other agent. A bad call never ends the run: the model gets the error and can try again.
import {
  abortable,
  canonicalJson,
  isRecord,
  isTrunklineError,
  messageOf,
  nearestNames,
  repeatedKey,
  TrunklineError,
} from "@trunkline/core";
import { schemaProblems } from "@trunkline/core/schema";
import type { Message, MessagePart, ModelTool } from "../model/model.js";
import { FRAME_NOTE, frameOutput } from "../tools/framing.js";
import type { Approval, Tool, ToolOutput } from "../tools/tool.js";
import type { Agent, AgentRequest, AgentResult } from "./agent.js";
import { startRun } from "./delegate.js";
import { textMessage } from "./message-history.js";
import { endWithAnswer, endWithLastWord, formatNote, OUT_OF_TIME, type Run, type ToolCallEvent } from "./run.js";

/** Maximum number of times in a row that the same call can fail. */
export const MAX_SAME_FAILURES = 3;

const DEFAULT_PARALLEL_CALLS = 4;
const DEFAULT_RESULT_CHARS = 100_000;

const NAME = "tools";

export const toolsAgent: Agent = {
  name: NAME,
  summary: "The model calls tools natively until it has an answer.",
  run: async (request) => await work(startRun(request, NAME)),
};

async function work(run: Run): Promise<AgentResult> {
  const failures = new Failures();
  for (;;) {
    const tools = modelTools(run.tools);
    const again = { tools, system: systemOf(run.request, tools.length > 0) };
    // With tools present, several providers reject a response format or treat it as a ban on tool calls, so only the
    // prompt asks for it.
    const format = tools.length === 0 ? run.request.format : undefined;
    if (run.budget.spent !== undefined) return await endWithLastWord(run, { ...again, ended: "budget" });
    const turn = await run.timed((signal) => run.turn([...again.system, ...run.messages], { tools, format, signal }));
    if (turn === OUT_OF_TIME) return await endWithLastWord(run, { ...again, ended: "budget" });
    if (turn.calls.length === 0) return await endWithAnswer(run, turn, again);

    // If time runs out, the calls are stopped but still get results.
    const results = await run.timed((signal) => callTools(run, turn.calls, signal));
    if (results === OUT_OF_TIME) return await endWithLastWord(run, { ...again, ended: "budget" });
    run.push(turn.message, { role: "tool", parts: results });
    run.throwIfAborted();
    const stuck = turn.calls.filter((call, index) => failures.count(call, results[index]?.isError === true));
    if (stuck[0] !== undefined) {
      const why = `${stuck[0].name} failed ${MAX_SAME_FAILURES} times in a row with the same arguments`;
      return await endWithLastWord(run, { ...again, ended: "stuck", why });
    }
  }
}

function systemOf({ format }: AgentRequest, hasTools: boolean): Message[] {
  const notes = [...(hasTools ? [FRAME_NOTE] : []), ...(format === undefined ? [] : [formatNote(format)])];
  return notes.length === 0 ? [] : [textMessage("system", notes.join("\n\n"))];
}

type ToolResultPart = Extract<MessagePart, { type: "tool-result" }>;

function modelTools(tools: readonly Tool[]): ModelTool[] {
  return tools.map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema }));
}

/** Counts repeated failures of the same call. */
export class Failures {
  readonly #counts = new Map<string, number>();

  /** Whether this call has now failed too often in a row. */
  count(call: Pick<ToolCallEvent, "name" | "args" | "raw">, failed: boolean): boolean {
    const key = `${call.name} ${call.raw ?? canonicalJson(call.args)}`;
    if (!failed) {
      this.#counts.delete(key);
      return false;
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count >= MAX_SAME_FAILURES;
  }
}

/**
 * Runs calls and returns one result per call, in order. Even an aborted call gets a result that says so. Read-only
 * calls run in parallel; a call that changes things runs alone, after the calls before it and before the calls after
 * it.
 */
export async function callTools(
  run: Run,
  calls: readonly ToolCallEvent[],
  signal: AbortSignal,
): Promise<ToolResultPart[]> {
  const results: ToolResultPart[] = [];
  const byName = new Map(run.tools.map((tool) => [tool.name, tool]));
  const limit = Math.max(1, run.request.maxParallelCalls ?? DEFAULT_PARALLEL_CALLS);
  for (let from = 0; from < calls.length; ) {
    let to = from;
    while (to < calls.length && to - from < limit && byName.get(calls[to]?.name ?? "")?.readOnly !== false) to++;
    const group = calls.slice(from, Math.max(to, from + 1));
    results.push(
      ...(await Promise.all(group.map((call) => callOne(run, { call, tool: byName.get(call.name), signal })))),
    );
    from += group.length;
  }
  return results;
}

async function callOne(
  run: Run,
  { call, tool, signal }: { call: ToolCallEvent; tool: Tool | undefined; signal: AbortSignal },
): Promise<ToolResultPart> {
  const title = tool?.title ?? call.name;
  const startMs = performance.now();
  run.emit({ type: "tool-call", id: call.id, title, args: call.raw ?? call.args });
  const outcome = await outcomeOf(run, { call, tool, signal });
  const { output } = outcome;
  const isError = output.isError === true;
  run.emit({
    type: "tool-result",
    id: call.id,
    title,
    text: output.text,
    isError,
    durationMs: Math.round(performance.now() - startMs),
  });
  return {
    type: "tool-result",
    id: call.id,
    name: call.name,
    text: outcome.foreign
      ? frameOutput(capped(output.text, run.request.maxResultChars), { key: run.frameKey, from: title })
      : output.text,
    ...(output.images === undefined || output.images.length === 0 ? {} : { images: output.images }),
    ...(isError ? { isError } : {}),
  };
}

/** Truncates a text and notes how much was cut. */
function capped(text: string, maxChars = DEFAULT_RESULT_CHARS): string {
  if (text.length <= maxChars) return text;
  // Don't split a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text[maxChars - 1] ?? "") ? maxChars - 1 : maxChars;
  return `${text.slice(0, end)}\n[${text.length - end} of ${text.length} characters left out; ask for less at a time]`;
}

/** The result of a call; `foreign` means the text came from the tool, not from us. */
interface Outcome {
  readonly output: ToolOutput;
  readonly foreign: boolean;
}

function failure(text: string): Outcome {
  return { output: { text, isError: true }, foreign: false };
}

async function outcomeOf(
  run: Run,
  { call, tool, signal }: { call: ToolCallEvent; tool: Tool | undefined; signal: AbortSignal },
): Promise<Outcome> {
  if (tool === undefined) return failure(unknownTool(call.name, run.tools));
  if (call.raw !== undefined || !isRecord(call.args)) return failure(unreadable(tool.name, call.raw));
  let args: Readonly<Record<string, unknown>> = call.args;
  try {
    args = (await tool.canonical?.(call.args, { signal })) ?? call.args;
  } catch (error) {
    if (signal.aborted) return stopped(run, "did not run");
    return failure(`The arguments of ${tool.name} are wrong: ${withHint(error)}`);
  }
  const problems = schemaProblems(tool.inputSchema, args);
  if (problems.length > 0) return failure(`The arguments of ${tool.name} are wrong: ${problems.join("; ")}.`);
  if (signal.aborted) return stopped(run, "did not run");
  if (!tool.readOnly) {
    const approval = await approvalOf(run, { tool, args, signal });
    if (approval === undefined) return stopped(run, "did not run");
    if (!approval.allowed) {
      return failure(`${tool.name} was not run: ${approval.reason} Do not try to get around this.`);
    }
    if (signal.aborted) return stopped(run, "did not run");
  }
  try {
    return { output: await abortable(signal, tool.call(args, { signal })), foreign: true };
  } catch (error) {
    if (signal.aborted) return stopped(run, "was stopped; it may or may not have taken effect");
    if (isTrunklineError(error, "ABORTED")) return failure(`${tool.name} was cancelled by the user.`);
    return { output: { text: withHint(error), isError: true }, foreign: true };
  }
}

function withHint(error: unknown): string {
  const hint = error instanceof TrunklineError && error.hint !== undefined ? ` ${error.hint}` : "";
  return `${messageOf(error)}${hint}`;
}

function unreadable(name: string, raw: string | undefined): string {
  const key = raw === undefined ? undefined : repeatedKey(raw);
  if (key !== undefined) return `The arguments of ${name} repeat the key "${key}". Call it again with each key once.`;
  return `The arguments of ${name} are not a JSON object. Call it again with a JSON object.`;
}

/** Returns the approver's decision; undefined if the run was aborted meanwhile. An approver that throws denies. */
async function approvalOf(
  run: Run,
  { tool, args, signal }: { tool: Tool; args: Readonly<Record<string, unknown>>; signal: AbortSignal },
): Promise<Approval | undefined> {
  try {
    return await abortable(signal, run.request.approve({ tool, args }, { signal }));
  } catch (error) {
    if (signal.aborted) return undefined;
    if (isTrunklineError(error, "ABORTED")) return { allowed: false, reason: "The user cancelled the question." };
    throw error;
  }
}

function stopped(run: Run, what: string): Outcome {
  const why = run.request.signal?.aborted ? "The user stopped the run" : "The time limit was reached";
  return failure(`${why}: this call ${what}.`);
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name);
  const nearest = nearestNames(name, names);
  const known = names.length === 0 ? "There are no tools." : `Available tools: ${names.slice(0, 30).join(", ")}.`;
  return `There is no tool "${name.slice(0, 100)}". ${nearest.length > 0 ? `Did you mean ${nearest.join(" or ")}?` : known}`;
}
