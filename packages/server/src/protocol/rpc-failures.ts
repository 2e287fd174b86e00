// How failures become protocol errors.
import { TrunklineError } from "@trunkline/core";
import { RPC_CODES, RpcError } from "@trunkline/protocol";

/** Whatever was thrown, as a protocol error. What the service did not foresee says nothing about itself to the client. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof TrunklineError) {
    const { code, message, hint } = error;
    return new RpcError(RPC_CODES.internalError, message, {
      cause: error,
      data: { code, ...(hint === undefined ? {} : { hint }) },
    });
  }
  return new RpcError(RPC_CODES.internalError, "Internal error.", { cause: error });
}

/** Whether an error says something that the log should have: a defect, not a refusal. */
export function isUnforeseen(error: unknown): boolean {
  return !(error instanceof RpcError) && !(error instanceof TrunklineError && error.code !== "INTERNAL");
}
