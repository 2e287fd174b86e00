// The page "Servers".
import type { Hub } from "@trunkline/client";
import type { ServerRow, Topic } from "@trunkline/console/contract";
import { figuresOf, RecentCalls } from "./call-figures.js";
import type { ConsoleWorkspace, ConsoleWorld, WatchingPart } from "./console-world.js";
import { approveDefinition, definitionRows, heldCounts } from "./definition-rows.js";
import { addServer, importServers, listImports } from "./new-servers.js";
import { actOn, SignIns } from "./server-actions.js";
import { serverRows } from "./server-rows.js";

type Requests =
  | "servers"
  | "servers/act"
  | "servers/sign-in"
  | "servers/add"
  | "servers/imports"
  | "servers/import"
  | "definitions"
  | "definitions/approve";

export function openServers(world: ConsoleWorld): WatchingPart<Requests> {
  const part = new ServersPart(world);
  return { handlers: part.handlers, watch: () => part.watch(), rest: () => part.rest() };
}

/** What is kept for a workspace while it is open. */
interface Seen {
  readonly calls: RecentCalls;
  /** Servers that are being connected for the console. */
  readonly connecting: Set<string>;
  hub?: Hub;
  readonly stops: (() => void)[];
}

class ServersPart {
  readonly #world: ConsoleWorld;
  readonly #signIns: SignIns;
  readonly #seen = new Map<ConsoleWorkspace["app"], Seen>();
  #isWatching = false;

  readonly handlers: WatchingPart<Requests>["handlers"] = {
    servers: async ({ workspace, connect }, { signal }) => {
      const found = this.#world.workspace(workspace);
      if (connect === true) await this.#connectAll(found, signal);
      return { servers: await this.#rows(found) };
    },
    "servers/act": async ({ workspace, server, action }) => {
      const found = this.#world.workspace(workspace);
      const isConnecting = action === "connect" || action === "restart";
      await this.#whileConnecting(found, isConnecting ? [server] : [], () => actOn(found.app, server, action));
      // A server can be shared with other workspaces.
      this.#world.send({ kind: "changed", topics: ["servers", "tools", "settings"] });
      return {};
    },
    "servers/sign-in": async ({ workspace, server }) =>
      await this.#signIns.begin(this.#world.workspace(workspace).app, workspace, server),
    "servers/add": async ({ workspace, server, dryRun = false }) => {
      const answer = await addServer(this.#world.workspace(workspace).app, server, { dryRun });
      if (!dryRun) this.#world.send({ kind: "changed", topics: ["servers", "settings"] });
      return answer;
    },
    "servers/imports": async ({ workspace }) => ({
      imports: await listImports(this.#world.workspace(workspace).app),
    }),
    "servers/import": async ({ workspace, ids }) => {
      const answer = await importServers(this.#world.workspace(workspace).app, ids);
      this.#world.send({ kind: "changed", topics: ["servers", "settings"] });
      return answer;
    },
    definitions: async ({ workspace }) => {
      const found = this.#world.workspace(workspace);
      const { openedHub } = found.app;
      if (openedHub !== undefined) this.#attach(found, openedHub);
      return { definitions: await definitionRows(found.app) };
    },
    "definitions/approve": async ({ workspace, id, hash }) => {
      try {
        await approveDefinition(this.#world.workspace(workspace).app, { id, hash });
      } finally {
        // After a refusal, the page shows what has changed.
        this.#world.send({ kind: "changed", topics: ["definitions", "servers", "tools", "questions", "overview"] });
      }
      return {};
    },
  };

  constructor(world: ConsoleWorld) {
    this.#world = world;
    this.#signIns = new SignIns(() => world.send({ kind: "changed", topics: ["servers", "tools", "questions"] }));
  }

  watch(): void {
    this.#isWatching = true;
    const open = this.#world.workspaces();
    const apps = new Set(open.map(({ app }) => app));
    for (const [app, seen] of this.#seen) {
      if (apps.has(app)) continue;
      forget(seen);
      this.#seen.delete(app);
    }
    // A hub that is not open stays closed until a page shows its servers.
    for (const workspace of open)
      if (workspace.app.openedHub !== undefined) this.#attach(workspace, workspace.app.openedHub);
  }

  rest(): void {
    this.#isWatching = false;
    for (const seen of this.#seen.values()) forget(seen);
    this.#seen.clear();
  }

  async #rows(workspace: ConsoleWorkspace): Promise<ServerRow[]> {
    const { app } = workspace;
    const seen = this.#see(workspace);
    const [hub, config, calls, held] = await Promise.all([
      app.hub(),
      app.config(),
      seen.calls.calls(this.#isWatching),
      heldCounts(app),
    ]);
    this.#attach(workspace, hub);
    const status = hub.status();
    const names = [...status, ...config.rejected].map(({ name }) => name);
    return serverRows({
      status,
      config,
      running: this.#world.running().servers.filter(({ folders }) => folders.includes(app.context.cwd)),
      figures: figuresOf(calls, names),
      held,
      connecting: seen.connecting,
    });
  }

  /** Connects what has not been tried. Each that is done shows at once. */
  async #connectAll(workspace: ConsoleWorkspace, signal: AbortSignal): Promise<void> {
    const hub = await workspace.app.hub();
    this.#attach(workspace, hub);
    const names = hub
      .status()
      .filter(({ state }) => state === "pending")
      .map(({ name }) => name);
    await Promise.all(names.map((name) => this.#whileConnecting(workspace, [name], () => hub.connect([name], signal))));
  }

  async #whileConnecting<T>(
    workspace: ConsoleWorkspace,
    servers: readonly string[],
    work: () => Promise<T>,
  ): Promise<T> {
    if (servers.length === 0) return await work();
    const { connecting } = this.#see(workspace);
    for (const server of servers) connecting.add(server);
    this.#changed(workspace, ["servers"]);
    try {
      return await work();
    } finally {
      for (const server of servers) connecting.delete(server);
      this.#changed(workspace, ["servers"]);
    }
  }

  #see(workspace: ConsoleWorkspace): Seen {
    const known = this.#seen.get(workspace.app);
    if (known !== undefined) return known;
    const calls = new RecentCalls(workspace.app, () => this.#changed(workspace, ["servers"]));
    const seen: Seen = { calls, connecting: new Set(), stops: [] };
    this.#seen.set(workspace.app, seen);
    return seen;
  }

  /** Tells pages what happens in a hub, while there are pages. */
  #attach(workspace: ConsoleWorkspace, hub: Hub): void {
    if (!this.#isWatching) return;
    const seen = this.#see(workspace);
    if (seen.hub === hub) return;
    for (const stop of seen.stops.splice(0)) stop();
    seen.hub = hub;
    seen.stops.push(
      hub.onStatusChanged(() => this.#changed(workspace, ["servers", "questions"])),
      hub.onCatalogChanged(() => this.#changed(workspace, ["servers", "tools"])),
      hub.onDefinitionsChanged(() =>
        this.#changed(workspace, ["definitions", "servers", "tools", "questions", "overview"]),
      ),
    );
  }

  #changed({ id }: ConsoleWorkspace, topics: readonly Topic[]): void {
    this.#world.send({ kind: "changed", topics, workspace: id });
  }
}

function forget({ calls, stops }: Seen): void {
  calls.rest();
  for (const stop of stops.splice(0)) stop();
}
