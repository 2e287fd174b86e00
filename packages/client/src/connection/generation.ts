// A generation is a session on a started wire. A connection goes through several. Each is opened once, within its
// timeout and with a reason if that fails, and closed once.

import { connectTimeoutOf, resolveSecrets, type ServerDefinition, secretEnvironment } from "@trunkline/config";
import { isTrunklineError, type Logger, TrunklineError, withDeadline } from "@trunkline/core";
import { RPC_CODES, RpcError } from "@trunkline/protocol";
import type { ServerAuth } from "../auth/server-auth.js";
import type { Abilities, Question } from "../channel/channel.js";
import type { Call } from "../channel/in-flight.js";
import { isOtherTransport } from "../wire/http-errors.js";
import type { Wire } from "../wire/message-wire.js";
import { type ProcessExit, StdioWire } from "../wire/stdio-wire.js";
import { connectError, unusableError } from "./connection-errors.js";
import type { ClientInfo, ListKind } from "./connection-options.js";
import { type Greeting, greet, type Handshake, ProbeError } from "./handshake.js";
import { ListReports, listenForChanges } from "./list-changes.js";
import { RpcSession } from "./rpc-session.js";
import { type RunPlaces, withoutForeignPrograms } from "./run-folder.js";
import { createWire, type TransportKind, transportOrder, type WireContext } from "./transports.js";

/** What is remembered about a server between generations, so that it is not probed again. */
export interface Verdict {
  transport?: TransportKind;
  /** The server uses a legacy revision: skip the era probe. */
  legacy?: boolean;
}

interface GenerationOptions extends WireContext {
  definition: ServerDefinition;
  clientInfo: ClientInfo;
  verdict: Verdict;
  logger: Logger;
  /** What the channels can answer; anything else is neither advertised nor handled. */
  abilities: Abilities;
  onListChanged: (kind: ListKind) => void;
  onQuestion: (
    question: Question,
    asked: { call: Call | undefined; signal: AbortSignal },
  ) => Promise<Record<string, unknown>>;
  onNotification: (method: string, params: Readonly<Record<string, unknown>>, call: Call | undefined) => void;
  onClose: (generation: Generation) => void;
  /** Called if the stream for unsolicited server messages cannot be reopened: the session may be gone. */
  onStreamLost: () => void;
  /** Called for every started wire, before it is known whether it works: its stderr explains a failure. */
  onWire: (wire: Wire) => void;
}

export interface Generation extends Greeting {
  readonly session: RpcSession;
  /** How a stdio server's process ended, once it has. */
  readonly exit: ProcessExit | undefined;
  /** The last lines a stdio server wrote to stderr. */
  readonly stderrTail: readonly string[];
  /** Whether each request has its own stream, which carries the server's questions about it. */
  readonly hasOwnStreams: boolean;
  /** Whether the connection has ended, from either side. */
  readonly closed: boolean;
  /** Whether the server has given us a session, which it can end. */
  readonly hasSession: boolean;
  /** Set it when the server has ended the session: there is none left to end when we close. */
  isExpired: boolean;
  /** Requests waiting for their answer. */
  inFlight: number;
  close(): Promise<void>;
}

/** A definition with the values that are only looked up at launch: secrets, and `\${NAME}` in a skill. */
interface Launched {
  readonly definition: ServerDefinition;
  /** Unset variables that the server's entry refers to. */
  readonly missing: readonly string[];
}

interface AttemptOptions extends Omit<GenerationOptions, "definition" | "auth"> {
  readonly timeoutMs: number;
  /** Aborts when the connection is closed. */
  readonly signal: AbortSignal;
  readonly authFor: (definition: ServerDefinition) => ServerAuth | undefined;
  /** Called with the new generation; the attempt has succeeded once this has settled. */
  readonly onOpened: (generation: Generation, signal: AbortSignal) => Promise<void>;
  /** Closes the generation of a failed attempt, if there is one. */
  readonly onFailed: () => Promise<void>;
}

interface LaunchOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly places: RunPlaces;
  readonly onSecrets: (values: readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** Looks up the values that are deferred until launch. */
export async function launch(definition: ServerDefinition, options: LaunchOptions): Promise<Launched> {
  const { unset = [], atLaunch, secretReferences = [], unusable } = definition;
  if (atLaunch === undefined || unusable !== undefined) return { definition, missing: unset };
  const { env, places, onSecrets, signal } = options;
  const known = withoutForeignPrograms(secretEnvironment(env), places.foreignFolders);
  const place = { env: known, platform: process.platform, signal };
  const values = await resolveSecrets(secretReferences, place).catch((error: unknown) => {
    throw isTrunklineError(error) ? notLaunched(definition, error) : error;
  });
  const launched = atLaunch(values);
  onSecrets(launched.secrets);
  return { definition: launched.definition, missing: [...unset, ...launched.missing] };
}

function notLaunched({ name }: ServerDefinition, { code, message, hint, cause }: TrunklineError): TrunklineError {
  const options = { cause, hint };
  return new TrunklineError(code, `Server "${name}" cannot be started: ${message}`, options);
}

/** Connects, or rejects with the reason. */
export async function connectGeneration(launched: Launched, options: AttemptOptions): Promise<void> {
  const { definition, missing } = launched;
  const { name } = definition;
  const { timeoutMs } = options;
  let wire: Wire | undefined;
  const onWire = (started: Wire) => {
    wire = started;
    options.onWire(started);
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
        hint: `Does it answer when started by hand? "timeout" in its entry allows more than ${timeoutMs / 1000} seconds.`,
      },
      async (signal) => {
        const generation = await openGeneration({ ...options, definition, auth, onWire }, signal);
        await options.onOpened(generation, signal);
        signal.throwIfAborted();
        // The server may have exited while listing. Its late close event is ignored, because the state is not
        // "connected" yet.
        if (generation.closed) throw new TrunklineError("SERVER_EXITED", `Server "${name}" exited while connecting.`);
      },
    );
  } catch (error) {
    await options.onFailed();
    if (!(wire instanceof StdioWire))
      throw connectError(error, { server: definition, missing, timeoutMs, exit: undefined, stderr: [] });
    // After a timeout the process is still shutting down: wait, so no caller sees an orphan.
    await wire.close();
    const { exit, stderrTail, firstNoise } = wire;
    throw connectError(error, { server: definition, missing, timeoutMs, exit, stderr: stderrTail, noise: firstNoise });
  }
}

