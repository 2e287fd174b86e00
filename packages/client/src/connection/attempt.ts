// One attempt to connect: within its time, and with a reason where it fails.
import type { Transport } from "@modelcontextprotocol/client";
import { TrunklineError, withDeadline } from "@trunkline/core";
import type { ServerAuth } from "../auth/server-auth.js";
import type { ServerDefinition } from "../config/loaded-config.js";
import { connectError, unusableError } from "./connection-errors.js";
import { type Generation, type GenerationOptions, openGeneration } from "./generation.js";
import { StdioTransport } from "./stdio-transport.js";

/** A definition with every value that is looked up only when the server is started: `\${NAME}` in a skill. */
export interface Launched {
  readonly definition: ServerDefinition;
  /** Variables that its values refer to and that are not set. */
  readonly missing: readonly string[];
}

/** What an attempt needs, and whom it tells. */
export interface AttemptOptions extends Omit<GenerationOptions, "definition" | "auth"> {
  readonly timeoutMs: number;
  /** Aborted when the connection is closed. */
  readonly signal: AbortSignal;
  readonly authFor: (definition: ServerDefinition) => ServerAuth | undefined;
  /** A generation is there; the attempt has succeeded when this has settled. */
  readonly onOpened: (generation: Generation, signal: AbortSignal) => Promise<void>;
  /** Closes the generation, if there is one, of an attempt that has failed. */
  readonly onFailed: () => Promise<void>;
}

/** Looks up the values of a definition that are due only now. */
export function launch(definition: ServerDefinition, onSecrets: (values: readonly string[]) => void): Launched {
  const { unset = [] } = definition;
  const launched = definition.atLaunch?.();
  if (launched === undefined) return { definition, missing: unset };
  onSecrets(launched.secrets);
  return { definition: launched.definition, missing: [...unset, ...launched.missing] };
}

/** Connects, or rejects with why it cannot be done. */
export async function attemptToConnect(launched: Launched, options: AttemptOptions): Promise<void> {
  const { definition, missing } = launched;
  const { name } = definition;
  const { timeoutMs } = options;
  let transport: Transport | undefined;
  const onTransport = (started: Transport) => {
    transport = started;
    options.onTransport(started);
  };
  try {
    const unusable = unusableError(definition);
    if (unusable !== undefined) throw unusable;
    const auth = options.authFor(definition);
    await withDeadline(
      {
        what: `Connecting to "${name}"`,
        timeoutMs,
        signal: options.signal,
        hint: `Does it answer when it is started by hand? "timeout" in its entry allows more than ${timeoutMs / 1000} seconds.`,
      },
      async (signal) => {
        const generation = await openGeneration({ ...options, definition, auth, onTransport }, signal);
        await options.onOpened(generation, signal);
        signal.throwIfAborted();
        // It may have ended while it was listing; its late close finds a state that is not "connected" yet.
        if (generation.closed) throw new TrunklineError("SERVER_EXITED", `Server "${name}" ended while connecting.`);
      },
    );
  } catch (error) {
    await options.onFailed();
    if (!(transport instanceof StdioTransport))
      throw connectError(error, { server: definition, missing, exit: undefined, stderr: [] });
    // A deadline leaves the process behind while it is still being ended: wait, so that no caller sees an orphan.
    await transport.close();
    const { exit, stderrTail, firstNoise } = transport;
    throw connectError(error, { server: definition, missing, exit, stderr: stderrTail, noise: firstNoise });
  }
}
