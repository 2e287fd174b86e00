// Requests of ours to a legacy client, and their answers.
import { isRecord, TrunklineError } from "@trunkline/core";
import { notificationMessage, type RpcParams, type RpcResponse } from "@trunkline/protocol";
import type { Outlet } from "./outlet.js";

/** How one request is made. */
export interface ClientRequestOptions {
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
