// One run of an agent: what the loops share. It keeps the conversation, counts what is spent, tells who listens, and ends with
// an answer, checked where JSON was asked for, or with a last word.
import { abortError, formatMs, isTrunklineError, startDeadline, TrunklineError } from "@trunkline/core";
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
import type { Tool } from "../tools/tool.js";
import type { AgentEvent, AgentRequest, AgentResult } from "./agent.js";
import { Budget } from "./budget.js";
import { jsonIn } from "./json-repair.js";
import { schemaProblems } from "./json-schema.js";
import { closeOpenCalls, messageText, textMessage } from "./message-history.js";

/** A call as the model made it. */
export type ToolCallEvent = Extract<ModelEvent, { type: "tool-call" }>;

/** What a model said in one turn. */
export interface Turn {
  readonly message: Message;
  readonly text: string;
  readonly calls: readonly ToolCallEvent[];
  readonly reason: FinishReason;
}

/** Stands for a result that the budget of time did not allow. */
export const OUT_OF_TIME = Symbol("out of time");

type EventOf<Event> = Event extends AgentEvent ? Omit<Event, "depth"> : never;

/** How a turn is asked for. */
interface TurnOptions {
  readonly tools?: ModelRequest["tools"];
  readonly toolChoice?: ModelRequest["toolChoice"];
  readonly format?: ModelRequest["format"];
  /** Whether text is shown as it comes. Default yes. */
  readonly show?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** One run. */
export class Run {
  readonly request: AgentRequest;
  readonly budget: Budget;
  readonly depth: number;
  readonly frameKey: string;
  readonly tools: readonly Tool[];
  readonly #messages: Message[];
  #turns = 0;
  #usage: TokenUsage = NO_USAGE;

  constructor(request: AgentRequest, tools: readonly Tool[] = request.tools) {
    this.request = request;
    this.budget = request.budget ?? new Budget(request.limits);
    this.depth = request.depth ?? 0;
    this.frameKey = request.frameKey ?? createFrameKey();
    this.tools = tools;
    this.#messages = closeOpenCalls(request.messages);
  }

  /** The conversation so far. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Adds messages that belong together. */
  push(...messages: readonly Message[]): void {
    for (const message of messages) {
      this.#messages.push(message);
      this.request.onMessage?.(message);
    }
  }

  emit(event: EventOf<AgentEvent>): void {
    // Omit of a union member and its depth are that member again.
    this.request.onEvent?.({ ...event, depth: this.depth } as AgentEvent);
  }

  note(message: string): void {
    this.emit({ type: "note", message });
  }

  /** Counts what a sub-agent spent; the shared budget knows of it already. */
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

  /** Throws `ABORTED` where the caller has had enough. */
  throwIfAborted(): void {
    const { signal } = this.request;
    if (signal?.aborted) throw abortError(signal, "The run");
  }

  /** Runs `work` within what is left of the time, or within `timeoutMs`. The work is stopped when that has passed. */
  async timed<T>(
    work: (signal: AbortSignal) => Promise<T>,
    timeoutMs = this.budget.remainingMs,
  ): Promise<T | typeof OUT_OF_TIME> {
    this.throwIfAborted();
    // A timer takes 31 bits; more than that is as good as no limit.
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

  /** Asks the model for one turn on `messages`. Nothing is added to the conversation. */
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
      ...(think === undefined ? {} : { think }),
      ...(options.tools === undefined || options.tools.length === 0 ? {} : { tools: options.tools }),
      ...(options.toolChoice === undefined ? {} : { toolChoice: options.toolChoice }),
      ...(options.format === undefined ? {} : { format: options.format }),
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
      said.add(event);
    }
    if (finish === undefined) {
      throw new TrunklineError("INTERNAL", `The model ${model.id} ended a turn without saying that it did.`);
    }
    this.#count(finish.usage, { messages, said });
    if (finish.reason === "length") this.note("The answer was cut at the model's limit for its output.");
    if (finish.reason === "content-filter") this.note("The provider's filter stopped the answer.");
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
    // A provider that does not tell must not make a budget endless: four characters to a token, for the budget only.
    this.budget.spend({
      inputTokens: Math.ceil(JSON.stringify(messages).length / 4),
      outputTokens: Math.ceil(JSON.stringify(said.parts).length / 4),
    });
  }
}

