// One run of an agent: what the loops share. It keeps the conversation, counts what is spent and tells who listens.
import { abortError, formatMs, startDeadline, TrunklineError } from "@trunkline/core";
import type { FinishReason, Message, MessagePart, ModelEvent, ModelRequest, TokenUsage } from "../model/model.js";
import { addUsage, NO_USAGE } from "../model/usage.js";
import { createFrameKey } from "../tools/framing.js";
import type { Tool } from "../tools/tool.js";
import type { AgentEvent, AgentRequest, AgentResult } from "./agent.js";
import { Budget } from "./budget.js";
import { closeOpenCalls } from "./history.js";

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
export interface TurnOptions {
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
export function spentWords(budget: Budget): string {
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
