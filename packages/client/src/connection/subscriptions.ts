// Streams on which a modern server reports changes: a request that is only answered when the stream ends. The server
// acknowledges it first, with what it will report.
import { isRecord, TrunklineError } from "@trunkline/core";
import { META, type RpcId } from "@trunkline/protocol";

/** What a server is asked to report. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

/** An open stream. */
export interface Subscription {
  /** Named in the notifications that arrive on the stream. */
  readonly id: string;
  /** What the server will report, which may be less than it was asked for. */
  readonly honored: SubscriptionFilter;
  /** Resolves when the stream has ended. */
  readonly ended: Promise<"local" | "remote">;
  close(): void;
}

/** How subscriptions reach the server. */
interface SubscriptionPort {
  send(id: string, filter: SubscriptionFilter): void;
  cancel(id: string): void;
}

interface Open {
  acknowledge(honored: SubscriptionFilter): void;
  end(how: "local" | "remote", error: unknown): void;
}

/** The streams of one session. */
export class Subscriptions {
  readonly #port: SubscriptionPort;
  readonly #open = new Map<RpcId, Open>();
  #lastId = 0;

  constructor(port: SubscriptionPort) {
    this.#port = port;
  }

  /** Opens a stream. Resolves when the server has acknowledged it. */
  async open(
    filter: SubscriptionFilter,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<Subscription> {
    signal?.throwIfAborted();
    const id = `listen-${++this.#lastId}`;
    let onEnded: (how: "local" | "remote") => void = () => {};
    const ended = new Promise<"local" | "remote">((resolve) => {
      onEnded = resolve;
    });
    const giveUp = (reason: unknown) => {
      this.#open.get(id)?.end("local", reason);
      this.#port.cancel(id);
    };
    const honored = await new Promise<SubscriptionFilter>((resolve, reject) => {
      const onAbort = () => giveUp(signal?.reason);
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const timer = setTimeout(
        () => giveUp(new TrunklineError("TIMEOUT", "subscriptions/listen was not acknowledged in time.")),
        timeoutMs,
      );
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#open.set(id, {
        acknowledge: (filter) => {
          clearTimeout(timer);
          resolve(filter);
        },
        end: (how, error) => {
          settle();
          this.#open.delete(id);
          onEnded(how);
          reject(error);
        },
      });
      this.#port.send(id, filter);
    });
    return {
      id,
      honored,
      ended,
      close: () => {
        if (this.#open.has(id)) giveUp(undefined);
      },
    };
  }

  /** Takes a server's acknowledgement. Returns false if it is for no stream of ours. */
  acknowledge(params: Readonly<Record<string, unknown>>): boolean {
    const meta = isRecord(params._meta) ? params._meta : {};
    const open = this.#open.get(meta[META.subscriptionId] as RpcId);
    open?.acknowledge(isRecord(params.notifications) ? params.notifications : {});
    return open !== undefined;
  }

  /** Whether this is the request of an open stream. */
  has(id: RpcId): boolean {
    return this.#open.has(id);
  }

  /** Ends a stream that the server has ended, or that was lost. */
  end(id: RpcId, error: unknown): void {
    this.#open.get(id)?.end("remote", error);
  }

  /** Ends all streams. */
  endAll(error: unknown): void {
    for (const id of [...this.#open.keys()]) this.end(id, error);
  }
}

/** Whether a resource is the subscribed one or below it. */
export function isWithinResource(uri: string, subscribed: string): boolean {
  if (uri === subscribed) return true;
  return uri.startsWith(subscribed) && (subscribed.endsWith("/") || /^[/?#]/.test(uri.slice(subscribed.length)));
}
