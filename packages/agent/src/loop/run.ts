// One run of an agent, shared by the loops. It holds the conversation, counts what is spent, notifies listeners, and
// ends with an answer (validated if JSON was requested) or a last word.
import { abortError, formatMs, isTrunklineError, startDeadline, TrunklineError } from "@trunkline/core";
import { schemaProblems } from "@trunkline/core/schema";
import type {
  FinishReason,
  Message,
  MessagePart,
  ModelEvent,
  ModelRequest,
  ModelTool,
  TokenUsage,
} from "../model/model.js";
import { addUsage, NO_USAGE } from "../model/usage.js";
import { createFrameKey } from "../tools/framing.js";
import { type Tool, toolNamed } from "../tools/tool.js";
import type { AgentEvent, AgentRequest, AgentResult } from "./agent.js";
import { Budget } from "./budget.js";
import { jsonIn } from "./json-repair.js";
import { closeOpenCalls, messageText, textMessage } from "./message-history.js";

export type ToolCallEvent = Extract<ModelEvent, { type: "tool-call" }>;

export interface Turn {
  readonly message: Message;
  readonly text: string;
  readonly calls: readonly ToolCallEvent[];
  readonly reason: FinishReason;
}

/** Returned in place of a result when the time limit was reached. */
export const OUT_OF_TIME = Symbol("out of time");

type EventOf<Event> = Event extends AgentEvent ? Omit<Event, "depth"> : never;

interface TurnOptions {
  readonly tools?: ModelRequest["tools"];
  readonly toolChoice?: ModelRequest["toolChoice"];
  readonly format?: ModelRequest["format"];
  /** Whether to show text as it arrives. Default: yes. */
  readonly show?: boolean;
  readonly signal: AbortSignal;
}

export class Run {
  readonly request: AgentRequest;
  readonly budget: Budget;
  readonly depth: number;
  readonly frameKey: string;
  readonly #tools: readonly Tool[];
  readonly #messages: Message[];
  #turns = 0;
  #usage: TokenUsage = NO_USAGE;

  constructor(request: AgentRequest, tools: readonly Tool[] = request.tools) {
    this.request = request;
    this.budget = request.budget ?? new Budget(request.limits);
    this.depth = request.depth ?? 0;
    this.frameKey = request.frameKey ?? createFrameKey();
    this.#tools = tools;
    this.#messages = closeOpenCalls(request.messages);
  }

