// A generation is a client on a started transport. A connection goes through several of them in its life; each is opened
// once, within its time and with a reason if that fails, and closed once.
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
import type { ServerDefinition } from "../config/loaded-config.js";
import { connectError, isSessionExpired, networkCodeOf, unusableError } from "./connection-errors.js";
import type { ClientInfo, ListKind } from "./connection-options.js";
import { keepListening } from "./list-changes.js";
import { letAnswersThrough } from "./raw-answers.js";
import { type ProcessExit, StdioTransport } from "./stdio-transport.js";
import {
  createTransport,
  isOtherTransport,
  type TransportContext,
  type TransportKind,
  transportOrder,
} from "./transports.js";

/** What is remembered of a server from one generation to the next, so that the same question is not asked twice. */
export interface Verdict {
  transport?: TransportKind;
  /** The server speaks a legacy revision: the era probe can be left out. */
  legacy?: boolean;
}

/** What opening a generation needs. */
interface GenerationOptions extends TransportContext {
  definition: ServerDefinition;
  clientInfo: ClientInfo;
  verdict: Verdict;
  logger: Logger;
  /** What the channels can answer: what is not in it is not advertised, and not handled. */
  abilities: Abilities;
  onListChanged: (kind: ListKind) => void;
  onQuestion: (question: Question, signal: AbortSignal) => Promise<Record<string, unknown>>;
  onNotification: (method: string, params: Readonly<Record<string, unknown>>) => void;
  onClose: (generation: Generation) => void;
  /** A stream that the server may speak on at any time cannot be opened again: whether the session lives is uncertain. */
  onStreamLost: () => void;
  /** Told about every transport that is started, before it is known whether it works: its stderr explains a failure. */
  onTransport: (transport: Transport) => void;
}

/** A live client. */
export interface Generation {
  readonly client: Client;
  /** How the process of a stdio server ended, once it has. */
  readonly exit: ProcessExit | undefined;
  /** The revision that was negotiated, and the era it belongs to. */
  readonly revision: string | undefined;
  readonly era: "legacy" | "modern";
  /** Each request has a stream of its own, on which the server's questions about it come. */
  readonly hasOwnStreams: boolean;
  /** The connection has ended, from whichever side. */
  readonly closed: boolean;
  /** Requests that are still waiting for their answer. */
  inFlight: number;
  close(): Promise<void>;
}

/** Which handshake to use. `auto` asks the server for its era first. */
type Handshake = "auto" | "legacy" | { pin: string };

/** How long a server may leave the question for its era unanswered before it counts as a legacy one. */
const PROBE_TIMEOUT_MS = 3_000;

/** Several list_changed in a row are one change. */
const LIST_CHANGED_DEBOUNCE_MS = 50;

/** What a server asks is the channel's business: it is passed on as it came. */
const anyParams = z.looseObject({}).default({});

/** A definition with every value that is looked up only when the server is started: `\${NAME}` in a skill. */
interface Launched {
  readonly definition: ServerDefinition;
  /** Variables that its values refer to and that are not set. */
  readonly missing: readonly string[];
}

/** What an attempt needs, and whom it tells. */
interface AttemptOptions extends Omit<GenerationOptions, "definition" | "auth"> {
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

/** Opens a generation, trying what the server may speak in the order the specification gives. */
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
      // The second failure is less telling than the first: the user configured the first transport.
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
    // Some old servers end when they meet a request they do not know, and the probe is one: ask again as an old client.
    if (transport instanceof StdioTransport && transport.exit !== undefined) {
      return await openOnce(options, kind, { handshake: "legacy", signal });
    }
    // A slow modern server can miss the probe and then refuse the legacy handshake that followed it.
    if (error instanceof ProtocolError && error.code === RPC_CODES.unsupportedVersion) {
      return await openOnce(options, kind, { handshake: { pin: MODERN_REVISION }, signal });
    }
    // A legacy server may meet the probe with anything: an error page, a broken answer, silence. Only an outage is one.
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
    // We list again ourselves: the SDK's own refresh would strip what it does not know.
    autoRefresh: false,
    debounceMs: LIST_CHANGED_DEBOUNCE_MS,
    onChanged: () => onListChanged(list),
  });
  const client = new Client(clientInfo, {
    capabilities: options.abilities as ClientCapabilities, // the same words, only read-only
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
  const ended = new AbortController();
  let listening: Promise<void> | undefined;
  const generation: Generation = {
    client,
    inFlight: 0,
    get exit() {
      return transport instanceof StdioTransport ? transport.exit : undefined;
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
    async close() {
      await client.close();
      // A transport that never got as far as the client, or that the client has let go of, is closed by hand.
      await transport.close();
      ended.abort();
      await listening;
    },
  };
  client.onclose = () => {
    closed = true;
    ended.abort();
    options.onClose(generation);
  };
  client.onerror = (error) => {
    logger.debug("transport error", { server: definition.name, error });
    // A request that fails so tells its caller; a stream has nobody to tell.
    if (isSessionExpired(error) && (error as SdkError).code === SdkErrorCode.ClientHttpFailedToOpenStream) {
      options.onStreamLost();
    }
  };
  // An abort has to end the process as well, not only the waiting for it.
  const onAbort = () => void transport.close().catch(() => {});
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, { signal, timeout: definition.connectTimeoutMs });
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
    // The deadline's own reason says more than the closed connection that followed from it.
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
