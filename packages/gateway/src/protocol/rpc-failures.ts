// Converts failures to protocol errors.
import { TrunklineError } from "@trunkline/core";
import { RPC_CODES, RpcError } from "@trunkline/protocol";

/** Converts anything thrown to a protocol error. Unexpected errors reveal no details to the client. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof TrunklineError) {
    const { code, message, hint } = error;
    return new RpcError(RPC_CODES.internalError, message, {
      cause: error,
      data: { code, hint },
    });
  }
  return new RpcError(RPC_CODES.internalError, "Internal error.", { cause: error });
}

/** Whether an error belongs in the log: a bug, not a rejection. */
export function isUnforeseen(error: unknown): boolean {
  return !(error instanceof RpcError) && !(error instanceof TrunklineError && error.code !== "INTERNAL");
}
