// A generation is a client on a started transport. A connection goes through several. Each is opened once, within its
// timeout and with a reason if that fails, and closed once.
import {
  Client,
  type ClientCapabilities,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Transport,
} from "@modelcontextprotocol/client";
import { type Logger, TrunklineError, withDeadline } from "@trunkline/core";
import { MODERN_REVISION, type QuestionMethod, RPC_CODES } from "@trunkline/protocol";
import { z } from "zod";
import type { ServerAuth } from "../auth/server-auth.js";
import type { Abilities, Question } from "../channel/channel.js";
import { connectTimeoutOf, type ServerDefinition } from "../config/loaded-config.js";
import { connectError, isSessionExpired, networkCodeOf, unusableError } from "./connection-errors.js";
import type { ClientInfo, ListKind } from "./connection-options.js";
import { keepListening } from "./list-changes.js";
import { letAnswersThrough } from "./raw-answers.js";
import { SseTransport } from "./sse-transport.js";
import { type ProcessExit, StdioTransport } from "./stdio-transport.js";
import {
  createTransport,
  endSession,
  isOtherTransport,
  type TransportContext,
  type TransportKind,
  transportOrder,
} from "./transports.js";

/** What is remembered about a server between generations, so that it is not probed again. */
export interface Verdict {
  transport?: TransportKind;
  /** The server uses a legacy revision: skip the era probe. */
  legacy?: boolean;
}

interface GenerationOptions extends TransportContext {
  definition: ServerDefinition;
  clientInfo: ClientInfo;
  verdict: Verdict;
  logger: Logger;
  /** What the channels can answer; anything else is neither advertised nor handled. */
  abilities: Abilities;
  onListChanged: (kind: ListKind) => void;
  onQuestion: (question: Question, signal: AbortSignal) => Promise<Record<string, unknown>>;
  onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  onClose: (generation: Generation) => void;
  /** Called if the stream for unsolicited server messages cannot be reopened: the session may be gone. */
  onStreamLost: () => void;
  /** Called for every started transport, before it is known whether it works: its stderr explains a failure. */
  onTransport: (transport: Transport) => void;
}

export interface Generation {
  readonly client: Client;
  /** How a stdio server's process ended, once it has. */
  readonly exit: ProcessExit | undefined;
  /** The last lines a stdio server wrote to stderr. */
  readonly stderrTail: readonly string[];
  /** The negotiated revision and its era. */
  readonly revision: string | undefined;
  readonly era: "legacy" | "modern";
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

/** Which handshake to use. `auto` asks the server for its era first. */
type Handshake = "auto" | "legacy" | { pin: string };

/** A server that leaves the era probe unanswered for this long counts as legacy. */
const PROBE_TIMEOUT_MS = 3_000;

/** Several list_changed notifications within this time count as one change. */
const LIST_CHANGED_DEBOUNCE_MS = 50;

/** Questions are passed on unchanged: interpreting them is up to the channel. */
const anyParams = z.looseObject({}).default({});

/** A definition with the values that are only looked up at launch: `\${NAME}` in a skill. */
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

/** Looks up the values that are deferred until launch. */
export function launch(definition: ServerDefinition, onSecrets: (values: readonly string[]) => void): Launched {
  const { unset = [] } = definition;
  const launched = definition.atLaunch?.();
  if (launched === undefined) return { definition, missing: unset };
  onSecrets(launched.secrets);
  return { definition: launched.definition, missing: [...unset, ...launched.missing] };
}

/** Connects, or rejects with the reason. */
export async function connectGeneration(launched: Launched, options: AttemptOptions): Promise<void> {
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
        hint: `Does it answer when started by hand? "timeout" in its entry allows more than ${timeoutMs / 1000} seconds.`,
      },
      async (signal) => {
        const generation = await openGeneration({ ...options, definition, auth, onTransport }, signal);
        await options.onOpened(generation, signal);
        signal.throwIfAborted();
        // The server may have exited while listing. Its late close event is ignored, because the state is not
        // "connected" yet.
        if (generation.closed) throw new TrunklineError("SERVER_EXITED", `Server "${name}" exited while connecting.`);
      },
    );
  } catch (error) {
    await options.onFailed();
    if (!(transport instanceof StdioTransport))
      throw connectError(error, { server: definition, missing, timeoutMs, exit: undefined, stderr: [] });
    // After a timeout the process is still shutting down: wait, so no caller sees an orphan.
    await transport.close();
    const { exit, stderrTail, firstNoise } = transport;
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
      verdict.legacy = generation.client.getProtocolEra() === "legacy";
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
  if (kind === "http+sse" || options.verdict.legacy)
    return await openOnce(options, kind, { handshake: "legacy", signal });
  let transport: Transport | undefined;
  const observed = {
    ...options,
    onTransport: (started: Transport) => {
      transport = started;
      options.onTransport(started);
    },
  };
  try {
    return await openOnce(observed, kind, { handshake: "auto", signal });
  } catch (error) {
    if (signal.aborted) throw error;
    // Some old servers exit on an unknown request, such as the probe: try again as an old client.
    if (transport instanceof StdioTransport && transport.exit !== undefined) {
      return await openOnce(options, kind, { handshake: "legacy", signal });
    }
    // A slow modern server can miss the probe and then reject the legacy handshake that followed.
    if (error instanceof ProtocolError && error.code === RPC_CODES.unsupportedVersion) {
      return await openOnce(options, kind, { handshake: { pin: MODERN_REVISION }, signal });
    }
    // A legacy server may answer the probe with anything: an error page, a broken answer, silence. Only a network
    // failure counts as an outage.
    if (isUnusableProbe(error)) return await openOnce(options, kind, { handshake: "legacy", signal });
    throw error;
  }
}

