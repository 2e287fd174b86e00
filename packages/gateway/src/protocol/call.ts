// A call that can outlive the request that started it: it is parked while the client is asked, or continues as a task.
// Its questions wait in a table; the code that serves the call (the repeated request, or the task's methods) provides
// the answers.
import type { Channel, QuestionContext } from "@trunkline/client";
import { isRecord, type ToolProgress, TrunklineError } from "@trunkline/core";
import { missingArguments } from "@trunkline/core/schema";
import {
  isQuestionMethod,
  QUESTION_CAPABILITIES,
  RPC_CODES,
  RpcError,
  type RpcId,
  type RpcParams,
} from "@trunkline/protocol";
import type { Caller, Exchange } from "../interfaces/exchange.js";
import { createExchangeChannel, elicitationModes, progressMessage } from "./exchange-channel.js";
import type { Outlet } from "./request-context.js";

/** A question that waits for its answer, in protocol form. */
interface OpenQuestion {
  readonly method: string;
  readonly params: RpcParams;
}

type CallOutcome =
  | { readonly kind: "result"; readonly result: RpcParams }
  | { readonly kind: "error"; readonly error: unknown };

/** The current state of a call: ended, or asking. */
type CallTurn = CallOutcome | { readonly kind: "asks" };

/** The call took longer than the wait limit. */
interface LateTurn {
  readonly kind: "late";
}

const LATE: LateTurn = { kind: "late" };

/** The request that a call currently answers: the call's messages are sent there. */
export interface CallView {
  readonly outlet: Outlet;
  readonly progressToken: RpcId | undefined;
  readonly logLevel: string | undefined;
}

interface CallOptions {
  readonly caller: Caller;
  readonly meta: RpcParams;
  readonly party?: object;
  readonly view: CallView;
  /** Whether the response to the request can be a question at all. Default true. */
  readonly canAsk?: boolean;
}

interface Pending extends OpenQuestion {
  resolve(answer: Record<string, unknown>): void;
  reject(error: Error): void;
}

/** How long to wait for further questions: those asked together arrive a few ticks apart. */
const GATHER_MS = 10;

export class Call {
  readonly caller: Caller;
  readonly channel: Channel;
  readonly #controller = new AbortController();
  readonly #open = new Map<string, Pending>();
  #view: CallView | undefined;
  #asked = 0;
  #lastProgress = Number.NEGATIVE_INFINITY;
  #outcome: CallOutcome | undefined;
  #awaiting: ((turn: CallTurn) => void)[] = [];
  #gathering: NodeJS.Timeout | undefined;
  /**
   * Keys of questions that were withdrawn while the call goes on, because they were answered elsewhere. The client may
   * still answer them, and that must not count for another question.
   */
  readonly #withdrawn = new Set<string>();
  /** Answers that arrived before their questions. */
  #given: RpcParams = {};
  /** The requests that wait for this call: two if the client repeats its request before the first ends. */
  readonly followers = new Set<object>();
  /** Called on every externally visible change. */
  onChange: ((message?: string) => void) | undefined;
  readonly exchange: Exchange;