  /** The tools that the model has now. */
  get tools(): readonly Tool[] {
    const more = this.request.moreTools?.() ?? [];
    const names = new Set(this.#tools.map(({ name }) => name));
    const fresh = more.filter(({ name }) => !names.has(name) && names.add(name));
    return fresh.length === 0 ? this.#tools : [...this.#tools, ...fresh];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** The wire name of the tool that a model means; unchanged if it fits no tool. */
  wireName(name: string): string {
    return toolNamed(this.tools, name)?.name ?? name;
  }

  /** Adds messages that belong together. */
  push(...messages: readonly Message[]): void {
    for (const message of messages) {
      this.#messages.push(message);
      this.request.onMessage?.(message);
    }
  }

  emit(event: EventOf<AgentEvent>): void {
    // Adding `depth` back to a union member without it restores that member's type.
    this.request.onEvent?.({ ...event, depth: this.depth } as AgentEvent);
  }

  note(message: string): void {
    this.emit({ type: "note", message });
  }

  /** Counts a sub-agent's spending here; the shared budget already includes it. */
  addSpent({ turns, usage }: Pick<AgentResult, "turns" | "usage">): void {
    this.#turns += turns;
    this.#usage = addUsage(this.#usage, usage);
  }

  result(text: string, ended: AgentResult["ended"], json?: { readonly value: unknown }): AgentResult {
    return {
      text,
      ...(json === undefined ? {} : { json: json.value }),
      messages: [...this.#messages],
      turns: this.#turns,
      usage: this.#usage,
      ended,
    };
  }

  /** Throws `ABORTED` if the caller aborted. */
  throwIfAborted(): void {
    const { signal } = this.request;
    if (signal?.aborted) throw abortError(signal, "The run");
  }

  /** Runs `work` within the remaining time, or within `timeoutMs`, and stops it when the time is up. */
  async timed<T>(
    work: (signal: AbortSignal) => Promise<T>,
    timeoutMs = this.budget.remainingMs,
  ): Promise<T | typeof OUT_OF_TIME> {
    this.throwIfAborted();
    // Timers take 31 bits; anything longer is effectively no limit.
    const limitMs = timeoutMs >= 2 ** 31 ? undefined : timeoutMs;
    using deadline = startDeadline({ timeoutMs: limitMs, signal: this.request.signal, what: "The run" });
    try {
      return await work(deadline.signal);
    } catch (error) {
      this.throwIfAborted();
      if (deadline.signal.aborted) return OUT_OF_TIME;
      throw error;
    }
  }

  /** Asks the model for one turn on `messages`. Adds nothing to the conversation. */
  async turn(messages: readonly Message[], options: TurnOptions): Promise<Turn> {
    const { model, think } = this.request;
    const show = options.show ?? true;
    this.#turns++;
    this.budget.takeTurn();
    this.emit({ type: "turn", turn: this.#turns });
    const said = new Said();
    let finish: Extract<ModelEvent, { type: "finish" }> | undefined;
    for await (const event of model.stream({
      messages,
      signal: options.signal,
      think,
      ...(options.tools === undefined || options.tools.length === 0 ? {} : { tools: options.tools }),
      toolChoice: options.toolChoice,
      format: options.format,
    })) {
      switch (event.type) {
        case "text":
          if (show && event.text !== "") this.emit({ type: "text", text: event.text });
          break;
        case "reasoning":
          if (event.text !== "") this.emit({ type: "reasoning", text: event.text });
          break;
        case "restart":
          if (said.empty) this.note(event.reason);
          else this.emit(event);
          break;
        case "finish":
          finish = event;
          break;
        case "tool-call":
          break;
      }
      said.add(event.type === "tool-call" ? { ...event, name: this.wireName(event.name) } : event);
    }
    if (finish === undefined) {
      throw new TrunklineError("INTERNAL", `The model ${model.id} ended a turn without a finish event.`);
    }
    this.#count(finish.usage, { messages, said });
    if (finish.reason === "length") this.note("The answer was cut off at the model's output limit.");
    if (finish.reason === "content-filter") this.note("The provider's content filter stopped the answer.");
    return {
      message: { role: "assistant", parts: said.parts },
      text: said.text,
      calls: said.calls,
      reason: finish.reason,
    };
  }

  #count(usage: TokenUsage | undefined, { messages, said }: { messages: readonly Message[]; said: Said }): void {
    if (usage !== undefined) {
      this.#usage = addUsage(this.#usage, usage);
      this.budget.spend(usage);
      this.emit({ type: "usage", usage });
      return;
    }
    // If the provider reports no usage, estimate four characters per token so that the budget still runs out. Only the
    // budget uses this estimate.
    this.budget.spend({
      inputTokens: Math.ceil(JSON.stringify(messages).length / 4),
      outputTokens: Math.ceil(JSON.stringify(said.parts).length / 4),
    });
  }
}

/** Joins events into the parts of a message. */
class Said {
  parts: MessagePart[] = [];
  calls: ToolCallEvent[] = [];
  #closed = false;

  get empty(): boolean {
    return this.parts.length === 0;
  }

  get text(): string {
    return this.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  }

  add(event: ModelEvent): void {
    switch (event.type) {
      case "text":
      case "reasoning":
        this.#append(event.type, event.text);
        if (event.providerData !== undefined) {
          const last = this.parts.pop();
          if (last?.type === event.type) this.parts.push({ ...last, providerData: event.providerData });
          this.#closed = true;
        }
        break;
      case "tool-call":
        this.calls.push(event);
        this.parts.push({
          type: "tool-call",
          id: event.id,
          name: event.name,
          args: event.args,
          providerData: event.providerData,
        });
        break;
      case "restart":
        this.parts = [];
        this.calls = [];
        this.#closed = false;
        break;
      case "finish":
        break;
    }
  }

  #append(type: "text" | "reasoning", text: string): void {
    const last = this.parts.at(-1);
    if (last?.type === type && !this.#closed) {
      this.parts[this.parts.length - 1] = { ...last, text: last.text + text };
    } else this.parts.push({ type, text });
    this.#closed = false;
  }
}

/** Describes which limit was reached. */
function spentWords(budget: Budget): string {
  const { maxTurns, maxTokens, maxTimeMs } = budget.limits;
  switch (budget.spent) {
    case "turns":
      return `the limit of ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"} was reached`;
    case "tokens":
      return `the limit of ${maxTokens} tokens was reached`;
    case "time":
    case undefined:
      return `the time limit of ${formatMs(maxTimeMs ?? 0)} was reached`;
  }
}

/** Time for the last word after the time limit was reached. */
const LAST_WORD_MS = 30_000;

type Format = NonNullable<AgentRequest["format"]>;

/** The parsed value, or what is wrong with the text. */
type CheckedJson = { readonly value: unknown } | { readonly problems: readonly string[] };

/** Finds the first piece of JSON in the text that matches the schema. */
export function checkJson(text: string, format: Format): CheckedJson {
  let problems: readonly string[] | undefined;
  for (const value of jsonIn(text)) {
    const found = format.schema === undefined ? [] : schemaProblems(format.schema, value, { trusted: true });
    if (found.length === 0) return { value };
    problems ??= found;
  }
  return { problems: problems ?? ["it is not JSON"] };
}

/** Tells a model which format its answer must have. */
export function formatNote(format: Format): string {
  const shape =
    format.schema === undefined ? "" : ` It must be valid against this JSON Schema: ${JSON.stringify(format.schema)}`;
  return `Your final answer must be one JSON document and nothing else: no prose, no code fence.${shape}`;
}

interface AskAgain {
  readonly system: readonly Message[];
  readonly tools: readonly ModelTool[];
}

/** Ends a run with a turn's answer. If the JSON does not match, asks once more, without tools. */
export async function endWithAnswer(run: Run, turn: Turn, again: AskAgain): Promise<AgentResult> {
  const { format } = run.request;
  if (format === undefined) {
    run.push(turn.message);
    return run.result(turn.text, "answer");
  }
  const first = checkJson(turn.text, format);
  if ("value" in first) {
    run.push(turn.message);
    return run.result(turn.text, "answer", first);
  }
  const problems = first.problems.join("; ");
  run.note(`The answer did not have the requested format (${problems}); asking once more.`);
  const messages = [
    ...again.system,
    ...run.messages,
    ...(turn.text === "" ? [] : [textMessage("assistant", turn.text)]),
    textMessage("user", `Your answer cannot be used: ${problems}. ${formatNote(format)}`),
  ];
  const second = await run.timed((signal) =>
    run.turn(messages, { tools: again.tools, toolChoice: "none", format, signal }),
  );
  const checked = second === OUT_OF_TIME ? first : checkJson(second.text, format);
  if (second === OUT_OF_TIME || !("value" in checked)) {
    run.push(turn.message);
    throw wrongForm(run, "problems" in checked ? checked.problems : first.problems);
  }
  run.push(second.message);
  return run.result(second.text, "answer", checked);
}

function wrongForm(run: Run, problems: readonly string[]): TrunklineError {
  return new TrunklineError(
    "UPSTREAM",
    `${run.request.model.id} did not answer with the requested JSON: ${problems.join("; ")}.`,
    { hint: "Simplify the schema, or use a larger model." },
  );
}

/**
 * Ends a run that has to stop: in one last turn without tools, the model says what it knows. A sub-agent leaves that to
 * its parent. If this turn fails, the run still succeeds with the text so far as its result.
 */
export async function endWithLastWord(
  run: Run,
  { ended, why = spentWords(run.budget), ...again }: AskAgain & { ended: "budget" | "stuck"; why?: string },
): Promise<AgentResult> {
  const { format } = run.request;
  run.note(`Stopping: ${why}.`);
  if (run.depth > 0) return run.result(`Stopped without an answer: ${why}. ${lastText(run)}`.trim(), ended);
  const messages = [
    ...again.system,
    ...run.messages,
    textMessage(
      "user",
      `You have to stop here: ${why}. Do not call any tool. Answer now with what you know, and say what is still open.${
        format === undefined ? "" : ` ${formatNote(format)}`
      }`,
    ),
  ];
  let turn: Turn | typeof OUT_OF_TIME;
  try {
    const timeoutMs = Math.max(LAST_WORD_MS, Math.min(run.budget.remainingMs, 10 * LAST_WORD_MS));
    turn = await run.timed(
      (signal) => run.turn(messages, { tools: again.tools, toolChoice: "none", format, signal }),
      timeoutMs,
    );
  } catch (error) {
    if (!isTrunklineError(error) || error.code === "ABORTED") throw error;
    run.note(`The final answer failed: ${error.message}`);
    turn = OUT_OF_TIME;
  }
  const text = turn === OUT_OF_TIME ? "" : turn.text.trim();
  if (format !== undefined) {
    const checked = checkJson(text, format);
    if (turn === OUT_OF_TIME || !("value" in checked)) {
      throw new TrunklineError("UPSTREAM", `The run ended before there was a JSON answer: ${why}.`, {
        hint: "Allow more turns (--max-turns), tokens or time.",
      });
    }
    run.push(textMessage("assistant", turn.text));
    return run.result(turn.text, ended, checked);
  }
  const word = text === "" ? `Stopped without an answer: ${why}. ${lastText(run)}`.trim() : (turn as Turn).text;
  // Keep only the text: any tool call in this turn would never get a result.
  run.push(textMessage("assistant", word));
  return run.result(word, ended);
}

/** Returns the model's last text in this run, if any. */
function lastText(run: Run): string {
  const own = run.messages.slice(run.request.messages.length);
  const last = own.findLast((message) => message.role === "assistant" && messageText(message).trim() !== "");
  return last === undefined ? "" : `The last thing said was: ${messageText(last).trim()}`;
}
