// The protocol on top of one service, for one endpoint: both eras, and what they share.
import { randomBytes } from "node:crypto";
import { type Gateway, type Logger, withoutUndefined } from "@trunkline/core";
import type { Caller } from "../interfaces/exchange.js";
import type { McpService } from "../interfaces/mcp-service.js";
import { LegacyConnection } from "./legacy.js";
import { DEFAULT_LIMITS, type ProtocolLimits } from "./limits.js";
import { ModernProtocol } from "./modern.js";
import type { Outlet } from "./request-context.js";
import { TaskTable } from "./task-table.js";

interface ProtocolOptions {
  readonly service: McpService;
  readonly logger: Logger;
  readonly endpoint: Caller["endpoint"];
  readonly limits?: Partial<ProtocolLimits>;
  /** This gateway, if it shares its store with others. */
  readonly gateway?: Gateway;
}

export class Protocol {
  readonly modern: ModernProtocol;
  readonly limits: ProtocolLimits;
  readonly #options: ProtocolOptions;
  readonly #legacyTasks: TaskTable;
  /** Unique per process: several processes may share a store, where client ids identify sessions. */
  readonly #prefix: string;
  #lastClient = 0;

  constructor(options: ProtocolOptions) {
    this.#options = options;
    this.#prefix = `${options.endpoint}-${randomBytes(6).toString("hex")}`;
    this.limits = { ...DEFAULT_LIMITS, ...withoutUndefined(options.limits) };
    const { service, logger, gateway } = options;
    this.modern = new ModernProtocol(service, { logger, limits: this.limits, gateway });
    this.#legacyTasks = new TaskTable(this.limits.tasks);
  }

  /** Returns the id for a new client. */
  nextClientId(): string {
    this.#lastClient += 1;
    return `${this.#prefix}-${this.#lastClient}`;
  }

  /** Creates the connection of one legacy client. */
  connectLegacy(outlet: Outlet, principal: string): LegacyConnection {
    const { service, logger, endpoint } = this.#options;
    const id = this.nextClientId();
    return new LegacyConnection({
      service,
      logger,
      endpoint,
      limits: this.limits,
      tasks: this.#legacyTasks,
      id,
      principal,
      outlet,
    });
  }

  /** Ends the waiting calls and tasks of a principal whose tokens are no longer valid. */
  endPrincipal(principal: string): void {
    this.#legacyTasks.endPrincipal(principal);
    this.modern.endPrincipal(principal);
  }

  /** Ends waiting calls and tasks. The endpoint closes its connections itself. */
  async close(): Promise<void> {
    this.#legacyTasks.close();
    await this.modern.close();
  }
}
