// The channel of an exchange: what upstream servers can ask and tell the downstream client while its request is
// handled. It has exactly the capabilities that the client declares.
import { randomUUID } from "node:crypto";
import type { Abilities, Channel, QuestionContext, Root, SignIn } from "@trunkline/client";
import { isRecord, printable, type ToolProgress, TrunklineError } from "@trunkline/core";
import {
  definesMethod,
  isLogged,
  notificationMessage,
  type OutgoingMessage,
  type RpcId,
  type RpcParams,
  type RpcResponse,
  withoutOwnMeta,
} from "@trunkline/protocol";
import { DEFAULT_PRINCIPAL } from "../interfaces/exchange.js";
import type { Outlet } from "./request-context.js";

const VISIT_COMPLETE = "notifications/elicitation/complete";

/** How to reach the client. */
interface ChannelPorts {
  readonly name: string;
  /** The party that the channel represents, if the client has several channels. */
  readonly party?: object;
  /** Whose client it is; see `Caller`. */
  readonly principal?: string;
  readonly capabilities: RpcParams;
  /** The client's revision. */
  readonly revision: string;
  /** Sends a question to the client and returns its answer unchanged. */
  ask(method: string, params: RpcParams, asked: QuestionContext): Promise<Record<string, unknown>>;
  /** The minimum level of log messages; undefined for none. */
  logLevel(): string | undefined;
  outlet(): Outlet | undefined;
  /** Where messages go that may come after the exchange. */
  laterOutlet(): Outlet | undefined;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

/**
 * Creates the channel of one exchange. Questions and answers pass unchanged, except for connection details in `_meta`
 * and for the name of the server that asks.
 */
export function createExchangeChannel(ports: ChannelPorts): Channel {
  const { name, party, onProgress } = ports;
  const abilities = abilitiesOf(ports.capabilities);
  const channel: { -readonly [Key in keyof Channel]: Channel[Key] } = { name, abilities };
  if (party !== undefined) channel.party = party;
  if (abilities !== NO_ABILITIES) {
    channel.ask = ({ method, params = {} }, context) =>
      ports.ask(method, withAsker(method, withoutOwnMeta(params), context), context);
  }
  // A sign-in is shared by all clients, so only the user's own ones may start it.
  const isOwn = ports.principal === "local" || ports.principal === DEFAULT_PRINCIPAL;
  if (isOwn && abilities.elicitation?.url !== undefined) channel.signIn = signInPage(ports);
  channel.log = ({ server, level, logger, data }) => {
    const threshold = ports.logLevel();
    if (threshold === undefined || !isLogged(level, threshold)) return;
    const params = { level, logger: logger === undefined ? server : `${server}/${logger}`, data };
    ports.outlet()?.send(notificationMessage("notifications/message", params));
  };
  // A modern upstream server receives the level with each call.
  const level = ports.logLevel();
  if (level !== undefined) channel.logLevel = level;
  if (onProgress !== undefined) channel.progress = onProgress;
  if (definesMethod(ports.revision, VISIT_COMPLETE, "server-to-client")) {
    channel.visited = ({ elicitationId }) =>
      ports.laterOutlet()?.send(notificationMessage(VISIT_COMPLETE, { elicitationId }));
  }
  return channel;
}

/** Asks the client to open the page of a sign-in. A client that fails to answer counts as one that declines. */
function signInPage({ ask }: ChannelPorts): SignIn {
  return async ({ server, url, signal }) => {
    const message = `Trunkline asks: Sign in to "${printable(server)}"? This opens a page at ${new URL(url).host}.`;
    const params = { mode: "url", message, url, elicitationId: randomUUID() };
    const answer = await ask("elicitation/create", params, {
      server,
      isOwn: true,
      tool: `${server}.authenticate`,
      signal,
    }).catch(() => undefined);
    return answer?.action === "accept" ? "completed" : "cancelled";
  };
}

/**
 * Names the server that asks for a model's answer. The only text that clients show and models read is the system prompt;
 * an elicitation already names its server.
 */
function withAsker(method: string, params: RpcParams, { server }: QuestionContext): RpcParams {
  if (method !== "sampling/createMessage") return params;
  const asker = `The MCP server ${JSON.stringify(printable(server))} asks for this answer.`;
  const { systemPrompt } = params;
  return { ...params, systemPrompt: typeof systemPrompt === "string" ? `${asker}\n\n${systemPrompt}` : asker };
}

const NO_ABILITIES: Abilities = Object.freeze({});

/** Returns what upstream servers can ask a client with these capabilities. */
function abilitiesOf(capabilities: RpcParams): Abilities {
  const { elicitation, sampling, roots } = capabilities;
  // Most clients can be asked nothing, and every call has a channel.
  if (!isRecord(elicitation) && !isRecord(sampling) && !isRecord(roots)) return NO_ABILITIES;
  const modes = elicitationModes(capabilities);
  return {
    ...(modes.length === 0 ? {} : { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) }),
    ...(isRecord(sampling) ? { sampling: { tools: {} } } : {}),
    ...(isRecord(roots) ? { roots: { listChanged: true } } : {}),
  };
}

