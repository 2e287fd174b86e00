// Support for operation tests: a real store in its own folder, real servers, and a configurable client.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Channel, type Hub, type LoadedConfig, openHub, type ServerDefinition } from "@trunkline/client";
import type { ContentStore, Embedder } from "@trunkline/core";
import { asContentStore, openStore, storeOperations } from "@trunkline/store";
import type { Caller, Exchange } from "../../src/interfaces/exchange.js";
import type { OperationContext, Params } from "../../src/interfaces/operation.js";
import { createRegistry, type RegistryOptions, type ServerRegistry } from "../../src/operations/operation-registry.js";
import { createRunner, type RunnerOptions } from "../../src/operations/run-operation.js";

export function callerOf(caller: Partial<Caller> = {}): Caller {
  return {
    id: "client-1",
    name: "test",
    era: "legacy",
    revision: "2025-11-25",
    endpoint: "stdio",
    principal: "local",
    lasting: true,
    capabilities: {},
    ...caller,
  };
}

export function exchangeOf({ caller, channel = {} }: { caller?: Partial<Caller>; channel?: Channel } = {}): Exchange {
  return { caller: callerOf(caller), channel, signal: new AbortController().signal, meta: {} };
}

export function contextOf(exchange: Exchange = exchangeOf()): OperationContext {
  return { exchange, signal: exchange.signal };
}

const common = {
  scope: "explicit",
  dialect: "servers",
  file: "test.json",
  disabled: false,
  lazy: true,
  connectTimeoutMs: 10_000,
  callTimeoutMs: 10_000,
  trusted: true,
} as const;

export function stdio(
  server: string,
  more: Partial<ServerDefinition> = {},
  args: readonly string[] = [],
): ServerDefinition {
  const path = fileURLToPath(new URL(`../../../../test/servers/${server}.js`, import.meta.url));
  return {
    ...common,
    name: server,
    type: "stdio",
    command: process.execPath,
    args: [path, ...args],
    env: {},
    ...more,
  } as ServerDefinition;
}

/** The server in this folder, whose tools return results of every shape, or serve the tools in a file. */
export function shapes(more: Partial<ServerDefinition> = {}, toolsFile?: string): ServerDefinition {
  const path = fileURLToPath(new URL("./servers/shapes.js", import.meta.url));
  return {
    ...common,
    name: "shapes",
    type: "stdio",
    command: process.execPath,
    args: toolsFile === undefined ? [path] : [path, "--tools", toolsFile],
    env: {},
    ...more,
  } as ServerDefinition;
}

/** A configuration of these servers. */
export function configOf(servers: readonly ServerDefinition[]): LoadedConfig {
  return {
    path: "test.json",
    exists: true,
    files: [],
    workspaceFolder: process.cwd(),
    servers,
    rejected: [],
    settings: { policies: [], allowPrivateAddresses: false },
    diagnostics: [],
    secrets: [],
  };
}

/** Everything operations need, with a shortcut to run one. */
export interface Bench extends AsyncDisposable {
  readonly workspace: string;
  readonly registry: ServerRegistry;
  readonly store: () => Promise<ContentStore>;
  readonly hub: () => Promise<Hub>;
  run(name: string, params?: Params, exchange?: Exchange): Promise<unknown>;
  session(action: string, params?: Params, exchange?: Exchange): Promise<unknown>;
}

export async function openBench(
  options: Partial<RegistryOptions> &
    RunnerOptions & { servers?: readonly ServerDefinition[]; embedder?: Embedder | "not installed" } = {},
): Promise<Bench> {
  const { servers = [], embedder, policies, ...rest } = options;
  const workspace = await realpath(await mkdtemp(join(tmpdir(), "trunkline-operations-")));
  let store: Promise<ContentStore> | undefined;
  let hub: Promise<Hub> | undefined;
  const backends = {
    storeOperations,
    store: () => {
      store ??= openStore({ path: join(workspace, ".store"), cwd: workspace }).then(asContentStore);
      return store;
    },
    hub: () => {
      hub ??= openHub(configOf(servers), { lazy: true });
      return hub;
    },
    ...(embedder === undefined ? {} : { embedder: async () => (embedder === "not installed" ? undefined : embedder) }),
  };
  const registry = createRegistry({ backends, workspace, ...rest });
  const run = createRunner({ policies });
  return {
    workspace,
    registry,
    store: backends.store,
    hub: backends.hub,
    run: async (name, params = {}, exchange) =>
      (await run({ operation: await registry.find(name), params, context: contextOf(exchange) })).value,
    session: async (action, params = {}, exchange) =>
      (await run({ operation: await registry.findAction(action), params, context: contextOf(exchange) })).value,
    async [Symbol.asyncDispose]() {
      await registry.close();
      await (await hub)?.close();
      await (await store)?.[Symbol.asyncDispose]();
      await rm(workspace, { recursive: true, force: true });
    },
  };
}