/** Joins events to the parts of a message. */
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
          ...(event.providerData === undefined ? {} : { providerData: event.providerData }),
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

/** What ran out, in words. */
function spentWords(budget: Budget): string {
  const { maxTurns, maxTokens, maxTimeMs } = budget.limits;
  switch (budget.spent) {
    case "turns":
      return `the ${maxTurns} turns are used up`;
    case "tokens":
      return `the ${maxTokens} tokens are used up`;
    case "time":
    case undefined:
      return `the time of ${formatMs(maxTimeMs ?? 0)} is over`;
  }
}

/** How long a last word may take when time itself ran out. */
const LAST_WORD_MS = 30_000;

type Format = NonNullable<AgentRequest["format"]>;

/** A value of the form that was asked for, or what is wrong with the text. */
type CheckedJson = { readonly value: unknown } | { readonly problems: readonly string[] };

/** The JSON in a text: the first piece that fits the schema. */
export function checkJson(text: string, format: Format): CheckedJson {
  let problems: readonly string[] | undefined;
  for (const value of jsonIn(text)) {
    const found = format.schema === undefined ? [] : schemaProblems(format.schema, value, { patterns: true });
    if (found.length === 0) return { value };
    problems ??= found;
  }
  return { problems: problems ?? ["it is not JSON"] };
}

/** What a model is told of the form of its answer. */
export function formatNote(format: Format): string {
  const shape =
    format.schema === undefined ? "" : ` It has to be valid against this JSON Schema: ${JSON.stringify(format.schema)}`;
  return `Your final answer has to be one JSON document and nothing else: no prose, no fence around it.${shape}`;
}

/** How the model is asked once more. */
interface AskAgain {
  readonly system: readonly Message[];
  readonly tools: readonly ModelTool[];
}

/** Ends a run with a turn's answer. JSON that does not fit is asked for once more, without tools. */
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
  run.note(`The answer did not have the form that was asked for (${problems}); asking once more.`);
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
    `${run.request.model.id} did not answer with the JSON that was asked for: ${problems.join("; ")}.`,
    { hint: "Simplify the schema, or use a larger model." },
  );
}

/**
 * Ends a run that may not go on: the model says in one last turn, without tools, what it knows. A sub-agent leaves that to
 * the agent above it. A model that cannot even do this is no failure any more: what it said before stands.
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
    run.note(`The last word failed: ${error.message}`);
    turn = OUT_OF_TIME;
  }
  const text = turn === OUT_OF_TIME ? "" : turn.text.trim();
  if (format !== undefined) {
    const checked = checkJson(text, format);
    if (turn === OUT_OF_TIME || !("value" in checked)) {
      throw new TrunklineError("UPSTREAM", `The run ended before there was an answer in JSON: ${why}.`, {
        hint: "Allow more turns (--max-turns), tokens or time.",
      });
    }
    run.push(textMessage("assistant", turn.text));
    return run.result(turn.text, ended, checked);
  }
  const word = text === "" ? `Stopped without an answer: ${why}. ${lastText(run)}`.trim() : (turn as Turn).text;
  // Only the text: a call that was made in spite of everything is not kept, because it will never have a result.
  run.push(textMessage("assistant", word));
  return run.result(word, ended);
}

/** What the model said last in this run, if anything. */
function lastText(run: Run): string {
  const own = run.messages.slice(run.request.messages.length);
  const last = own.findLast((message) => message.role === "assistant" && messageText(message).trim() !== "");
  return last === undefined ? "" : `The last thing said was: ${messageText(last).trim()}`;
}
