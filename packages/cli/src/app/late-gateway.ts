// This process as one of the gateways on a store in a database. It joins when the database can be reached, so a gateway
// starts, and serves what needs no store, while the database is away.
import {
  type BatchClaim,
  type BatchKey,
  type EndedTask,
  type Gateway,
  type GatewayAnswer,
  isTrunklineError,
  type Logger,
  messageOf,
  sleep,
  type Team,
  TrunklineError,
} from "@trunkline/core";

const JOIN_AGAIN_MS = 1_000;

type Handler = Parameters<Gateway["serve"]>[0];

interface LateGatewayOptions {
  readonly name: string;
  readonly logger: Logger;
  /** Opens the store. */
  team(): Promise<Team | undefined>;
}

export class LateGateway implements Gateway {
  readonly name: string;
  readonly #options: LateGatewayOptions;
  readonly #lifetime = new AbortController();
  #joining: Promise<Gateway> | undefined;
  #retrying: Promise<void> | undefined;
  #handler: Handler | undefined;
  #stopServing: (() => void) | undefined;

  constructor(options: LateGatewayOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Joins now, or keeps trying while the database cannot be reached. Rejects if the name is taken. */
  async start(): Promise<void> {
    try {
      await this.#join();
    } catch (error) {
      if (!isTrunklineError(error, "STORE_UNAVAILABLE") || !error.retryable) throw error;
      this.#options.logger.warn("cannot join the other gateways yet", { error: error.message });
      this.#retrying = this.#keepTrying();
    }
  }

  serve(handler: Handler): () => void {
    this.#handler = handler;
    this.#joining?.then(
      (gateway) => this.#serveAt(gateway),
      () => {},
    );
    return () => {
      if (this.#handler !== handler) return;
      this.#handler = undefined;
      this.#stopServing?.();
    };
  }

  async ask(...given: Parameters<Gateway["ask"]>): Promise<GatewayAnswer> {
    return await (await this.#join()).ask(...given);
  }

  async keepTask(task: EndedTask): Promise<void> {
    await (await this.#join()).keepTask(task);
  }

  async findTask(id: string, principal: string): Promise<Uint8Array | undefined> {
    return await (await this.#join()).findTask(id, principal);
  }

  async forgetTasks(principal: string): Promise<void> {
    await (await this.#join()).forgetTasks(principal);
  }

  async claimBatch(key: BatchKey, keptMs: number): Promise<BatchClaim> {
    return await (await this.#join()).claimBatch(key, keptMs);
  }

  async endBatch(...given: Parameters<Gateway["endBatch"]>): Promise<void> {
    await (await this.#join()).endBatch(...given);
  }

  async waitForBatch(key: BatchKey, signal: AbortSignal): Promise<void> {
    await (await this.#join()).waitForBatch(key, signal);
  }

  async leave(): Promise<void> {
    this.#lifetime.abort();
    await this.#retrying;
    const gateway = await this.#joining?.catch(() => undefined);
    await gateway?.leave();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  #join(): Promise<Gateway> {
    if (this.#joining === undefined) {
      if (this.#lifetime.signal.aborted) return Promise.reject(closedError());
      this.#joining = this.#open().catch((error: unknown) => {
        this.#joining = undefined;
        throw error;
      });
    }
    return this.#joining;
  }

  async #open(): Promise<Gateway> {
    const team = await this.#options.team();
    if (team === undefined) throw new TrunklineError("INTERNAL", "The store in a database has no team.");
    const gateway = await team.join(this.name);
    this.#serveAt(gateway);
    return gateway;
  }

  #serveAt(gateway: Gateway): void {
    if (this.#handler === undefined || this.#stopServing !== undefined) return;
    this.#stopServing = gateway.serve(this.#handler);
  }

  /** Never rejects. A name that is taken may become free. */
  async #keepTrying(): Promise<void> {
    const { signal } = this.#lifetime;
    let said = "";
    while (!signal.aborted) {
      try {
        await sleep(JOIN_AGAIN_MS, signal);
        await this.#join();
        this.#options.logger.info("joined the other gateways");
        return;
      } catch (error) {
        const problem = messageOf(error);
        if (!signal.aborted && problem !== said) this.#options.logger.warn("cannot join the other gateways", { error });
        said = problem;
      }
    }
  }
}

function closedError(): TrunklineError {
  return new TrunklineError("CLOSED", "The gateway is stopping.");
}
