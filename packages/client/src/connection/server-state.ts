// The states of a server, and those in which nothing is to be started.
import { TrunklineError } from "@trunkline/core";

/** The states of a server, visible while they happen. */
export type ServerState = "pending" | "connected" | "failed" | "needs-auth" | "disabled" | "untrusted";

/** Whether a server in this state may be connected at all. */
export function isConnectable(state: ServerState): boolean {
  return state !== "disabled" && state !== "untrusted";
}

/** Throws where a server in this state may not be connected, with what its owner can do about it. */
export function requireConnectable(server: string, state: ServerState): void {
  if (state === "disabled") {
    throw new TrunklineError("SERVER_UNAVAILABLE", `Server "${server}" is disabled.`, {
      hint: `Enable it: trunkline servers enable ${server}`,
    });
  }
  if (state === "untrusted") {
    throw new TrunklineError(
      "SERVER_UNAVAILABLE",
      `Server "${server}" comes from a project file that nobody has confirmed.`,
      { hint: "See what it would run, and confirm it: trunkline trust" },
    );
  }
}
