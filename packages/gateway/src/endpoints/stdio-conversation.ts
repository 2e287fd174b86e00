// The conversation with the single stdio client. Its first messages decide the era: `server/discover` alone is a probe
// that either era can follow; any other request fixes the era.
import { LOCAL_PRINCIPAL, parseJson, TrunklineError } from "@trunkline/core";
import {
  BATCH_REVISION,
  errorMessage,
  type IncomingMessage,
  isRpcId,
  RPC_CODES,
  RpcError,
  type RpcId,
  type RpcNotification,
  type RpcRequest,
  readMessage,
} from "@trunkline/protocol";
import type { Protocol } from "../protocol/endpoint-protocol.js";
import type { LegacyConnection } from "../protocol/legacy.js";
import { claimsModern, envelopeError, unsupportedVersion } from "../protocol/modern-envelope.js";
import type { Subscription } from "../protocol/modern-subscriptions.js";
import { type ClientFacts, type Outlet, RequestContext } from "../protocol/request-context.js";
import { toRpcError } from "../protocol/rpc-failures.js";
import { answeredId, repeatedKeyError } from "./unique-keys.js";

export class StdioConversation {
  readonly #protocol: Protocol;
  readonly #outlet: Outlet;
  readonly #facts: ClientFacts;
  readonly #modern = new Map<RpcId, RequestContext>();
  readonly #streams = new Map<RpcId, Subscription>();
  #era: "undecided" | "legacy" | "modern" = "undecided";
  #legacy: LegacyConnection | undefined;
  #idle: (() => void)[] = [];
  #running = 0;

