// Tools and operations, as a client would use them: with policy, questions and a journal entry.

import { statSync } from "node:fs";
import { join } from "node:path";
import type { RequestContext } from "@trunkline/console";
import type { ToolList } from "@trunkline/console/contract";
import { isRecord, TrunklineError } from "@trunkline/core";
import type { App } from "../app/app.js";
import { callTool } from "./call-tool.js";
import type { ConsoleWorld, WatchingPart } from "./console-world.js";
import { PageCallers } from "./page-caller.js";
import { runOperationStep } from "./run-operation-step.js";
import { ToolCatalogue } from "./tool-catalogue.js";

const CHECK_MS = 1_000;

const FILES = ["content.sqlite", "content.sqlite-wal"];

/** As many as a person looks at. */
const FOUND = 20;

export function openOperations(
  world: ConsoleWorld,
): WatchingPart<"tools" | "tools/definition" | "tools/call" | "operation"> {
  const callers = new PageCallers();
  const stores = new StoreWatch(world);
  const catalogues = new Map<App, ToolCatalogue>();
  const appOf = (workspace: string) => world.workspace(workspace).app;
  const catalogueOf = (workspace: string): ToolCatalogue => {
    const app = appOf(workspace);
    const known = catalogues.get(app);
    if (known !== undefined) return known;
    const onChange = () => {
      if (!app.signal.aborted) world.send({ kind: "changed", topics: ["tools"], workspace });
    };
    const catalogue = new ToolCatalogue(app, { onChange });
    catalogues.set(app, catalogue);
    return catalogue;
  };
  const run = (workspace: string, step: Parameters<typeof runOperationStep>[1], context: RequestContext) =>
    callers.run(appOf(workspace), context, ({ service, exchange }) => runOperationStep(service, step, exchange));
  const find = async (workspace: string, words: string, context: RequestContext): Promise<ToolList> => {
    const step = { op: "describe", params: { find: words, limit: FOUND } };
    const { result, error } = await run(workspace, step, context);
    if (error !== undefined)
      throw new TrunklineError("INVALID_ARGUMENT", error.message, error.hint === undefined ? {} : { hint: error.hint });
    const { tools, connecting } = await catalogueOf(workspace).rows(context.signal);
    const byName = new Map(tools.map((row) => [row.name, row]));
    const { operations = [], method } = isRecord(result) ? result : {};
    // Our own operations are found, too, but are no tools of a server.
    const found = (Array.isArray(operations) ? operations : []).flatMap(
      (each) => (isRecord(each) && byName.get(String(each.name))) || [],
    );
    return { tools: found, connecting, note: method === "keyword" ? await keywordNote(appOf(workspace)) : undefined };
  };
  return {
    handlers: {
      tools: async ({ workspace, find: words = "" }, context) =>
        words.trim() === ""
          ? await catalogueOf(workspace).rows(context.signal)
          : await find(workspace, words.trim(), context),
      "tools/definition": async ({ workspace, server, tool }) => await catalogueOf(workspace).definition(server, tool),
      "tools/call": async ({ workspace, ...call }, context) =>
        await callers.run(appOf(workspace), context, ({ service, exchange }) => callTool(service, call, exchange)),
      operation: async ({ workspace, op, params }, context) => await run(workspace, { op, params }, context),
    },
    watch: () => {
      stores.watch();
      const apps = world.workspaces().map(({ app }) => app);
      callers.watch(apps);
      for (const [app, catalogue] of catalogues) {
        if (apps.includes(app)) continue;
        catalogue.rest();
        catalogues.delete(app);
      }
    },
    rest: () => {
      stores.rest();
      for (const catalogue of catalogues.values()) catalogue.rest();
      catalogues.clear();
      callers.rest();
    },
  };
}

/** Why a search was by words only. */
async function keywordNote(app: App): Promise<string> {
  const isInstalled = (await app.embedder()) !== undefined;
  return isInstalled
    ? "by words only: the index for search by meaning is being built"
    : "by words only; for search by meaning, run: trunkline models pull";
}

// Notices that a store has changed, whichever process changed it: its database, or the log before it, has been written.

/** While pages are open, tells them when the store of a workspace has changed. */
export class StoreWatch {
  readonly #world: ConsoleWorld;
  /** By the id of the workspace. */
  readonly #seen = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(world: ConsoleWorld) {
    this.#world = world;
  }

  watch(): void {
    if (this.#timer !== undefined) return;
    this.#check();
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#seen.clear();
  }

  #check(): void {
    for (const { id, app } of this.#world.workspaces()) {
      const now = stateOf(app.storeFolder);
      const before = this.#seen.get(id);
      this.#seen.set(id, now);
      if (before !== undefined && before !== now)
        this.#world.send({ kind: "changed", topics: ["store"], workspace: id });
    }
  }
}

function stateOf(folder: string): string {
  return FILES.map((name) => {
    const file = statSync(join(folder, name), { throwIfNoEntry: false });
    return file === undefined ? "" : `${file.size} ${file.mtimeMs}`;
  }).join();
}
