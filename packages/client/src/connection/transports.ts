// Selects the transport for a server, and the fallback if the server does not support the first one.
import { setMaxListeners } from "node:events";
import {
  type FetchLike,
  SdkHttpError,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { type Logger, messageOf, nestingVariable, redactedUrl, TrunklineError } from "@trunkline/core";
import { DEFAULT_MAX_MESSAGE_BYTES } from "@trunkline/protocol";
import type { ServerAuth } from "../auth/server-auth.js";
import type { HttpServer, ServerDefinition, StdioServer } from "../config/loaded-config.js";
import type { LargeMessages } from "../results/large-messages.js";
import { withoutBatches } from "./batches.js";
import { boundedFetch } from "./bounded-bodies.js";
import { endedWithCalls } from "./call-streams.js";
import { type RunPlaces, runFolder, withoutForeignPrograms } from "./run-folder.js";
import { serverEnvironment } from "./server-environment.js";
import { SseTransport } from "./sse-transport.js";
import { StdioTransport } from "./stdio-transport.js";

/** The transports of the protocol. `http+sse` is the one from its first revision. */
export type TransportKind = "stdio" | "streamable-http" | "http+sse";

/** What a transport needs to start, besides the server's definition. */
export interface TransportContext {
  logger: Logger;
  /** Our environment. A server gets only the few variables it needs. */
  env: Readonly<Record<string, string | undefined>>;
  /** Where a server without a `cwd` runs, and what it must not find. */
  places: RunPlaces;
  /** Adds the token to an HTTP server's requests. */
  auth?: ServerAuth | undefined;
  /** The size limit for one message, for servers whose entry sets none. Default 64 MB. */
  maxMessageBytes?: number | undefined;
  /** Reads large messages. */
  large: LargeMessages;
  /** Called if a stream was lost and could not be reopened so far. */
  onStreamLost: () => void;
}

/** Reopens a dropped stream for as long as the connection lasts. */
const RECONNECTION = {
  initialReconnectionDelay: 500,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 30_000,
  maxRetries: Number.POSITIVE_INFINITY,
};

/** After this many failed attempts the stream counts as lost. */
const ATTEMPTS_BEFORE_LOST = 2;

/** How long a server may take to end a session. */
const END_SESSION_MS = 2_000;

/** The transports to try, in order. */
export function transportOrder(definition: ServerDefinition): readonly TransportKind[] {
  switch (definition.type) {
    case "stdio":
      return ["stdio"];
    case "http":
      return ["streamable-http", "http+sse"];
    case "sse":
      return ["http+sse", "streamable-http"];
  }
}

/** Creates a transport without starting it. */
export function createTransport(
  definition: ServerDefinition,
  kind: TransportKind,
  context: TransportContext,
): Transport {
  if (definition.type === "stdio") return createStdio(definition, context);
  return kind === "http+sse" ? createSse(definition, context) : createStreamableHttp(definition, context);
}

/** Ends the session of a closed transport, so that the server does not keep it. A server may refuse to, or be gone. */
export async function endSession(
  transport: Transport,
  { server, logger }: { server: string; logger: Logger },
): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport)) return;
  await transport
    .terminateSession()
    .catch((error: unknown) => logger.debug("session not ended", { server, error: messageOf(error) }));
}

/** Whether a failure means, by the rules of the specification, that the server does not support this transport. */
export function isOtherTransport(error: unknown): boolean {
  if (error instanceof SseError) return error.code !== 401 && error.code !== 403;
  if (!(error instanceof SdkHttpError)) return false;
  const { status } = error;
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}

function createStdio(definition: StdioServer, context: TransportContext): StdioTransport {
  const { logger, env, places } = context;
  const environment = { ...serverEnvironment(definition.env, env), ...nestingVariable(definition, env) };
  return new StdioTransport({
    command: definition.command,
    args: definition.args,
    cwd: definition.cwd ?? runFolder(definition.name, places),
    env: definition.trustsWorkspace ? environment : withoutForeignPrograms(environment, places.foreignFolders),
    maxMessageBytes: maxMessageBytesOf(definition, context),
    large: context.large,
    onNoise: () => logger.debug("not a protocol message on stdout", { server: definition.name }),
  });
}

function createStreamableHttp(definition: HttpServer, context: TransportContext): StreamableHTTPClientTransport {
  const { onStreamLost } = context;
  const { fetch, ...auth } = authorized(definition, context);
  return new StreamableHTTPClientTransport(parseUrl(definition), {
    requestInit: { headers: { ...definition.headers } },
    reconnectionOptions: RECONNECTION,
    reconnectionScheduler: (reconnect, delayMs, attempts) => {
      if (attempts >= ATTEMPTS_BEFORE_LOST) onStreamLost();
      const timer = setTimeout(reconnect, delayMs);
      return () => clearTimeout(timer);
    },
    ...auth,
    // A session is ended after its transport was closed, so not on the transport's signal.
    fetch: (url, init) =>
      fetch(url, init?.method === "DELETE" ? { ...init, signal: AbortSignal.timeout(END_SESSION_MS) } : init),
    // Throw, so the connection can ask the user for more scopes: only it knows whether a user is available, and for how
    // long.
    onInsufficientScope: "throw",
  });
}

function createSse(definition: HttpServer, context: TransportContext): SseTransport {
  return new SseTransport(parseUrl(definition), { headers: definition.headers, ...authorized(definition, context) });
}

function authorized(
  definition: HttpServer,
  context: TransportContext,
): { fetch: FetchLike; authProvider?: ServerAuth } {
  const { auth } = context;
  const limits = { maxMessageBytes: maxMessageBytesOf(definition, context), large: context.large };
  const fetch = endedWithCalls(withoutBatches(boundedFetch(fetchForServers, limits)));
  return auth === undefined ? { fetch } : { fetch: auth.watch(fetch), authProvider: auth };
}

function maxMessageBytesOf(definition: ServerDefinition, context: TransportContext): number {
  return definition.maxMessageBytes ?? context.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
}

function parseUrl({ name, url }: HttpServer): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol)) return parsed;
  throw new TrunklineError(
    "CONFIG_INVALID",
    `Server "${name}" has the url "${redactedUrl(url)}", which is not an http or https URL.`,
    {
      hint: "Is a variable in it unset?",
    },
  );
}

/** All requests of a connection share one signal, so more than ten listeners at a time are not a leak. */
const fetchForServers: FetchLike = (url, init) => {
  if (init?.signal) setMaxListeners(0, init.signal);
  return fetch(url, init);
};
