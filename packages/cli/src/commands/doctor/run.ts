import type { Hub, ServerState } from "@trunkline/client";
import { printable, printableJson } from "@trunkline/core";
import { checkModel, jsonModel, showModel } from "../../agent/check-model.js";
import { openApp } from "../../app/app.js";
import { EXIT } from "../../app/exit-codes.js";
import { keepTools } from "../../app/known-tools.js";
import type { CommandContext } from "../../terminal/context.js";
import { progressLineFor } from "../../terminal/progress-line.js";
import { Page } from "../../terminal/report-page.js";
import { checkBroker, jsonBroker, showBrokerCheck } from "./doctor-broker.js";
import { jsonReport } from "./doctor-report.js";
import { jsonSafety, safetyOf, showSafety } from "./doctor-safety.js";
import { checkSearch, jsonSearch, showSearch } from "./doctor-search.js";
import { checkSurface, jsonSurface, showSurface } from "./doctor-surface.js";
import { showHead, showRest, showServer } from "./doctor-text.js";

export interface DoctorOptions {
  json?: boolean;
  pretty?: boolean;
  strict?: boolean;
  /** Timeout in seconds for all servers together. */
  timeout: number;
  mcp: string | undefined;
}

/** An unapproved server was not checked, so it does not count as working either. */
const NOT_WORKING: ReadonlySet<ServerState> = new Set<ServerState>(["failed", "needs-auth", "untrusted", "pending"]);

/**
 * Checks the configuration, connects every server and asks the model, all in parallel and within the deadline. The text
 * report shows each server as soon as it is known.
 */
export async function doctor(context: CommandContext, options: DoctorOptions): Promise<number> {
  const { signal, version } = context;
  await using app = openApp(context, {
    mcp: options.mcp,
    checkWithinMs: options.timeout * 1000,
    service: { surface: "auto" },
  });
  const [config, hub] = [await app.config(), await app.hub()];
  const page = options.json ? undefined : new Page(context);
  if (page !== undefined) showHead(page, { version, config });
  const [model, search, broker] = await Promise.all([
    checkModel(context, { timeoutMs: options.timeout * 1000 }),
    checkSearch(context),
    checkBroker(context),
    connectAll(context, hub, (name) => {
      const status = hub.status().find((server) => server.name === name);
      if (page === undefined || status === undefined) return;
      const names = hub.names();
      showServer(page, status, { tools: hub.tools(), addressOf: (tool) => names.address(tool) });
    }),
  ]);
  signal.throwIfAborted();
  const servers = hub.status();
  const renamed = hub.names().renamed();
  const safety = await safetyOf(context, config);
  // Without servers there is nothing to list.
  const surface = servers.length === 0 ? undefined : await checkSurface(app);
  if (page === undefined) {
    const { cwd, home } = context;
    const checked = jsonReport({ version, cwd, home, config, servers, tools: hub.tools(), renamed });
    const report = {
      ...checked,
      safety: jsonSafety(safety),
      ...(surface === undefined ? {} : { surface: jsonSurface(surface) }),
      broker: jsonBroker(broker),
      search: jsonSearch(search),
      ...(model === undefined ? {} : { model: jsonModel(model) }),
    };
    context.out(printableJson(context.redactor.value(report), options.pretty ? 2 : undefined));
  } else {
    showRest(page, { servers, renamed });
    if (model !== undefined) showModel(page, model);
    showSafety(page, safety);
    if (surface !== undefined) showSurface(page, surface);
    showBrokerCheck(page, broker, context);
    showSearch(page, search);
  }
  await keepTools(context, hub);
  const failed =
    (model !== undefined && model.status !== "ok") ||
    servers.some(({ state, toolsError }) => NOT_WORKING.has(state) || toolsError !== undefined) ||
    config.rejected.length > 0 ||
    config.diagnostics.some(({ severity, server }) => severity !== "note" && server === undefined);
  return failed && options.strict ? EXIT.failure : EXIT.success;
}

/** Connects all servers at once. Reports each one when its result is known, and shows on a terminal what is missing. */
async function connectAll(context: CommandContext, hub: Hub, onKnown: (server: string) => void): Promise<void> {
  const { signal } = context;
  using line = progressLineFor(context);
  const waiting = new Set(hub.status().map(({ name }) => name));
  const spin = () => {
    if (waiting.size > 0) line?.spin(context.redactor.text(`checking ${[...waiting].map(printable).join(", ")} …`));
  };
  spin();
  await Promise.all(
    [...waiting].map(async (name) => {
      await hub.connect([name], signal);
      if (signal.aborted) return;
      waiting.delete(name);
      line?.clear();
      onKnown(name);
      spin();
    }),
  );
}
