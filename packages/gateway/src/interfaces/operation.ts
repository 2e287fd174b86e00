// An operation: what a pipeline step refers to. Store operations, the server's own operations and every upstream tool
// share this interface; the validator, `describe`, the reference page and the command's help are derived from it.
import type { LargeValue, Narrowing, ToolCallOptions, ToolProgress } from "@trunkline/core";
import type { Exchange } from "./exchange.js";

/** Parameters by name, as received or taken from a reference. */
export type Params = Readonly<Record<string, unknown>>;

/** `query` accepts only `read` operations, `execute` accepts all; `session` ones belong to the `session` tool. */
export type OperationKind = "read" | "write" | "session";

export interface OperationContext {
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/** The context of an operation that runs for an exchange as long as the exchange lasts. */
export class ExchangeContext implements OperationContext {
  readonly exchange: Exchange;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;

  constructor(exchange: Exchange, onProgress?: (progress: ToolProgress) => void) {
    this.exchange = exchange;
    this.onProgress = onProgress;
  }

  get signal(): AbortSignal {
    return this.exchange.signal;
  }
}

/** Ends a call of an upstream tool together with its operation. */
export function endWith(context: OperationContext, options: Pick<ToolCallOptions, "ending" | "signal">): void {
  const { ending } = context.exchange;
  // An operation with its own signal ends when that says so.
  if (ending !== undefined && context instanceof ExchangeContext) options.ending = ending;
  else options.signal = context.signal;
}

/** A content block as in the protocol: text, image, audio, resource, link, or an unknown type. */
export type ContentBlock = Readonly<Record<string, unknown>>;

export interface OperationOutcome {
  /** The value that references see. A large one may be a `LargeValue`. */
  readonly value: unknown;
  /** Non-text blocks, passed through unchanged. */
  readonly blocks?: readonly (ContentBlock | LargeValue)[];
  /** The operation itself reports a failure: an upstream tool with `isError`. In that case `value` is its message. */
  readonly isError?: boolean;
}

export interface Operation {
  /** `search`, or `<server>.<tool>`. */
  readonly name: string;
  readonly kind: OperationKind;
  /** One line. */
  readonly summary: string;
  /** JSON Schema of the parameters. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Working example parameters. */
  readonly example?: Params;
  /** The upstream server; absent for our own operations. */
  readonly server?: string;
  /** As declared by the upstream server. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** Whether `atomic` can undo the operation. */
  readonly undoable?: boolean;
  /**
   * Present if the definition is held: asks the user to accept it, and returns the operation to use instead. Rejects with
   * `DENIED` and the reasons.
   */
  readonly release?: (context: Pick<OperationContext, "exchange" | "signal">) => Promise<Operation>;
  /** Whether the operation reads or changes more without this parameter, by any of its names. Only for our own. */
  readonly narrows?: (parameter: string) => Narrowing;
  /** Normalizes parameters for `run`. Throws `INVALID_ARGUMENT` with the nearest known name. */
  validate(params: Params): Params;
  /** Rejects with a `TrunklineError`. */
  run(params: Params, context: OperationContext): Promise<OperationOutcome>;
}

export interface OperationRegistry {
  /** Our own operations: always available, in listing order. */
  readonly builtin: readonly Operation[];
  /**
   * Finds an operation by name, connecting its upstream server if needed. Rejects with `NOT_FOUND` and the nearest
   * names in the hint, or with the reason why the server is unavailable.
   */
  find(name: string, options?: { signal?: AbortSignal }): Promise<Operation>;
}
