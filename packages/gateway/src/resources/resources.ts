// All resources: our own under `trunkline://`, those of upstream servers under their own URIs.
import {
  type ContentStore,
  isTrunklineError,
  type Logger,
  messageOf,
  nearestNames,
  type TrunklineError,
  toTrunklineError,
} from "@trunkline/core";
import { type Era, RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Exchange } from "../interfaces/exchange.js";
import { asRpcError, faithful, LOOKUP_PATIENCE_MS, type Upstreams, withMeta } from "../upstreams/upstreams.js";
import { OwnResources, type ResourceReader } from "./own-resources.js";
import { ResourceRoutes } from "./resource-routes.js";

/** Large enough that clients that ignore the cursor still get everything in most setups. */
const PAGE_SIZE = 1_000;

type Raw = Readonly<Record<string, unknown>>;

interface ResourcesOptions {
  readonly upstreams: Upstreams;
  /** Opens the store as a principal sees it. */
  readonly store: (principal: string) => Promise<ContentStore>;
  readonly status: () => Promise<Raw>;
  /** Reports changes to any server's state. */
  readonly onStatus: (listener: () => void) => () => void;
  readonly logger: Logger;
}

export class Resources {
  readonly own: OwnResources;
  readonly routes: ResourceRoutes;
  readonly #options: ResourcesOptions;

  constructor(options: ResourcesOptions) {
    this.#options = options;
    this.own = new OwnResources(options);
    this.routes = new ResourceRoutes(options.upstreams);
  }

  /** Handles `resources/list`. */
  async list({ cursor }: Raw, { signal }: Exchange): Promise<Raw> {
    const upstream = await this.routes.resources(signal);
    const { items, ...next } = pageOf([...this.own.resources, ...upstream.map(({ raw }) => raw)], cursor);
    return { resources: items, ...next };
  }

  /** Handles `resources/templates/list`. */
  async templates({ cursor }: Raw, { signal }: Exchange): Promise<Raw> {
    const upstream = await this.routes.templates(signal);
    const { items, ...next } = pageOf([...this.own.templates, ...upstream.map(({ raw }) => raw)], cursor);
    return { resourceTemplates: items, ...next };
  }

  /** Handles `resources/read`. */
  async read({ uri }: Raw, exchange: Exchange): Promise<Raw> {
    const { era } = exchange.caller;
    if (typeof uri !== "string") throw new RpcError(RPC_CODES.invalidParams, "The resource URI is missing.");
    try {
      if (this.own.has(uri))
        return {
          contents: await this.own.read(uri, { principal: exchange.caller.principal, signal: exchange.signal }),
        };
      const server = await this.routes.server(uri, exchange.signal);
      if (server === undefined) throw await this.#missing(uri, { era, signal: exchange.signal });
      return await this.#readUpstream(server, uri, exchange);
    } catch (error) {
      if (isTrunklineError(error, "NOT_FOUND")) throw notFound(uri, era, error.hint);
      throw asRpcError(error, ownCode(error));
    }
  }

  /**
   * Reports changes to a resource. Rejects with an `RpcError` if it does not exist or does not support subscriptions.
   */
  async subscribe(uri: string, listener: () => void, reader: ResourceReader): Promise<() => Promise<void>> {
    const { signal } = reader;
    try {
      if (this.own.has(uri)) return await this.#subscribeOwn(uri, listener, reader);
      const server = await this.routes.server(uri, signal ?? new AbortController().signal);
      if (server === undefined) throw notFound(uri, "legacy", undefined);
      const hub = await this.#options.upstreams.hub();
      return await hub.subscribe(server, uri, () => listener(), signal === undefined ? {} : { signal });
    } catch (error) {
      if (isTrunklineError(error, "NOT_FOUND")) throw notFound(uri, "legacy", error.hint);
      throw asRpcError(error, ownCode(error));
    }
  }

