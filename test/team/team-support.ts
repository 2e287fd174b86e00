// Several gateways on one real database, in this process.
import { type Gateway, silentLogger } from "@trunkline/core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type HttpEndpointOptions, listenHttp } from "../../packages/gateway/src/endpoints/http.js";
import { callModern, type Message, modern } from "../../packages/gateway/test/endpoints/http-client.js";
import { createTestService, type TestService } from "../../packages/gateway/test/protocol/test-service.js";
import { initPostgresStore, openPostgresStore, type PostgresStore } from "../../packages/store-postgres/src/index.js";
import { type PostgresCluster, startPostgres } from "../../packages/store-postgres/test/support/postgres-cluster.js";
import { binaries } from "./team.js";

export const capabilities = {
  elicitation: {},
  sampling: {},
  roots: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

export const accept = (name: string) => ({ action: "accept", content: { name } });

export interface TestGateway {
  readonly url: string;
  readonly service: TestService;
  readonly gateway: Gateway;
  readonly store: PostgresStore;
  close(): Promise<void>;
}

/** A database server with a store, for all tests of a `describe`. */
export interface TeamDatabase {
  readonly cluster: PostgresCluster;
  /** The address of the store. */
  readonly url: string;
  /** Runs SQL in the store's database. */
  run(sql: string): string;
}

/** Starts a database server before the tests around it, and removes it after them. */
export function teamDatabase(): TeamDatabase {
  let cluster: PostgresCluster | undefined;
  let url = "";
  const running = () => {
    if (cluster === undefined) throw new Error("The database runs only during tests.");
    return cluster;
  };
  beforeAll(async () => {
    cluster = await startPostgres(binaries ?? "");
    url = cluster.createDatabase();
    await initPostgresStore(url);
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });
  return {
    get cluster() {
      return running();
    },
    get url() {
      return url;
    },
    run: (sql) => running().run(sql, url.slice(url.lastIndexOf("/") + 1)),
  };
}

/** Starts a gateway with a test service. It is closed when the test ends. */
export async function startGateway(
  database: string,
  name: string,
  options: Partial<HttpEndpointOptions> & { service?: TestService } = {},
): Promise<TestGateway> {
  const store = await openPostgresStore({ url: database });
  const gateway = await store.team.join(name);
  const service = options.service ?? createTestService();
  const endpoint = await listenHttp({
    logger: silentLogger,
    host: "127.0.0.1",
    port: 0,
    graceMs: 200,
    ...options,
    service,
    gateway,
  });
  const close = async () => {
    await endpoint.close();
    await gateway.leave();
    await store.close();
  };
  onTestFinished(close);
  return { url: endpoint.url, service, gateway, store, close };
}

/** Calls a tool and returns the whole answer. */
export async function call(url: string, tool: string, args: object = {}, more: object = {}): Promise<Message> {
  return (await callModern(url, tool, args, { capabilities, more })).last;
}

export async function task(url: string, method: string, taskId: string, more: object = {}): Promise<Message> {
  return (await modern(url, `tasks/${method}`, { taskId, ...more }, { capabilities })).last;
}
