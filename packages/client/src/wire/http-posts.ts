import { TrunklineError } from "@trunkline/core";
import type { RpcId } from "@trunkline/protocol";
import type { BodyReader } from "./http-body.js";
import type { HttpClient, HttpExchange, HttpRequest } from "./http-client.js";

/** How much of a body that no one needs is read, so that its connection can be used again. */
const IGNORED_BYTES = 1024 * 1024;

/** Requests whose response has only a status. */
export class HttpPosts {
  readonly #http: HttpClient;
  readonly #pending = new Set<{ readonly id: RpcId | undefined; giveUp(): void }>();

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Resolves when the server has accepted the request. */
  send(request: HttpRequest, id?: RpcId): Promise<void> {
    return new Promise((resolve, reject) => {
      let ignoredBytes = 0;
      const ignored: BodyReader = {
        onData: (piece) => {
          ignoredBytes += piece.length;
          if (ignoredBytes > IGNORED_BYTES) exchange.abort();
          return undefined;
        },
        onEnd: () => {},
      };
      const exchange: HttpExchange = this.#http.send(request, {
        onResponse: () => {
          this.#pending.delete(pending);
          resolve();
          return ignored;
        },
        onFailure: (error) => {
          this.#pending.delete(pending);
          reject(error);
        },
      });
      const pending = {
        id,
        giveUp: () => {
          this.#pending.delete(pending);
          exchange.abort();
          reject(new TrunklineError("CLOSED", "The connection is closed."));
        },
      };
      this.#pending.add(pending);
    });
  }

  /** Gives up the requests with this id, or all of them. */
  drop(id?: RpcId): void {
    for (const pending of this.#pending) if (id === undefined || pending.id === id) pending.giveUp();
  }
}
