// The page "Traffic": the journal of a workspace, its token account, and what was recorded.
import type { CallDetails, CallRow, DayRow, Json } from "@trunkline/console/contract";
import { messageOf, parseJson, TrunklineError } from "@trunkline/core";
import type { OperationKind } from "@trunkline/gateway";
import {
  type CallRecord,
  dayOf,
  isDefinitionNews,
  type JournalEntry,
  type JournalReader,
  journalFolder,
  listCost,
  tokenDays,
} from "@trunkline/gateway/journal";
import { directTools } from "../app/known-tools.js";
import { openJournalReader } from "../app/team-journal.js";
import { workspaceKeyOf } from "../app/workspace-key.js";
import { type CallTarget, commandOf, targetOf } from "./call-command.js";
import type { KeptValue } from "./call-recordings.js";
import type { ConsoleWorkspace, ConsoleWorld, WatchingPart } from "./console-world.js";

const MAX_PAGE = 5_000;
const MAX_DAYS = 366;
/** How many calls are sent at once. A burst takes several events. */
const MAX_EVENT = 2_000;

export function openTraffic(
  world: ConsoleWorld,
): WatchingPart<"calls" | "calls/details" | "calls/days" | "calls/record"> {
  const known = new Map<string, WorkspaceTraffic>();
  let isWatched = false;
  const trafficOf = (workspace: ConsoleWorkspace): WorkspaceTraffic => {
    let traffic = known.get(workspace.id);
    if (traffic?.app !== workspace.app) {
      traffic?.rest();
      traffic = new WorkspaceTraffic(workspace, world);
      known.set(workspace.id, traffic);
    }
    return traffic;
  };
  return {
    handlers: {
      calls: async ({ workspace, limit, before }, { signal }) => {
        const traffic = trafficOf(world.workspace(workspace));
        if (isWatched) traffic.watch();
        return await traffic.calls({ limit: Math.min(MAX_PAGE, Math.max(1, limit)), before, signal });
      },
      "calls/details": async ({ workspace, id }) => await trafficOf(world.workspace(workspace)).details(id),
      "calls/days": async ({ workspace, days }) => ({
        days: await trafficOf(world.workspace(workspace)).days(Math.min(MAX_DAYS, Math.max(1, days))),
      }),
      "calls/record": async ({ workspace, on }) => {
        const { key } = trafficOf(world.workspace(workspace));
        world.recordings.set(key, on);
        if (!isWatched) {
          world.recordings.keep();
          world.recordings.leave();
        }
        world.send({ kind: "changed", topics: ["calls"], workspace });
        return { isRecording: on };
      },
    },
    watch: () => {
      isWatched = true;
      world.recordings.keep();
      const workspaces = world.workspaces();
      for (const workspace of workspaces) trafficOf(workspace).watch();
      for (const [id, traffic] of known) {
        if (workspaces.some((workspace) => workspace.id === id)) continue;
        traffic.rest();
        known.delete(id);
      }
    },
    rest: () => {
      isWatched = false;
      world.recordings.leave();
      for (const traffic of known.values()) traffic.rest();
    },
  };
}

/** The traffic of one workspace. */
class WorkspaceTraffic {
  /** The workspace as in the journal and in recordings. */
  readonly key: string;
  readonly app: ConsoleWorkspace["app"];
  readonly #id: string;
  readonly #world: ConsoleWorld;
  readonly #folder: string;
  #journal: Promise<JournalReader> | undefined;
  #days: ReturnType<JournalReader["days"]> | undefined;
  #following: AbortController | undefined;
  /** Settles when events begin: what is recorded later arrives in one. */
  #beginning: Promise<Awaited<ReturnType<JournalReader["last"]>> | undefined> = Promise.resolve(undefined);
  #listCost: { readonly tools: string; readonly tokens: Promise<number> } | undefined;
  #operations: Promise<ReadonlyMap<string, OperationKind>> | undefined;

  constructor({ id, app }: ConsoleWorkspace, world: ConsoleWorld) {
    this.#id = id;
    this.app = app;
    this.#world = world;
    const { context } = app;
    this.key = workspaceKeyOf(context);
    this.#folder = journalFolder(context.home, app.storeFolder);
  }

  watch(): void {
    if (this.#following !== undefined) return;
    const following = new AbortController();
    this.#following = following;
    this.#beginning = this.#reader().then((journal) => journal.last({ limit: 0 }));
    this.#follow(following.signal).catch((error: unknown) => {
      this.#world.context.logger.warn("calls do not appear in the console", { error: messageOf(error) });
      if (this.#following === following) this.#following = undefined;
    });
  }