  constructor({ caller, meta, party, view, canAsk = true }: CallOptions) {
    this.caller = caller;
    this.#view = view;
    const onProgress =
      view.progressToken === undefined ? undefined : (progress: ToolProgress) => this.#report(progress);
    this.channel = createExchangeChannel({
      name: caller.name,
      principal: caller.principal,
      party,
      capabilities: canAsk ? caller.capabilities : {},
      revision: caller.revision,
      ask: (method, params, asked) => this.#ask(method, params, asked),
      logLevel: () => this.#view?.logLevel,
      outlet: () => this.#view?.outlet,
      laterOutlet: () => (this.#view ?? view).outlet,
      onProgress,
    });
    this.exchange = { caller, channel: this.channel, signal: this.#controller.signal, meta, onProgress };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** How the call ended; undefined while it runs. */
  get outcome(): CallOutcome | undefined {
    return this.#outcome;
  }

  /** The unanswered questions, by key. */
  get questions(): Readonly<Record<string, OpenQuestion>> {
    return Object.fromEntries([...this.#open].map(([key, { method, params }]) => [key, { method, params }]));
  }

  get hasQuestions(): boolean {
    return this.#open.size > 0;
  }

  run(work: (exchange: Exchange) => Promise<RpcParams>): void {
    work(this.exchange).then(
      (result) => this.#end({ kind: "result", result }),
      (error: unknown) => this.#end({ kind: "error", error }),
    );
  }

  /** Sends the call's messages to this request from now on; undefined drops them. */
  show(view: CallView | undefined): void {
    this.#view = view;
    // A new progress token starts a new sequence.
    this.#lastProgress = Number.NEGATIVE_INFINITY;
  }

  /** Provides answers in advance, by the names that servers use for their questions. */
  give(answers: RpcParams): void {
    this.#given = answers;
  }

  /** Passes answers to their questions. Answers that match no question are ignored; unanswered questions stay open. */
  answer(answers: RpcParams): void {
    for (const [key, pending] of [...this.#open]) {
      const answer = answers[key];
      if (fitsQuestion(pending, answer)) pending.resolve(answer);
    }
  }

  /** Waits until the call ends, asks something or exceeds the limit. With a limit of 0 it is always late. */
  turn(): Promise<CallTurn>;
  turn(limitMs: number | undefined): Promise<CallTurn | LateTurn>;
  turn(limitMs?: number): Promise<CallTurn | LateTurn> {
    if (limitMs === 0) return Promise.resolve(LATE);
    if (this.#outcome !== undefined) return Promise.resolve(this.#outcome);
    if (this.#open.size > 0 && this.#gathering === undefined) return Promise.resolve({ kind: "asks" });
    return new Promise((resolve) => {
      // Usually one request waits; there are two if the client repeats its request.
      if (limitMs === undefined) {
        this.#awaiting.push(resolve);
        return;
      }
      const onTurn = (turn: CallTurn) => {
        clearTimeout(timer);
        resolve(turn);
      };
      this.#awaiting.push(onTurn);
      const timer = setTimeout(() => {
        this.#awaiting = this.#awaiting.filter((other) => other !== onTurn);
        resolve(LATE);
      }, limitMs);
    });
  }

  /** Aborts the work. */
  cancel(reason: Error): void {
    if (this.#outcome !== undefined || this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    for (const pending of [...this.#open.values()]) pending.reject(reason);
    this.#end({ kind: "error", error: reason });
  }

  #end(outcome: CallOutcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    clearTimeout(this.#gathering);
    if (this.#open.size > 0) for (const pending of [...this.#open.values()]) pending.reject(ended());
    this.#wake(outcome);
    this.onChange?.();
  }

  #wake(turn: CallTurn): void {
    const awaiting = this.#awaiting;
    this.#awaiting = [];
    for (const resolve of awaiting) resolve(turn);
  }

  #report(progress: ToolProgress): void {
    if (this.#outcome !== undefined) return;
    const { message, total } = progress;
    this.onChange?.(message ?? (total === undefined ? undefined : `${progress.progress} of ${total}`));
    const view = this.#view;
    // Progress has to increase, but several sources report to one token: the channel and the operation runner.
    if (view?.progressToken === undefined || !(progress.progress > this.#lastProgress)) return;
    this.#lastProgress = progress.progress;
    view.outlet.send(progressMessage(view.progressToken, progress));
  }

  #ask(method: string, params: RpcParams, { key: name, signal }: QuestionContext): Promise<Record<string, unknown>> {
    if (this.#outcome !== undefined) return Promise.reject(ended());
    if (signal.aborted) return Promise.reject(ended());
    const missing = missingCapability(method, params, this.caller.capabilities);
    if (missing !== undefined) return Promise.reject(missing);
    const early = name === undefined ? undefined : this.#given[name];
    if (name !== undefined && fitsQuestion({ method, params }, early)) {
      // Each answer is used once: the same name in the next round is another question.
      const { [name]: _, ...others } = this.#given;
      this.#given = others;
      return Promise.resolve(early);
    }
    this.#asked += 1;
    const isFree = name !== undefined && name !== "" && !this.#open.has(name) && !this.#withdrawn.has(name);
    const key = isFree
      ? name
      : `${isQuestionMethod(method) ? QUESTION_CAPABILITIES[method] : "question"}_${this.#asked}`;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#withdrawn.add(key);
        pending.reject(ended());
      };
      const settle = () => {
        this.#open.delete(key);
        signal.removeEventListener("abort", onAbort);
        this.onChange?.();
      };
      const pending: Pending = {
        method,
        params,
        resolve: (answer) => {
          settle();
          resolve(answer);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#open.set(key, pending);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#gathering ??= setTimeout(() => {
        this.#gathering = undefined;
        if (this.#open.size === 0) return;
        this.#wake({ kind: "asks" });
        this.onChange?.();
      }, GATHER_MS);
    });
  }
}

/**
 * Returns why the client cannot be asked: it lacks the capability. Elicitation modes and tools in sampling are declared
 * separately.
 */
function missingCapability(method: string, params: RpcParams, capabilities: RpcParams): RpcError | undefined {
  if (method === "elicitation/create") {
    const mode = params.mode === "url" ? "url" : "form";
    return elicitationModes(capabilities).includes(mode) ? undefined : lacks({ elicitation: { [mode]: {} } });
  }
  if (method !== "sampling/createMessage" || (params.tools === undefined && params.toolChoice === undefined)) {
    return undefined;
  }
  const { sampling } = capabilities;
  return isRecord(sampling) && sampling.tools !== undefined ? undefined : lacks({ sampling: { tools: {} } });
}

function lacks(requiredCapabilities: RpcParams): RpcError {
  const what = Object.entries(requiredCapabilities).map(([name, parts]) =>
    [name, ...Object.keys(parts ?? {})].join("."),
  );
  return new RpcError(RPC_CODES.missingCapability, `The client does not declare the capability ${what.join(", ")}.`, {
    data: { requiredCapabilities },
  });
}

function ended(): TrunklineError {
  return new TrunklineError("ABORTED", "The call has ended.");
}

/** Whether this has the form of an answer to the question. The server that asks validates it against its own schema. */
function fitsQuestion(
  question: { readonly method: string; readonly params: RpcParams },
  answer: unknown,
): answer is Record<string, unknown> {
  if (!isRecord(answer)) return false;
  switch (question.method) {
    case "elicitation/create":
      if (answer.action === "decline" || answer.action === "cancel") return true;
      if (answer.action !== "accept") return false;
      return question.params.mode === "url" || fitsForm(question.params.requestedSchema, answer.content);
    case "sampling/createMessage":
      return typeof answer.role === "string" && answer.content !== undefined;
    case "roots/list":
      return Array.isArray(answer.roots);
    default:
      return true;
  }
}

/** Only checks that no required field is missing: defaults, formats and limits are up to the server that asks. */
function fitsForm(schema: unknown, content: unknown = {}): boolean {
  return isRecord(content) && (!isRecord(schema) || missingArguments(content, schema).length === 0);
}
