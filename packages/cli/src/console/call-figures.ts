// How often each server was called, how often that failed, and how long it took: from the journal of a workspace.
import { messageOf } from "@trunkline/core";
import { type CallRecord, workspaceKey } from "@trunkline/gateway/journal";
import type { App } from "../app/app.js";
import { workspaceOf } from "../app/folders.js";
import { openJournalReader } from "../app/team-journal.js";

/** The figures cover at most this many calls of the workspace. */
const MOST_CALLS = 2_000;
const SHOWN_LATENCIES = 30;
/** Pages are not told about new calls more often than this. */
const TELL_MS = 2_000;

export interface CallFigures {
  readonly calls: number;
  readonly errors: number;
  readonly p50Ms?: number;
  /** In milliseconds, oldest first. */
  readonly latencies: readonly number[];
}

export const NO_CALLS: CallFigures = { calls: 0, errors: 0, latencies: [] };

type Call = Pick<CallRecord, "operation" | "durationMs" | "outcome">;

/** Sums up calls by server. `<server>.<tool>` can have dots on both sides: the longest configured name counts. */
export function figuresOf(calls: readonly Call[], servers: readonly string[]): ReadonlyMap<string, CallFigures> {
  const known = new Set(servers);
  const byServer = new Map<string, Call[]>();
  for (const call of calls) {
    const server = serverOf(call.operation, known);
    if (server === undefined) continue;
    const own = byServer.get(server);
    if (own === undefined) byServer.set(server, [call]);
    else own.push(call);
  }
  return new Map(
    [...byServer].map(([server, own]) => {
      const sorted = own.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
      return [
        server,
        {
          calls: own.length,
          errors: own.filter(({ outcome }) => outcome === "error").length,
          p50Ms: sorted[Math.floor((sorted.length - 1) / 2)],
          latencies: own.slice(-SHOWN_LATENCIES).map(({ durationMs }) => durationMs),
        },
      ];
    }),
  );
}

function serverOf(operation: string, known: ReadonlySet<string>): string | undefined {
  for (let at = operation.lastIndexOf("."); at > 0; at = operation.lastIndexOf(".", at - 1)) {
    const name = operation.slice(0, at);
    if (known.has(name)) return name;
  }
  return undefined;
}

/** The last calls of a workspace: read once, then followed while pages are open. */
export class RecentCalls {
  readonly #app: App;
  readonly #onCalls: () => void;
  #following: { readonly ending: AbortController; readonly first: Promise<void>; calls: CallRecord[] } | undefined;
  #telling: NodeJS.Timeout | undefined;

  constructor(app: App, onCalls: () => void) {
    this.#app = app;
    this.#onCalls = onCalls;
  }

  /** Returns the calls so far. With `follow`, keeps reading until `rest`, so that the next answer is at hand. */
  async calls(follow: boolean): Promise<readonly CallRecord[]> {
    try {
      if (!follow) return (await this.#read()).calls;
      this.#following ??= this.#follow();
      const { first } = this.#following;
      await first;
      return this.#following?.calls ?? [];
    } catch (error) {
      // The servers are worth showing without figures.
      this.#app.context.logger.warn("cannot read the journal", { error: messageOf(error) });
      return [];
    }
  }

  rest(): void {
    this.#following?.ending.abort();
    this.#following = undefined;
    clearTimeout(this.#telling);
    this.#telling = undefined;
  }

  #follow() {
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, this.#app.signal]);
    const reading = this.#read();
    const following = { ending, calls: [] as CallRecord[], first: Promise.resolve() };
    following.first = reading.then(({ calls }) => {
      following.calls = [...calls];
    });
    // A journal that cannot be read is tried again with the next question.
    following.first.catch(() => this.rest());
    void reading
      .then(async ({ follow }) => {
        for await (const entries of follow(signal)) {
          const wanted = entries.map(({ call }) => call).filter((call) => this.#isWanted(call));
          if (wanted.length === 0) continue;
          following.calls.push(...wanted);
          if (following.calls.length > MOST_CALLS * 1.25)
            following.calls.splice(0, following.calls.length - MOST_CALLS);
          this.#telling ??= setTimeout(() => {
            this.#telling = undefined;
            this.#onCalls();
          }, TELL_MS).unref();
        }
      })
      .catch((error: unknown) =>
        this.#app.context.logger.debug("cannot read the journal", { error: messageOf(error) }),
      );
    return following;
  }

  async #read() {
    const journal = await openJournalReader(this.#app);
    return await journal.last({ limit: MOST_CALLS, isWanted: (call) => this.#isWanted(call) });
  }

  /** One store, and its journal, can belong to several workspaces. */
  #isWanted({ workspace }: CallRecord): boolean {
    return workspace === undefined || workspace === this.#workspace;
  }

  get #workspace(): string {
    const { context } = this.#app;
    return workspaceKey(workspaceOf(context).folder ?? context.cwd);
  }
}
