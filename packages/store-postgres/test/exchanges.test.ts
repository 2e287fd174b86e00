import { silentLogger } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { Exchanges } from "../src/team/exchanges.js";
import type { GatewayState, GatewayStates } from "../src/team/gateway-states.js";
import { type Mailbox, NO_BODY } from "../src/team/mailbox.js";

describe("a request of another gateway", () => {
  it("is cancelled when that gateway has started again under the same name", async () => {
    let run = "first";
    const look = async (): Promise<ReadonlyMap<string, GatewayState>> =>
      new Map([["a", { run, isGone: false, isSilent: false }]]);
    // Only what these exchanges use.
    const states = { look } as unknown as GatewayStates;
    const mailbox = { read: async () => {}, send: async () => {} } as unknown as Mailbox;
    const exchanges = new Exchanges({ mailbox, states, logger: silentLogger });
    let signal: AbortSignal | undefined;
    exchanges.serve(async (request) => {
      signal = request.signal;
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      return undefined;
    });
    exchanges.receive({ kind: "request", sender: "a", exchange: "e", number: 0, body: NO_BODY });
    await exchanges.look();
    expect(signal?.aborted).toBe(false);
    run = "second";
    await exchanges.look();
    expect(signal?.aborted).toBe(true);
    exchanges.close();
  });
});
