// An operation: what a step of a pipeline names. Those of the store, those of the server itself and every upstream tool
// have this one shape; validator, `describe`, the reference page and the help of the command come from it.
import type { ToolProgress } from "@trunkline/core";
import type { Exchange } from "./exchange.js";

/** Parameters by name, as they came off the wire or out of a reference. */
export type Params = Readonly<Record<string, unknown>>;

/** `read` operations may stand in `query`, all operations in `execute`; `session` ones belong to the tool `session`. */
export type OperationKind = "read" | "write" | "session";

/** What is known while an operation runs. */
export interface OperationContext {
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/** A content block of the protocol, as it is: text, image, audio, resource, link, or what nobody here knows. */
export type ContentBlock = Readonly<Record<string, unknown>>;

/** What an operation came back with. */
export interface OperationOutcome {
  /** What references see. */
  readonly value: unknown;
  /** Blocks that are not text and stay what they are. */
  readonly blocks?: readonly ContentBlock[] | undefined;
  /** The operation itself reports a failure: an upstream tool with `isError`. `value` is then what it said. */
  readonly isError?: boolean | undefined;
}

/** One operation. */
export interface Operation {
  /** `search`, or `<server>.<tool>`. */
  readonly name: string;
  readonly kind: OperationKind;
  /** One line. */
  readonly summary: string;
  /** JSON Schema of the parameters. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Parameters that work. */
  readonly example?: Params | undefined;
  /** The server behind it; absent for operations of our own. */
  readonly server?: string | undefined;
  /** As the upstream server declares them. */
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  /** Whether `atomic` can undo it. */
  readonly undoable?: boolean | undefined;
  /** Brings parameters into the form that `run` takes. Throws `INVALID_ARGUMENT`, with the nearest known name. */
  validate(params: Params): Params;
  /** Rejects with a `TrunklineError`. */
  run(params: Params, context: OperationContext): Promise<OperationOutcome>;
}

/** Where operations are found. */
export interface OperationRegistry {
  /** The operations of our own: always there, in the order they are listed. */
  readonly builtin: readonly Operation[];
  /**
   * The operation of this name; an upstream server is connected for it. Rejects with `NOT_FOUND`, the nearest names in
   * the hint, or with why the server cannot be used.
   */
  find(name: string, options?: { signal?: AbortSignal }): Promise<Operation>;
}
