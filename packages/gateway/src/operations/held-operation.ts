// A tool whose definition is held: it can be named, but runs only after the user has accepted the definition.
import type { HeldEntry, Hub } from "@trunkline/client";
import { isRecord, isTrunklineError, type TrunklineError } from "@trunkline/core";
import type { Operation } from "../interfaces/operation.js";
import { acceptsDefinition, canAsk } from "./ask-user.js";
import { summaryOf } from "./upstream-operation.js";

/** The held tool that an error is about; undefined for any other error. */
export function heldToolOf(error: unknown, hub: Hub): HeldEntry | undefined {
  if (!isTrunklineError(error, "DENIED") || !isRecord(error.data?.held)) return undefined;
  const { server, name } = error.data.held;
  return hub.held().find((item) => item.kind === "tools" && item.server === server && item.name === name);
}

/** Creates the operation for a held tool. `accepted` finds the operation to run once the definition is accepted. */
export function heldOperation(hub: Hub, held: HeldEntry, accepted: () => Promise<Operation>): Operation {
  const name = `${held.server}.${held.name}`;
  const { description, inputSchema } = held.definition;
  const refuse = async (): Promise<TrunklineError> => {
    const { heldError } = await import("@trunkline/client/internal");
    return heldError(held);
  };
  return {
    name,
    // Whatever its definition says now.
    kind: "write",
    summary: summaryOf(typeof description === "string" ? description : undefined),
    schema: isRecord(inputSchema) ? inputSchema : { type: "object" },
    server: held.server,
    release: async (context) => {
      if (!canAsk(context.exchange)) throw await refuse();
      const reasons = held.reasons.map(({ text }) => text);
      if (!(await acceptsDefinition({ name, server: held.server, reasons }, context))) throw await refuse();
      const current = hub
        .held()
        .find((item) => item.kind === "tools" && item.name === held.name && item.server === held.server);
      // The user has accepted what the question was about, nothing newer.
      if (current !== undefined && current.hash !== held.hash) throw await refuse();
      await hub.approve(held.server, held.name);
      return await accepted();
    },
    validate: (params) => params,
    run: async () => {
      throw await refuse();
    },
  };
}
