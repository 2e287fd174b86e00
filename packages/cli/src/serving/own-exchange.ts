// A request that the command itself makes of the service.
import type { Channel } from "@trunkline/client";
import type { Exchange } from "@trunkline/server";

/** The revision that the command speaks with itself. */
const REVISION = "2026-07-28";

/** An exchange with nobody behind it but, at a terminal, the person there. */
export function ownExchange(name: string, signal: AbortSignal, channel: Channel = {}): Exchange {
  return {
    caller: {
      id: name,
      name,
      era: "modern",
      revision: REVISION,
      endpoint: "stdio",
      lasting: true,
      capabilities: {},
    },
    channel,
    signal,
    meta: {},
  };
}