function isUnusableProbe(error: unknown): boolean {
  if (!(error instanceof SdkError) || networkCodeOf(error) !== undefined) return false;
  return error.code === SdkErrorCode.EraNegotiationFailed || error.code === SdkErrorCode.RequestTimeout;
}

async function openOnce(
  options: GenerationOptions,
  kind: TransportKind,
  { handshake, signal }: { handshake: Handshake; signal: AbortSignal },
): Promise<Generation> {
  const { definition, clientInfo, logger, onListChanged } = options;
  const listChanged = (list: ListKind) => ({
    // We refresh the lists ourselves: the SDK would strip unknown fields.
    autoRefresh: false,
    debounceMs: LIST_CHANGED_DEBOUNCE_MS,
    onChanged: () => onListChanged(list),
  });
  const client = new Client(clientInfo, {
    capabilities: options.abilities as ClientCapabilities, // same shape, except that ours is read-only
    versionNegotiation: { mode: handshake, probe: { timeoutMs: PROBE_TIMEOUT_MS } },
    listChanged: { tools: listChanged("tools"), prompts: listChanged("prompts"), resources: listChanged("resources") },
  });
  for (const method of handledMethods(options.abilities)) {
    client.setRequestHandler(method, { params: anyParams }, async (params, { mcpReq }) =>
      options.onQuestion({ method, params }, mcpReq.signal),
    );
  }
  client.fallbackNotificationHandler = async ({ method, params }) => options.onNotification(method, { ...params });
  const transport = createTransport(definition, kind, options);
  letAnswersThrough(transport, (params) => options.onNotification("notifications/progress", params));
  options.onTransport(transport);
  let closed = false;
  let closing: Promise<void> | undefined;
  const ended = new AbortController();
  let listening: Promise<void> | undefined;
  const generation: Generation = {
    client,
    inFlight: 0,
    isExpired: false,
    get exit() {
      return transport instanceof StdioTransport ? transport.exit : undefined;
    },
    get stderrTail() {
      return transport instanceof StdioTransport ? transport.stderrTail : [];
    },
    hasOwnStreams: transport.hasPerRequestStream === true,
    get revision() {
      return client.getNegotiatedProtocolVersion();
    },
    get era() {
      return client.getProtocolEra() === "modern" ? "modern" : "legacy";
    },
    get closed() {
      return closed;
    },
    get hasSession() {
      return transport instanceof SseTransport || transport.sessionId !== undefined;
    },
    close() {
      closing ??= (async () => {
        await client.close();
        // A transport that never reached the client, or that the client released, must be closed by hand.
        await transport.close();
        ended.abort();
        await listening;
        if (!generation.isExpired) await endSession(transport, { server: definition.name, logger });
      })();
      return closing;
    },
  };
  client.onclose = () => {
    closed = true;
    ended.abort();
    options.onClose(generation);
  };
  client.onerror = (error) => {
    logger.debug("transport error", { server: definition.name, error });
    // A failed request reports to its caller; a stream has no caller to report to.
    if (isSessionExpired(error) && (error as SdkError).code === SdkErrorCode.ClientHttpFailedToOpenStream) {
      options.onStreamLost();
    }
  };
  // An abort must end the process, not just the waiting.
  const onAbort = () => void transport.close().catch(() => {});
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, { signal, timeout: connectTimeoutOf(definition) });
    if (signal.aborted) throw signal.reason;
    const stream = client.autoOpenedSubscription;
    if (stream !== undefined)
      listening = keepListening(client, stream, {
        server: definition.name,
        logger,
        signal: ended.signal,
        onListChanged,
      });
    return generation;
  } catch (error) {
    // The deadline's own reason says more than the resulting closed connection.
    const cause = signal.aborted ? signal.reason : error;
    await generation
      .close()
      .catch((closing: unknown) => logger.debug("closing after a failed connect", { error: closing }));
    throw cause;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function handledMethods(abilities: Abilities): QuestionMethod[] {
  return [
    ...(abilities.elicitation === undefined ? [] : ["elicitation/create" as const]),
    ...(abilities.sampling === undefined ? [] : ["sampling/createMessage" as const]),
    ...(abilities.roots === undefined ? [] : ["roots/list" as const]),
  ];
}