  /** A journal in a database that cannot be reached is tried again with the next question. */
  #reader(): Promise<JournalReader> {
    this.#journal ??= openJournalReader(this.app).catch((error: unknown) => {
      this.#journal = undefined;
      throw error;
    });
    return this.#journal;
  }

  async #callDays() {
    this.#days ??= (await this.#reader()).days((call) => this.#isWanted(call));
    return await this.#days.read();
  }

  rest(): void {
    this.#following?.abort();
    this.#following = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const beginning = await this.#beginning;
    if (beginning === undefined) return;
    for await (const entries of beginning.follow(signal)) {
      const calls = entries.filter(({ call }) => this.#isWanted(call)).map((entry) => this.#rowOf(entry));
      for (let from = 0; from < calls.length; from += MAX_EVENT) {
        this.#world.send({ kind: "calls", workspace: this.#id, calls: calls.slice(from, from + MAX_EVENT) });
      }
    }
  }

  /** Lines of earlier versions name no workspace. */
  #isWanted(call: CallRecord): boolean {
    return (call.workspace === undefined || call.workspace === this.key) && !isDefinitionNews(call);
  }

  #rowOf({ id, call }: JournalEntry): CallRow {
    const { atMs, client, durationMs, sizeBytes, outcome, code, request, recording, asked } = call;
    // As `trunkline log` shows it.
    const operation = asked === undefined ? call.operation : `${call.operation} (${asked})`;
    const isRecorded = this.#world.recordings.find(this.key, recording) !== undefined;
    return {
      ...{ id, atMs, client, operation, durationMs, sizeBytes, outcome },
      code,
      request,
      ...(isRecorded ? { isRecorded } : {}),
    };
  }

  async calls(options: { limit: number; before: string | undefined; signal: AbortSignal }) {
    await this.#beginning.catch(() => undefined);
    const isWanted = (call: CallRecord) => this.#isWanted(call);
    const { entries, next } = await (await this.#reader()).page({ ...options, isWanted });
    const calls = entries.map((entry) => this.#rowOf(entry));
    return { calls, next, isRecording: this.#world.recordings.isOn(this.key) };
  }

  async details(id: string): Promise<CallDetails> {
    const around = (await (await this.#reader()).around(id)).filter(({ call }) => this.#isWanted(call));
    const entry = around.find((each) => each.id === id);
    if (entry === undefined) throw new TrunklineError("NOT_FOUND", "The journal no longer has this call.");
    const { request, recording, operation } = entry.call;
    const steps = request === undefined ? [entry] : around.filter(({ call }) => call.request === request);
    const recorded = this.#world.recordings.find(this.key, recording);
    const { arguments: given, result } = recorded ?? {};
    const args = given === undefined ? undefined : jsonOf(given);
    const names = { servers: await this.#servers(), operations: await this.#ownOperations() };
    const target: CallTarget | undefined = targetOf(operation, names);
    const isWhole = given !== undefined && !given.isCut && !given.isRedacted;
    return {
      call: this.#rowOf(entry),
      steps: steps.map((step) => this.#rowOf(step)).sort((a, b) => a.atMs - b.atMs),
      arguments: args,
      ...(result === undefined ? {} : { result: jsonOf(result) }),
      ...(target === undefined ? {} : { command: commandOf(target, names, given?.isCut ? undefined : args) }),
      ...(target !== undefined && isWhole ? { repeat: target } : {}),
      isRedacted: given?.isRedacted === true,
    };
  }

  async #servers(): Promise<readonly string[]> {
    return (await this.app.config()).servers.map(({ name }) => name);
  }

  #ownOperations(): Promise<ReadonlyMap<string, OperationKind>> {
    this.#operations ??= (async () => {
      const { createRegistry } = await import("@trunkline/gateway");
      const { cwd, logger } = this.app.context;
      await using registry = createRegistry({ backends: await this.app.backends(), workspace: cwd, logger });
      return new Map(registry.builtin.map(({ name, kind }) => [name, kind]));
    })();
    this.#operations.catch(() => {
      this.#operations = undefined;
    });
    return this.#operations;
  }

  async days(count: number): Promise<readonly DayRow[]> {
    const [clients, tokens] = await Promise.all([
      this.#callDays(),
      this.#perList().then((perList) => tokenDays(this.#folder, perList)),
    ]);
    const today = new Date(this.app.context.clock.now());
    const days = Array.from({ length: count }, (_, index) => {
      // At noon: a day with a change of the clocks has 23 or 25 hours.
      const noon = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (count - 1 - index), 12);
      return dayOf(noon.getTime());
    });
    return days.map((day) => {
      const byClient = new Map<string, number>();
      let errors = 0;
      let calls = 0;
      for (const row of clients) {
        if (row.day !== day) continue;
        calls += row.calls;
        errors += row.errors;
        byClient.set(row.client, (byClient.get(row.client) ?? 0) + row.calls);
      }
      const { tokens: spent = 0, saved = 0 } = tokens.find((each) => each.day === day) ?? {};
      const rows = [...byClient].map(([client, number]) => ({ client, calls: number }));
      return { day, calls, errors, byClient: rows.sort((a, b) => b.calls - a.calls), tokens: spent, saved };
    });
  }

  /** What one list of all upstream tools costs. Counting starts a thread, so it is done only when the tools change. */
  async #perList(): Promise<number> {
    const { servers } = await this.app.config();
    const names = new Set(servers.filter(({ disabled }) => !disabled).map(({ name }) => name));
    const listed = await directTools(this.app.context, names);
    const tools = JSON.stringify(listed.map(({ name, description }) => [name, description.length]));
    if (this.#listCost?.tools !== tools) this.#listCost = { tools, tokens: listCost(listed) };
    return await this.#listCost.tokens;
  }
}

/** The value as recorded; a cut one as text. */
function jsonOf({ text, isCut }: KeptValue): Json {
  if (isCut) return `${text}… (cut)`;
  return (parseJson(text) ?? null) as Json; // Written by JSON.stringify.
}
