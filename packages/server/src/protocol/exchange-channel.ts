// The channel of an exchange: what upstream servers can ask the downstream client, and tell it, while its request is answered.
// It has exactly the abilities that the client declares.
import type { Abilities, Channel, QuestionContext, Root } from "@trunkline/client";
import { isRecord, type ToolProgress, TrunklineError } from "@trunkline/core";
import {
  isLogged,
  notificationMessage,
  type OutgoingMessage,
  type RpcId,
  type RpcParams,
  type RpcResponse,
  withoutOwnMeta,
} from "@trunkline/protocol";
import type { Outlet } from "./request-context.js";

/** How the client is reached. */
interface ChannelPorts {
  readonly name: string;
  /** Whom it speaks for, where it is one of several channels of the same client. */
  readonly party?: object | undefined;
  readonly capabilities: RpcParams;
  /** Puts a question to the client, and returns its answer as it came. */
  ask(method: string, params: RpcParams, asked: QuestionContext): Promise<Record<string, unknown>>;
  /** The level from which log messages are wanted; undefined where none are. */
  logLevel(): string | undefined;
  outlet(): Outlet | undefined;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

/** Makes the channel of one exchange. Questions and answers pass as they are, but for what `_meta` says of a connection. */
export function createExchangeChannel(ports: ChannelPorts): Channel {
  const { name, party, onProgress } = ports;
  const abilities = abilitiesOf(ports.capabilities);
  const channel: { -readonly [Key in keyof Channel]: Channel[Key] } = { name, abilities };
  if (party !== undefined) channel.party = party;
  if (Object.keys(abilities).length > 0) {
    channel.ask = ({ method, params = {} }, context) => ports.ask(method, withoutOwnMeta(params), context);
  }
  channel.log = ({ server, level, logger, data }) => {
    const threshold = ports.logLevel();
    if (threshold === undefined || !isLogged(level, threshold)) return;
    const params = { level, logger: logger === undefined ? server : `${server}/${logger}`, data };
    ports.outlet()?.send(notificationMessage("notifications/message", params));
  };
  // A modern upstream server is told with each call.
  const level = ports.logLevel();
  if (level !== undefined) channel.logLevel = level;
  if (onProgress !== undefined) channel.progress = onProgress;
  return channel;
}

/** What upstream servers may ask a client that declares this. */
function abilitiesOf(capabilities: RpcParams): Abilities {
  const modes = elicitationModes(capabilities);
  return {
    ...(modes.length === 0 ? {} : { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) }),
    ...(isRecord(capabilities.sampling) ? { sampling: { tools: {} } } : {}),
    ...(isRecord(capabilities.roots) ? { roots: { listChanged: true } } : {}),
  };
}

/** What a client that declares this can be shown. The capability without a mode is that of the time before modes. */
export function elicitationModes(capabilities: RpcParams): ("form" | "url")[] {
  const { elicitation } = capabilities;
  if (!isRecord(elicitation)) return [];
  if (elicitation.form === undefined && elicitation.url === undefined) return ["form"];
  return (["form", "url"] as const).filter((mode) => elicitation[mode] !== undefined);
}

/**
 * Sends progress to the client. It has to grow from one notification to the next; several sources report into one token
 * (the channel and whoever runs the operation), so what does not grow is left out.
 */
export function progressReporter(token: RpcId, outlet: Outlet): (progress: ToolProgress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (!(progress.progress > last)) return;
    last = progress.progress;
    outlet.send(progressMessage(token, progress));
  };
}

/** The notification of how far a request has come. */
export function progressMessage(token: RpcId, { progress, total, message }: ToolProgress): OutgoingMessage {
  return notificationMessage("notifications/progress", {
    progressToken: token,
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message }),
  });
}

/** The roots in a client's answer. */
export function readRoots({ roots }: RpcParams): Root[] {
  if (!Array.isArray(roots)) throw new TrunklineError("PROTOCOL", "The client's answer to roots/list is not one.");
  return roots.filter((root): root is Root => isRecord(root) && typeof root.uri === "string");
}

/** How one request is made. */
interface ClientRequestOptions {
  readonly outlet: Outlet;
  /** Its abort gives the request up, and the client is told. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

interface Pending {
  resolve(result: Record<string, unknown>): void;
  reject(error: Error): void;
}

/** The requests that one client has not answered yet. */
export class ClientRequests {
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #closed = false;

  /** Asks the client. Rejects with its error, when the time is up, and when the connection ends. */
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

  /** Takes an answer. One that nobody waits for any more is dropped. */
  settle(response: RpcResponse): void {
    const pending = typeof response.id === "number" ? this.#pending.get(response.id) : undefined;
    if (pending === undefined) return;
    if (isRecord(response.result)) {
      pending.resolve(response.result);
      return;
    }
    const said = isRecord(response.error) ? response.error.message : undefined;
    const message = typeof said === "string" ? said : "The client's answer is neither a result nor an error.";
    pending.reject(new TrunklineError("UPSTREAM", message, { data: { error: response.error } }));
  }

  /** The client has gone: nothing will be answered any more. */
  close(): void {
    this.#closed = true;
    for (const pending of [...this.#pending.values()]) pending.reject(gone());
  }
}

function gone(): TrunklineError {
  return new TrunklineError("CLOSED", "The client has gone.");
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new TrunklineError("ABORTED", "The call has ended.", { cause: reason });
}