/**
 * Returns the elicitation modes of a client with these capabilities. The capability without a mode dates from before
 * modes existed.
 */
export function elicitationModes(capabilities: RpcParams): ("form" | "url")[] {
  const { elicitation } = capabilities;
  if (!isRecord(elicitation)) return [];
  if (elicitation.form === undefined && elicitation.url === undefined) return ["form"];
  return (["form", "url"] as const).filter((mode) => elicitation[mode] !== undefined);
}

/**
 * Sends progress to the client. Progress has to increase with each notification, but several sources report to one
 * token (the channel and the operation runner), so values that do not increase are dropped.
 */
export function progressReporter(token: RpcId, outlet: Outlet): (progress: ToolProgress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (!(progress.progress > last)) return;
    last = progress.progress;
    outlet.send(progressMessage(token, progress));
  };
}

export function progressMessage(token: RpcId, { progress, total, message }: ToolProgress): OutgoingMessage {
  return notificationMessage("notifications/progress", {
    progressToken: token,
    progress,
    total,
    message,
  });
}

/** Reads the roots from a client's answer. */
export function readRoots({ roots }: RpcParams): Root[] {
  if (!Array.isArray(roots)) throw new TrunklineError("PROTOCOL", "The client's answer to roots/list is invalid.");
  return roots.filter((root): root is Root => isRecord(root) && typeof root.uri === "string");
}

interface ClientRequestOptions {
  readonly outlet: Outlet;
  /** Aborting it cancels the request and notifies the client. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface Pending {
  resolve(result: Record<string, unknown>): void;
  reject(error: Error): void;
}

/** The pending requests to one client. */
export class ClientRequests {
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #closed = false;

  /** Sends a request to the client. Rejects with its error, on timeout, and when the connection ends. */
  ask(method: string, params: RpcParams, options: ClientRequestOptions): Promise<Record<string, unknown>> {
    const { outlet, signal, timeoutMs } = options;
    if (this.#closed) return Promise.reject(gone());
    if (signal.aborted) return Promise.reject(toError(signal.reason));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const giveUp = (error: Error) => {
        if (!this.#pending.has(id)) return;
        outlet.send(notificationMessage("notifications/cancelled", { requestId: id, reason: error.message }));
        pending.reject(error);
      };
      const onAbort = () => giveUp(toError(signal.reason));
      const timer = setTimeout(
        () => giveUp(new TrunklineError("TIMEOUT", `The client did not answer ${method} within ${timeoutMs} ms.`)),
        timeoutMs,
      );
      timer.unref();
      const settle = () => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      };
      const pending: Pending = {
        resolve: (result) => {
          settle();
          resolve(result);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#pending.set(id, pending);
      signal.addEventListener("abort", onAbort, { once: true });
      outlet.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Handles a response. Ignores it if its request is no longer pending. */
  settle(response: RpcResponse): void {
    const pending = typeof response.id === "number" ? this.#pending.get(response.id) : undefined;
    if (pending === undefined) return;
    if (isRecord(response.result)) {
      pending.resolve(response.result);
      return;
    }
    const said = isRecord(response.error) ? response.error.message : undefined;
    const message = typeof said === "string" ? said : "The client's response has neither a result nor an error.";
    pending.reject(new TrunklineError("UPSTREAM", message, { data: { error: response.error } }));
  }

  /** The client has disconnected: rejects all pending requests. */
  close(): void {
    this.#closed = true;
    for (const pending of [...this.#pending.values()]) pending.reject(gone());
  }
}

function gone(): TrunklineError {
  return new TrunklineError("CLOSED", "The client has disconnected.");
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new TrunklineError("ABORTED", "The call has ended.", { cause: reason });
}
