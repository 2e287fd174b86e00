// `subscriptions/listen`: a request whose answer is a stream of notifications and comes when the stream ends.
import { isRecord } from "@trunkline/core";
import {
  LIST_CHANGES,
  META,
  MODERN_REVISION,
  notificationMessage,
  type OutgoingMessage,
  RPC_CODES,
  RpcError,
  type RpcId,
  type RpcParams,
  resultMessage,
} from "@trunkline/protocol";
import type { McpService, ServiceEvent } from "../interfaces/mcp-service.js";
import type { Outlet } from "./request-context.js";
import { ResourceWatches } from "./resource-watches.js";

/** One stream. */
export interface Subscription {
  /** Ends it from our side: the answer to the request. */
  finish(): OutgoingMessage;
  /** Lets go of everything it listens to. Idempotent. */
  close(): Promise<void>;
  /** Whether there is anything at all that will ever be said on it. */
  readonly isEmpty: boolean;
}

/** The streams of all modern clients. */
export class ModernSubscriptions {
  readonly #service: McpService;
  readonly #max: number;
  readonly #open = new Set<Subscription & { accept(event: ServiceEvent): void }>();
  #stopListening: (() => void) | undefined;

  constructor(service: McpService, { max }: { max: number }) {
    this.#service = service;
    this.#max = max;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Opens a stream and says on it what of the wish is granted: what the server declares, and resources that can be followed.
   * Rejects where it cannot be opened.
   */
  async open(id: RpcId, params: RpcParams, outlet: Outlet): Promise<Subscription> {
    const { notifications } = params;
    if (!isRecord(notifications)) {
      throw new RpcError(RPC_CODES.invalidParams, 'Invalid params: "notifications" has to say what to listen for.');
    }
    if (this.#open.size >= this.#max) throw new RpcError(RPC_CODES.internalError, "Too many subscriptions are open.");

    const tagged = { [META.subscriptionId]: id };
    const say = (method: string, more: RpcParams = {}) =>
      outlet.send(notificationMessage(method, { ...more, _meta: tagged }));
    const watches = new ResourceWatches(this.#service, (uri) => say("notifications/resources/updated", { uri }));
    const granted = await this.#grant(notifications, watches);
    const kinds = new Set(
      Object.entries(LIST_CHANGES).flatMap(([kind, { filter }]) => (granted[filter] === true ? [kind] : [])),
    );
    const subscription = {
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

  /** Lets go of every stream. The endpoints have ended them. */
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