/** Opens a generation, trying the possible transports in the order of the specification. */
async function openGeneration(options: GenerationOptions, signal: AbortSignal): Promise<Generation> {
  const { definition, verdict } = options;
  const order = verdict.transport === undefined ? transportOrder(definition) : [verdict.transport];
  let firstFailure: unknown;
  for (const [index, kind] of order.entries()) {
    try {
      const generation = await openWithTransport(options, kind, signal);
      verdict.transport = kind;
      verdict.legacy = generation.era === "legacy";
      return generation;
    } catch (error) {
      if (signal.aborted) throw error;
      // Report the first failure: it belongs to the configured transport.
      firstFailure ??= error;
      if (index === order.length - 1 || !isOtherTransport(error)) break;
    }
  }
  throw firstFailure;
}

async function openWithTransport(
  options: GenerationOptions,
  kind: TransportKind,
  signal: AbortSignal,
): Promise<Generation> {
  if (kind === "http+sse" || options.verdict.legacy) return await openOnce(options, kind, "legacy", signal);
  let wire: Wire | undefined;
  const observed = {
    ...options,
    onWire: (started: Wire) => {
      wire = started;
      options.onWire(started);
    },
  };
  try {
    return await openOnce(observed, kind, "auto", signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // Some old servers exit on an unknown request, such as the probe: try again as an old client.
    if (wire instanceof StdioWire && wire.exit !== undefined) return await openOnce(options, kind, "legacy", signal);
    // A slow modern server can miss the probe and then reject the legacy handshake that followed.
    if (error instanceof RpcError && error.code === RPC_CODES.unsupportedVersion) {
      return await openOnce(options, kind, "modern", signal);
    }
    // A legacy server may answer the probe with anything: an error page, a broken answer, silence. Only a network
    // failure counts as an outage.
    if (error instanceof ProbeError) return await openOnce(options, kind, "legacy", signal);
    throw error;
  }
}

async function openOnce(
  options: GenerationOptions,
  kind: TransportKind,
  handshake: Handshake,
  signal: AbortSignal,
): Promise<Generation> {
  const { definition, clientInfo, abilities, logger, onListChanged } = options;
  const { name: server } = definition;
  const wire = createWire(definition, kind, options);
  options.onWire(wire);
  const reports = new ListReports(onListChanged);
  const ended = new AbortController();
  let generation: Generation | undefined;
  let capabilities: Readonly<Record<string, unknown>> = {};
  const session = new RpcSession(wire, abilities, {
    onQuestion: options.onQuestion,
    onNotification: (method, params, call) => {
      if (!reports.take(method, capabilities)) options.onNotification(method, params, call);
    },
    onError: (error) => logger.debug("transport error", { server, error }),
    onStreamLost: options.onStreamLost,
    onClose: () => {
      ended.abort();
      reports.close();
      if (generation !== undefined) options.onClose(generation);
    },
  });
  // An abort must end the process, not just the waiting.
  const onAbort = () => void wire.close().catch(() => {});
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await session.start();
    const greeting = await greet(session, { wire, server, clientInfo, abilities, handshake, signal });
    capabilities = greeting.capabilities;
    const keepListening =
      greeting.era === "modern"
        ? await listenForChanges(
            session,
            { server, logger, capabilities, timeoutMs: connectTimeoutOf(definition), onListChanged },
            signal,
          )
        : undefined;
    signal.throwIfAborted();
    generation = createGeneration({ wire, session, greeting, listening: keepListening?.(ended.signal), ended });
    return generation;
  } catch (error) {
    // The deadline's own reason says more than the resulting closed connection.
    const cause = signal.aborted ? signal.reason : error;
    await wire.close().catch((closing: unknown) => logger.debug("closing after a failed connect", { error: closing }));
    throw cause;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

interface GenerationParts {
  readonly wire: Wire;
  readonly session: RpcSession;
  readonly greeting: Greeting;
  /** Settles when nothing listens for changes any more. */
  readonly listening: Promise<void> | undefined;
  readonly ended: AbortController;
}

function createGeneration({ wire, session, greeting, listening, ended }: GenerationParts): Generation {
  let closing: Promise<void> | undefined;
  return {
    ...greeting,
    session,
    inFlight: 0,
    isExpired: false,
    hasOwnStreams: wire.hasOwnStreams,
    get exit() {
      return wire instanceof StdioWire ? wire.exit : undefined;
    },
    get stderrTail() {
      return wire instanceof StdioWire ? wire.stderrTail : [];
    },
    get closed() {
      return session.isClosed;
    },
    get hasSession() {
      return wire.hasSession;
    },
    close() {
      closing ??= (async () => {
        ended.abort();
        await wire.close({ isExpired: this.isExpired });
        await listening;
      })();
      return closing;
    },
  };
}