  constructor(protocol: Protocol, outlet: Outlet) {
    this.#protocol = protocol;
    this.#outlet = outlet;
    this.#facts = {
      id: protocol.nextClientId(),
      principal: LOCAL_PRINCIPAL,
      endpoint: "stdio",
      lasting: true,
      party: this,
    };
  }

  /** The modern client, needed to release its state; undefined for a legacy client. */
  get modernClient(): ClientFacts | undefined {
    return this.#era === "modern" ? this.#facts : undefined;
  }

  /** Handles one line. */
  line(text: string): void {
    const value = parseJson(text);
    if (value === undefined) {
      this.#refuse(null, new RpcError(RPC_CODES.parseError, "Parse error: not valid JSON."));
      return;
    }
    const repeated = repeatedKeyError(text, value);
    if (repeated !== undefined) {
      this.#refuse(answeredId(value), repeated);
      return;
    }
    if (Array.isArray(value)) {
      this.#batch(value);
      return;
    }
    this.#message(readMessage(value));
  }

  /** Reports a line that is too long. */
  tooLong(maxBytes: number): void {
    this.#refuse(
      null,
      new RpcError(RPC_CODES.parseError, `Parse error: the message is longer than ${maxBytes} bytes.`),
    );
  }

  /**
   * Resolves when every request has been answered. Notification streams do not count: they stay open until they are
   * closed.
   */
  async drained(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** The client has closed its end: it will answer no more requests but may still read. */
  stopAsking(): void {
    this.#legacy?.stopAsking();
  }

  /** Ends the notification streams cleanly. */
  async finishStreams(): Promise<void> {
    for (const [id, stream] of [...this.#streams]) {
      this.#streams.delete(id);
      this.#outlet.send(stream.finish());
      await stream.close();
    }
  }

  /** Aborts running calls: nothing can be answered any more. */
  async close(): Promise<void> {
    const reason = new TrunklineError("ABORTED", "The client has disconnected.");
    for (const context of this.#modern.values()) context.cancel(reason);
    await Promise.allSettled([...this.#streams.values()].map((stream) => stream.close()));
    this.#streams.clear();
    await this.#legacy?.close();
  }

  #message(message: IncomingMessage): void {
    switch (message.kind) {
      case "invalid":
        this.#refuse(message.id, message.error);
        return;
      case "response":
        this.#legacy?.response(message);
        return;
      case "notification":
        this.#notification(message);
        return;
      case "request":
        this.#request(message);
        return;
    }
  }

  #request(request: RpcRequest): void {
    const isModern = claimsModern(request.params);
    if (this.#era === "undecided" && !isModern) this.#era = "legacy";
    if (this.#era === "legacy") {
      this.#track(this.#legacyRequest(request));
      return;
    }
    if (!isModern) {
      const requested = request.params.protocolVersion;
      const version = typeof requested === "string" ? requested : undefined;
      const error = request.method === "initialize" ? unsupportedVersion(version) : envelopeError(request.params);
      this.#refuse(request.id, error ?? unsupportedVersion(version));
      return;
    }
    const error = envelopeError(request.params);
    if (error !== undefined) {
      this.#refuse(request.id, error);
      return;
    }
    if (request.method !== "server/discover") this.#era = "modern";
    this.#track(this.#modernRequest(request));
  }

  async #legacyRequest(request: RpcRequest): Promise<void> {
    this.#legacy ??= this.#protocol.connectLegacy(this.#outlet, LOCAL_PRINCIPAL);
    const answer = await this.#legacy.request(request, this.#outlet);
    if (answer !== undefined) this.#outlet.send(answer);
  }

  async #modernRequest(request: RpcRequest): Promise<void> {
    const { id } = request;
    if (this.#modern.has(id) || this.#streams.has(id)) {
      return this.#refuse(id, new RpcError(RPC_CODES.invalidRequest, `Invalid request: id ${id} is already in use.`));
    }
    if (this.#modern.size >= this.#protocol.limits.maxInFlight) {
      return this.#refuse(id, new RpcError(RPC_CODES.internalError, "Too many concurrent requests."));
    }
    const context = new RequestContext(this.#facts, this.#outlet);
    this.#modern.set(id, context);
    try {
      if (request.method === "subscriptions/listen") return await this.#listen(request, context);
      const answer = await this.#protocol.modern.handle(request, context);
      if (answer !== undefined) this.#outlet.send(answer.message);
    } finally {
      this.#modern.delete(id);
    }
  }

  async #listen(request: RpcRequest, context: RequestContext): Promise<void> {
    const { id } = request;
    let stream: Subscription;
    try {
      stream = await this.#protocol.modern.subscriptions.open(request, context);
    } catch (error) {
      return this.#refuse(id, toRpcError(error));
    }
    if (context.isCancelled) return await stream.close();
    if (!stream.isEmpty) return void this.#streams.set(id, stream);
    this.#outlet.send(stream.finish());
    await stream.close();
  }

  #notification(notification: RpcNotification): void {
    if (this.#era === "legacy") {
      this.#legacy?.notification(notification);
      return;
    }
    const { requestId } = notification.params;
    if (notification.method !== "notifications/cancelled" || !isRpcId(requestId)) return;
    this.#modern.get(requestId)?.cancel(new TrunklineError("ABORTED", "The client cancelled the request."));
    const stream = this.#streams.get(requestId);
    if (stream === undefined) return;
    this.#streams.delete(requestId);
    this.#track(stream.close());
  }

  #batch(values: readonly unknown[]): void {
    const { maxBatch } = this.#protocol.limits;
    const revision = this.#legacy?.revision;
    if (revision !== BATCH_REVISION || values.length === 0 || values.length > maxBatch) {
      const why =
        revision === BATCH_REVISION
          ? `need 1 to ${maxBatch} messages`
          : `are only allowed in revision ${BATCH_REVISION}`;
      this.#refuse(null, new RpcError(RPC_CODES.invalidRequest, `Invalid request: batches ${why}.`));
      return;
    }
    this.#track(this.#answerBatch(values.map(readMessage)));
  }

  async #answerBatch(messages: readonly IncomingMessage[]): Promise<void> {
    const answers = await Promise.all(
      messages.map(async (message) => {
        if (message.kind === "request") return await this.#legacy?.request(message, this.#outlet);
        if (message.kind === "invalid") return errorMessage(message.id, message.error);
        this.#message(message);
        return undefined;
      }),
    );
    const due = answers.filter((answer) => answer !== undefined);
    // The outlet accepts any JSON; a batch is just not typed as a message.
    if (due.length > 0) this.#outlet.send(due as unknown as Readonly<Record<string, unknown>>);
  }

  /** Counts running work, so that closing can wait for it. The work never rejects. */
  #track(work: Promise<void>): void {
    this.#running += 1;
    void work.finally(() => {
      this.#running -= 1;
      if (this.#running === 0) for (const idle of this.#idle.splice(0)) idle();
    });
  }

  #refuse(id: RpcId | null, error: RpcError): void {
    this.#outlet.send(errorMessage(id, error));
  }
}
