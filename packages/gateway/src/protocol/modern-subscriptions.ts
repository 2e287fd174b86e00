// `subscriptions/listen`: a request that opens a stream of notifications and is answered when the stream ends.
import { isRecord } from "@trunkline/core";
import {
  LIST_CHANGES,
  META,
  MODERN_REVISION,
  notificationMessage,
  type OutgoingMessage,
  RPC_CODES,
  RpcError,
  type RpcParams,
  type RpcRequest,
  resultMessage,
} from "@trunkline/protocol";
import type { McpService, ServiceEvent } from "../interfaces/mcp-service.js";
import type { RequestContext } from "./request-context.js";
import { ResourceWatches } from "./resource-watches.js";

export interface Subscription {
  /** Ends the subscription from our side. Returns the response to the request. */
  finish(): OutgoingMessage;
  /** Removes all listeners. Idempotent. */
  close(): Promise<void>;
  /** Whether the stream will never carry any notification. */
  readonly isEmpty: boolean;
}

export class ModernSubscriptions {
  readonly #service: McpService;
  readonly #max: number;
  readonly #open = new Set<Subscription & { principal: string; accept(event: ServiceEvent): void }>();
  #stopListening: (() => void) | undefined;

  constructor(service: McpService, { max }: { max: number }) {
    this.#service = service;
    this.#max = max;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Opens a stream and confirms on it what was granted: notifications that the server declares, and resources that can
   * be watched. Rejects if the stream cannot be opened.
   */
  async open({ id, params }: RpcRequest, { client: { principal }, outlet }: RequestContext): Promise<Subscription> {
    const { notifications } = params;
    if (!isRecord(notifications)) {
      throw new RpcError(RPC_CODES.invalidParams, 'Invalid params: "notifications" has to list what to listen for.');
    }
    if ([...this.#open].filter((open) => open.principal === principal).length >= this.#max) {
      throw new RpcError(RPC_CODES.internalError, "Too many subscriptions are open.");
    }

    const tagged = { [META.subscriptionId]: id };
    const say = (method: string, more: RpcParams = {}) =>
      outlet.send(notificationMessage(method, { ...more, _meta: tagged }));
    const watches = new ResourceWatches(this.#service, {
      principal,
      onUpdated: (uri) => say("notifications/resources/updated", { uri }),
    });
    const granted = await this.#grant(notifications, watches);
    const kinds = new Set(
      Object.entries(LIST_CHANGES).flatMap(([kind, { filter }]) => (granted[filter] === true ? [kind] : [])),
    );
    const subscription = {
      principal,
      isEmpty: Object.keys(granted).length === 0,
      accept: ({ kind }: ServiceEvent) => {
        if (kinds.has(kind)) say(LIST_CHANGES[kind].method);
      },
      finish: () =>
        resultMessage(id, {
          resultType: "complete",
          _meta: { ...tagged, [META.serverInfo]: this.#service.info },
        }),
      close: async () => {
        this.#open.delete(subscription);
        if (this.#open.size === 0) this.#unlisten();
        await watches.close();
      },
    };
    this.#open.add(subscription);
    this.#stopListening ??= this.#service.onEvent((event) => {
      for (const open of [...this.#open]) open.accept(event);
    });
    say("notifications/subscriptions/acknowledged", { notifications: granted });
    return subscription;
  }

  /** Releases every stream. The endpoints have already ended them. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#open].map((subscription) => subscription.close()));
    this.#unlisten();
  }

  #unlisten(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  async #grant(wished: RpcParams, watches: ResourceWatches): Promise<RpcParams> {
    const capabilities = this.#service.capabilities(MODERN_REVISION);
    const granted: Record<string, unknown> = {};
    for (const { filter, list } of Object.values(LIST_CHANGES)) {
      const declared = capabilities[list];
      if (wished[filter] === true && isRecord(declared) && declared.listChanged === true) granted[filter] = true;
    }
    const { resources } = capabilities;
    if (Array.isArray(wished.resourceSubscriptions) && isRecord(resources) && resources.subscribe === true) {
      const uris = wished.resourceSubscriptions.filter((uri): uri is string => typeof uri === "string");
      const followed = await Promise.allSettled(uris.map((uri) => watches.add(uri)));
      const sound = uris.filter((_, index) => followed[index]?.status === "fulfilled");
      if (sound.length > 0) granted.resourceSubscriptions = sound;
    }
    return granted;
  }
}
