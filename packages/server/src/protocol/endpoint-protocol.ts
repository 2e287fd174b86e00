// The protocol over one service, for one endpoint: both eras, and what they share.
import { randomBytes } from "node:crypto";
import type { Logger } from "@trunkline/core";
import type { Caller } from "../interfaces/exchange.js";
import type { McpService } from "../interfaces/mcp-service.js";
import { LegacyConnection } from "./legacy.js";
import { DEFAULT_LIMITS, type ProtocolLimits } from "./limits.js";
import { ModernProtocol } from "./modern.js";
import type { Outlet } from "./request-context.js";
import { TaskTable } from "./task-table.js";

/** How the protocol is set up. */
interface ProtocolOptions {
  readonly service: McpService;
  readonly logger: Logger;
  readonly endpoint: Caller["endpoint"];
  readonly limits?: Partial<ProtocolLimits> | undefined;
}

/** The protocol of one endpoint. */
export class Protocol {
  readonly modern: ModernProtocol;
  readonly limits: ProtocolLimits;
  readonly #options: ProtocolOptions;
  readonly #legacyTasks: TaskTable;
  /** Several processes may use one store, where ids of clients name sessions. */
  readonly #prefix: string;
  #lastClient = 0;

  constructor(options: ProtocolOptions) {
    this.#options = options;
    this.#prefix = `${options.endpoint}-${randomBytes(6).toString("hex")}`;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.modern = new ModernProtocol(options.service, { logger: options.logger, limits: this.limits });
    this.#legacyTasks = new TaskTable(this.limits.tasks);
  }

  /** The id of a client that nobody has seen before. */
  nextClientId(): string {
    this.#lastClient += 1;
    return `${this.#prefix}-${this.#lastClient}`;
  }

  /** Makes the connection of one legacy client. */
  connectLegacy(outlet: Outlet): LegacyConnection {
    const { service, logger, endpoint } = this.#options;
    const id = this.nextClientId();
    return new LegacyConnection({
      service,
      logger,
      endpoint,
      limits: this.limits,
      tasks: this.#legacyTasks,
      id,
      outlet,
    });
  }

  /** Ends what waits and what runs beside requests. The connections are their endpoint's to close. */
  async close(): Promise<void> {
    this.#legacyTasks.close();
    await this.modern.close();
  }
}
