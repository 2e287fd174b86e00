// How a session begins. A modern server says what it is when asked (`server/discover`); a legacy one goes through a
// handshake (`initialize`). Which one it is shows in its reaction to the first.
import {
  isRecord,
  isTrunklineError,
  messageOf,
  parseJson,
  printable,
  startDeadline,
  TrunklineError,
} from "@trunkline/core";
import {
  LATEST_LEGACY_REVISION,
  LEGACY_REVISIONS,
  META,
  MODERN_REVISION,
  RPC_CODES,
  RpcError,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@trunkline/protocol";
import type { Abilities } from "../channel/channel.js";
import { HttpError, InsufficientScopeError } from "../wire/http-errors.js";
import { type Wire, WireClosedError } from "../wire/message-wire.js";
import { networkCodeOf } from "./connection-errors.js";
import type { ClientInfo } from "./connection-options.js";
import type { RpcSession } from "./rpc-session.js";

/** Which handshake to use. `auto` asks the server for its era first. */
export type Handshake = "auto" | "legacy" | "modern";

/** What the server says about itself. */
export interface Greeting {
  readonly revision: string;
  readonly era: "legacy" | "modern";
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly instructions?: string;
}

interface GreetingOptions {
  readonly wire: Wire;
  readonly server: string;
  readonly clientInfo: ClientInfo;
  readonly abilities: Abilities;
  readonly handshake: Handshake;
  /** Aborts when there is no more time to connect. */
  readonly signal: AbortSignal;
}

/** The server did not understand the question for its era, and the wire may have suffered. */
export class ProbeError extends Error {
  override readonly name = "ProbeError";

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/** A server that leaves the question for its era unanswered for this long counts as legacy. */
const PROBE_TIMEOUT_MS = 3_000;

/** Begins the session. Afterwards, requests can be sent. */
export async function greet(session: RpcSession, options: GreetingOptions): Promise<Greeting> {
  if (options.handshake === "legacy") return await initialize(session, options);
  return (await discover(session, options)) ?? (await initialize(session, options));
}

/** Asks a server what it is. Returns undefined if it is a legacy one. */
async function discover(session: RpcSession, options: GreetingOptions): Promise<Greeting | undefined> {
  const { clientInfo, abilities, handshake, signal } = options;
  const envelope = {
    [META.protocolVersion]: MODERN_REVISION,
    [META.clientInfo]: clientInfo,
    [META.clientCapabilities]: abilities,
  };
  for (let attempt = 1; ; attempt++) {
    using deadline = startDeadline({ what: "The question for the era", timeoutMs: PROBE_TIMEOUT_MS, signal });
    let result: Record<string, unknown>;
    try {
      result = await session.request("server/discover", { _meta: envelope }, { deadline });
    } catch (error) {
      signal.throwIfAborted();
      const meaning = meaningOf(error, options.wire);
      if (meaning === "again" && attempt === 1) continue;
      if (meaning === "reopen") throw new ProbeError(error);
      if (meaning !== "legacy" || handshake === "modern") throw error;
      return undefined;
    }
    const greeting = modernGreeting(result);
    if (greeting === undefined) {
      if (handshake !== "modern") return undefined;
      throw new TrunklineError("PROTOCOL", `Server "${options.server}" does not offer revision ${MODERN_REVISION}.`);
    }
    session.agree({ revision: greeting.revision, isModern: true, envelope });
    return greeting;
  }
}

/**
 * What the failure of the question for the era means: the server is a legacy one; it should be asked again; it may be a
 * legacy one, but needs a new wire; or it cannot be reached at all.
 */
function meaningOf(
  error: unknown,
  { hasOwnStreams }: Pick<Wire, "hasOwnStreams">,
): "legacy" | "again" | "reopen" | "failed" {
  if (error instanceof RpcError) {
    if (error.code !== RPC_CODES.unsupportedVersion) return "legacy";
    const { supported } = isRecord(error.data) ? error.data : {};
    if (!Array.isArray(supported) || supported.every((revision) => LEGACY_REVISIONS.includes(revision)))
      return "legacy";
    return supported.includes(MODERN_REVISION) ? "again" : "failed";
  }
  // Silence on a pipe: old servers ignore what they do not know.
  if (isTrunklineError(error, "TIMEOUT")) return hasOwnStreams ? "reopen" : "legacy";
  if (isTrunklineError(error) || error instanceof WireClosedError || error instanceof InsufficientScopeError)
    return "failed";
  if (error instanceof HttpError) {
    if (error.status === 401 || error.status === 403) return "failed";
    if (error.status >= 500) return "reopen";
    const answer = rpcErrorIn(error.text);
    return answer === undefined ? "legacy" : meaningOf(answer, { hasOwnStreams });
  }
  return networkCodeOf(error) === undefined ? "reopen" : "failed";
}

/** The JSON-RPC error in the body of a response. */
function rpcErrorIn(text: string): RpcError | undefined {
  const body = parseJson(text);
  if (!isRecord(body) || !isRecord(body.error) || typeof body.error.code !== "number") return undefined;
  return new RpcError(body.error.code, String(body.error.message ?? ""), { data: body.error.data });
}

/** Reads the answer of a modern server; undefined if it is not one. */
function modernGreeting(result: Readonly<Record<string, unknown>>): Greeting | undefined {
  const { supportedVersions, capabilities } = result;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_REVISION)) return undefined;
  if (!isRecord(capabilities)) return undefined;
  const meta = isRecord(result._meta) ? result._meta : {};
  return { revision: MODERN_REVISION, era: "modern", capabilities, ...introduction(result, meta[META.serverInfo]) };
}

/** The handshake of legacy servers. */
async function initialize(session: RpcSession, options: GreetingOptions): Promise<Greeting> {
  const { wire, server, clientInfo, abilities, signal } = options;
  using deadline = startDeadline({ what: `Connecting to "${server}"`, signal });
  const params = { protocolVersion: LATEST_LEGACY_REVISION, capabilities: abilities, clientInfo };
  const result = await session.request("initialize", params, { deadline });
  const { protocolVersion: revision, capabilities, serverInfo } = result;
  if (typeof revision !== "string" || !isRecord(capabilities) || !isRecord(serverInfo)) {
    throw new Error("its answer is not a protocol message.");
  }
  if (!LEGACY_REVISIONS.includes(revision)) {
    throw new TrunklineError(
      "PROTOCOL",
      `Server "${server}" uses the unknown protocol revision ${printable(revision)}.`,
      {
        hint: `Supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}. Is there a newer Trunkline, or a newer server?`,
      },
    );
  }
  session.agree({ revision, isModern: false });
  // A server may refuse requests that arrive before this.
  await session.notify("notifications/initialized");
  wire.listen();
  return { revision, era: "legacy", capabilities, ...introduction(result, serverInfo) };
}

function introduction(
  { instructions }: Readonly<Record<string, unknown>>,
  info: unknown,
): Pick<Greeting, "serverInfo" | "instructions"> {
  const { name, version } = isRecord(info) ? info : {};
  return {
    ...(typeof name === "string" ? { serverInfo: { name, version: typeof version === "string" ? version : "" } } : {}),
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}