  async #subscribeOwn(uri: string, listener: () => void, reader: ResourceReader): Promise<() => Promise<void>> {
    const watched = await this.own.watched(uri, reader);
    const tell = () => {
      try {
        listener();
      } catch (error) {
        this.#options.logger.error("a subscription listener failed", { error: messageOf(error) });
      }
    };
    if (watched === "status") {
      const stop = this.#options.onStatus(tell);
      return async () => stop();
    }
    const store = await this.#options.store(reader.principal);
    // Resources that never change can be subscribed to as well; they just send no notifications.
    if (watched === undefined || store.onDocumentChanged === undefined) return async () => {};
    const stop = await store.onDocumentChanged((path) => {
      if (path === watched.path) tell();
    });
    return async () => stop();
  }

  async #readUpstream(server: string, uri: string, exchange: Exchange): Promise<Raw> {
    const { signal, channel, caller, onProgress } = exchange;
    const hub = await this.#options.upstreams.hub();
    const options = {
      signal,
      channel,
      ...(onProgress === undefined || channel.progress !== undefined ? {} : { onProgress }),
    };
    try {
      return faithful(await hub.request(server, "resources/read", withMeta({ uri }, exchange), options));
    } catch (error) {
      const failure = toTrunklineError(error);
      if (!(await this.#meansNotFound(failure, uri, signal))) throw failure;
      throw notFound(uri, caller.era, undefined, failure);
    }
  }

  /** The eras use different codes. The newer code also means invalid parameters, which is unlikely for a URI. */
  async #meansNotFound({ code, data }: TrunklineError, uri: string, signal: AbortSignal): Promise<boolean> {
    if (code !== "UPSTREAM") return false;
    if (data?.code === RPC_CODES.resourceNotFound) return true;
    return data?.code === RPC_CODES.invalidParams && !(await this.routes.isListed(uri, signal));
  }

  async #missing(uri: string, { era, signal }: { era: Era; signal: AbortSignal }): Promise<RpcError> {
    const known = (await this.routes.resources(signal, LOOKUP_PATIENCE_MS)).map((resource) => resource.uri);
    const near = nearestNames(uri, known);
    return notFound(uri, era, near.length > 0 ? `Did you mean ${near.join(" or ")}?` : undefined);
  }
}

function notFound(uri: string, era: Era, hint: string | undefined, cause?: unknown): RpcError {
  const code = era === "modern" ? RPC_CODES.invalidParams : RPC_CODES.resourceNotFound;
  return new RpcError(code, `Resource not found: ${uri}.${hint === undefined ? "" : ` ${hint}`}`, {
    data: { uri },
    cause,
  });
}

/** Distinguishes errors that the client can fix from those that it cannot. */
function ownCode(error: unknown): number {
  const isTheirs =
    isTrunklineError(error, "INVALID_ARGUMENT") ||
    isTrunklineError(error, "AMBIGUOUS") ||
    isTrunklineError(error, "PROTOCOL");
  return isTheirs ? RPC_CODES.invalidParams : RPC_CODES.internalError;
}

// Paginates long lists. The cursor is an offset into the list; if the list changes in between, list_changed notifies
// the client.

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** Returns the page for a cursor. Throws an `RpcError` for an invalid one. */
export function pageOf<T>(items: readonly T[], cursor: unknown): Page<T> {
  const start = cursor === undefined || cursor === null ? 0 : placeOf(cursor);
  if (start === undefined || (start > 0 && start >= items.length)) {
    throw new RpcError(RPC_CODES.invalidParams, "Invalid cursor. Start again without one.");
  }
  const end = start + PAGE_SIZE;
  return {
    items: start === 0 && items.length <= PAGE_SIZE ? items : items.slice(start, end),
    ...(end < items.length ? { nextCursor: Buffer.from(String(end)).toString("base64url") } : {}),
  };
}

function placeOf(cursor: unknown): number | undefined {
  if (typeof cursor !== "string") return undefined;
  const text = Buffer.from(cursor, "base64url").toString();
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}
