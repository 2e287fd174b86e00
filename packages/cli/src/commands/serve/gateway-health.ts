// What `serve --http` tells operators: whether it can do its work, and figures.
import { atMost, parseContentId } from "@trunkline/core";
import type { EndpointLoad, HealthSource } from "@trunkline/gateway/http";
import { type CallMetrics, type Metric, prometheusText } from "@trunkline/gateway/journal";
import type { AnyStore } from "@trunkline/store";
import type { App } from "../../app/app.js";

/** How long the store may take to answer before it counts as unreachable. */
const STORE_MS = 2_000;
/** No content has this id; looking for it shows that the store answers. */
const NO_CONTENT = parseContentId("0".repeat(64));

export function gatewayHealth(app: App, calls: CallMetrics): HealthSource {
  const isStoreUp = storeWatch(app);
  return {
    problems: () => problemsOf(app, isStoreUp),
    metrics: async (load) =>
      prometheusText([
        ...calls.metrics(),
        ...endpointMetrics(load),
        ...(await gatewayMetrics(app, isStoreUp)),
        ...(await storeMetrics(app, isStoreUp)),
      ]),
  };
}

/** The answers are public: they name no file and no address. The log and `doctor` say more. */
async function problemsOf(app: App, isStoreUp: StoreWatch): Promise<readonly string[]> {
  const [config, store] = await Promise.all([isConfigValid(app), isStoreUp()]);
  return [
    ...(config ? [] : ["The configuration cannot be used. `trunkline doctor` says why."]),
    ...(store ? [] : ["The store cannot be reached."]),
  ];
}

async function isConfigValid(app: App): Promise<boolean> {
  try {
    return (await app.config()).files.every(({ unusable }) => unusable === undefined);
  } catch (error) {
    app.context.logger.debug("the configuration cannot be used", { error });
    return false;
  }
}

type StoreWatch = () => Promise<boolean>;

/** Returns a check whether the store answers, which logs when that changes. */
function storeWatch(app: App): StoreWatch {
  const { logger } = app.context;
  let wasUp = true;
  return async () => {
    let reason: unknown = `no answer within ${STORE_MS} ms`;
    const found = await fromStore(
      app,
      (store, signal) => store.has(NO_CONTENT, { signal }),
      (error) => {
        reason = error;
      },
    );
    const isUp = found !== undefined;
    if (isUp === wasUp || app.signal.aborted) return isUp;
    wasUp = isUp;
    if (isUp) logger.info("the store can be reached again");
    else logger.warn("the store cannot be reached", { error: reason });
    return isUp;
  };
}

/** Asks the store. Returns undefined if it does not answer soon. */
async function fromStore<T>(
  app: App,
  ask: (store: AnyStore, signal: AbortSignal) => Promise<T>,
  onFailure?: (error: unknown) => void,
): Promise<T | undefined> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, app.signal]);
  const looked = app
    .store()
    .then((store) => ask(store, signal))
    .catch((error: unknown) => {
      onFailure?.(error);
      return undefined;
    });
  try {
    return await atMost(STORE_MS, looked);
  } finally {
    stopping.abort();
  }
}

function endpointMetrics({ requests, sessions, isDraining }: EndpointLoad): readonly Metric[] {
  const gauge = (name: string, help: string, value: number): Metric => ({
    ...{ name, help, type: "gauge" },
    samples: [{ value }],
  });
  return [
    gauge("trunkline_http_requests", "Requests that are being answered.", requests),
    gauge("trunkline_http_sessions", "Open sessions of legacy clients.", sessions),
    gauge("trunkline_draining", "Whether the gateway is stopping.", isDraining ? 1 : 0),
  ];
}

async function storeMetrics(app: App, isStoreUp: StoreWatch): Promise<readonly Metric[]> {
  const isUp = await isStoreUp();
  const up: Metric = {
    name: "trunkline_store_up",
    help: "Whether the store can be reached.",
    type: "gauge",
    samples: [{ value: isUp ? 1 : 0 }],
  };
  // Without the database there is nothing to count.
  const figures = isUp ? await fromStore(app, async (store, signal) => await store.figures?.({ signal })) : undefined;
  if (figures === undefined) return [up];
  const { waitingJobs, connections } = figures;
  return [
    up,
    {
      name: "trunkline_index_jobs",
      help: "Documents that wait for background indexing, by any gateway.",
      type: "gauge",
      samples: [{ value: waitingJobs }],
    },
    {
      name: "trunkline_store_connections",
      help: "Connections of this gateway to the store's database, and calls that wait for one.",
      type: "gauge",
      samples: Object.entries(connections).map(([state, value]) => ({ labels: { state }, value })),
    },
  ];
}

async function gatewayMetrics(app: App, isStoreUp: StoreWatch): Promise<readonly Metric[]> {
  const states = new Map<string, number>();
  for (const { state } of app.openedHub?.status() ?? []) states.set(state, (states.get(state) ?? 0) + 1);
  const { rss } = process.memoryUsage();
  return [
    {
      name: "trunkline_ready",
      help: "Whether the configuration can be used and the store can be reached.",
      type: "gauge",
      samples: [{ value: (await problemsOf(app, isStoreUp)).length === 0 ? 1 : 0 }],
    },
    {
      name: "trunkline_servers",
      help: "MCP servers by state.",
      type: "gauge",
      samples: [...states].map(([state, value]) => ({ labels: { state }, value })),
    },
    {
      name: "process_resident_memory_bytes",
      help: "Resident memory of the gateway.",
      type: "gauge",
      samples: [{ value: rss }],
    },
    {
      name: "process_start_time_seconds",
      help: "When the gateway started, in seconds since 1970.",
      type: "gauge",
      samples: [{ value: Math.round(Date.now() / 1_000 - process.uptime()) }],
    },
  ];
}
