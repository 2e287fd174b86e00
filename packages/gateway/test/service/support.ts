// A service with real servers and a real store, and exchanges as an endpoint would create them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Channel, type Hub, type HubOptions, openHub, type ServerDefinition } from "@trunkline/client";
import { type ContentStore, createLogger, type ToolProgress } from "@trunkline/core";
import type { RpcError } from "@trunkline/protocol";
import { asContentStore, openStore, storeOperations } from "@trunkline/store";
import { configOf } from "../../../client/test/hub/fixtures.js";
import type { Caller, Exchange } from "../../src/interfaces/exchange.js";
import type { ServiceEvent } from "../../src/interfaces/mcp-service.js";
import { createService, type Service, type ServiceOptions } from "../../src/trunkline-service.js";

export { configOf, http, stdio } from "../../../client/test/hub/fixtures.js";

type Raw = Readonly<Record<string, unknown>>;

export interface SetUp extends Partial<Omit<ServiceOptions, "backends">> {
  readonly hub?: HubOptions;
}

export interface TestService extends AsyncDisposable {
  readonly service: Service;
  readonly folder: string;
  readonly log: string[];
  hub(): Promise<Hub>;
  store(): Promise<ContentStore>;
  /** Whether the store has been opened. */
  readonly storeIsOpen: boolean;
}

/** Creates a service in front of these servers. */
export function testService(servers: readonly ServerDefinition[], options: SetUp = {}): TestService {
  const folder = mkdtempSync(join(tmpdir(), "trunkline-service-"));
  const log: string[] = [];
  const logger = createLogger({ level: "debug", write: (line) => void log.push(line) });
  let hub: Promise<Hub> | undefined;
  let store: Promise<ContentStore> | undefined;
  const backends = {
    storeOperations,
    hub: () => {
      hub ??= openHub(configOf(...servers), {
        logger,
        lazy: true,
        answers: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
        ...options.hub,
      });
      return hub;
    },
    store: () => {
      store ??= openStore({ path: join(folder, "store"), cwd: folder }).then(asContentStore);
      return store;
    },
  };
  const { hub: _, ...rest } = options;
  const service = createService({
    info: { name: "trunkline", version: "1" },
    logger,
    workspace: folder,
    ...rest,
    backends,
  });
  return {
    service,
    folder,
    log,
    ...backends,
    get storeIsOpen() {
      return store !== undefined;
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      await (await hub)?.close();
      await (await store)?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let lastCaller = 0;

/** A client that stays connected. */
export function testCaller(more: Partial<Caller> = {}): Caller {
  lastCaller += 1;
  return {
    id: `caller-${lastCaller}`,
    name: "test 1",
    era: "legacy",
    revision: "2025-11-25",
    endpoint: "stdio",
    principal: "local",
    lasting: true,
    capabilities: {},
    ...more,
  };
}

export interface TestExchange {
  readonly caller?: Caller;
  readonly channel?: Channel;
  readonly signal?: AbortSignal;
  readonly meta?: Raw;
  readonly onProgress?: (progress: ToolProgress) => void;
}

export function testExchange(more: TestExchange = {}): Exchange {
  const { caller = testCaller(), channel = { party: caller }, signal = new AbortController().signal, meta = {} } = more;
  return { caller, channel, signal, meta, onProgress: more.onProgress };
}

export async function callTool(
  { service }: TestService,
  name: string,
  args: Raw = {},
  more: TestExchange = {},
): Promise<Raw> {
  return await service.handle("tools/call", { name, arguments: args }, testExchange(more));
}

/** Lists the names of all tools. */
export async function toolNames({ service }: TestService): Promise<string[]> {
  const { tools } = await service.handle("tools/list", {}, testExchange());
  return (tools as { name: string }[]).map(({ name }) => name);
}

/** Returns the text of a result's only block. */
export function textOf(result: Raw): string {
  return (result.content as { text: string }[])[0]?.text ?? "";
}

/** Returns the protocol error that a request is rejected with. */
export async function refusalOf(request: Promise<unknown>): Promise<RpcError> {
  return await request.then(
    () => {
      throw new Error("it was not refused");
    },
    (error: RpcError) => error,
  );
}

/** Resolves at the next event of this kind. */
export function nextEvent({ service }: TestService, kind: ServiceEvent["kind"]): Promise<void> {
  return new Promise((resolve) => {
    const stop = service.onEvent((event) => {
      if (event.kind !== kind) return;
      stop();
      resolve();
    });
  });
}
