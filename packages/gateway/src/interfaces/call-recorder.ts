// Recording of calls with their arguments and results, for a person who looks at them. The journal never has them.
import type { TrunklineError } from "@trunkline/core";
import type { OperationOutcome, Params } from "./operation.js";

/** What a call said. Values can be large, and can contain secrets. */
export interface RecordedCall {
  /** Undefined if a reference in them could not be resolved. */
  readonly params: Params | undefined;
  /** Large values in it are released soon: they have to be read at once, or not at all. */
  readonly outcome?: OperationOutcome;
  readonly error?: TrunklineError;
}

/** Keeps calls. Never throws and never makes the caller wait. */
export interface CallRecorder {
  /** Starts recording a call; undefined while recording is off. Every call passes here. */
  begin(): { readonly id: string; end(call: RecordedCall): void } | undefined;
}
