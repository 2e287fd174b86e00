// A page as a client of the service. A person is behind it, but it is confined like any other client: a path outside the
// allowed folders is a question, which the person sees on the Questions page.
import type { RequestContext } from "@trunkline/console";
import type { Caller, Exchange, Service } from "@trunkline/gateway";
import type { App } from "../app/app.js";

const NAME = "console";
const ANSWERS = { elicitation: { form: {}, url: {} } };
/** No one says when a tab is closed. One that is only idle gets a new connection with its next call. */
const IDLE_MS = 10 * 60_000;

interface Known {
  readonly service: Service;
  readonly caller: Caller;
}

interface Tab {
  /** Never used again: what ends late for a former client must not end the connection of the next one. */
  readonly id: string;
  /** A server that has a connection per client has one for the tab. */
  readonly party: object;
  /** By workspace. */
  readonly known: Map<App, Known>;
  running: number;
  idle?: NodeJS.Timeout;
}

/** The tabs that have called something. */
export class PageCallers {
  readonly #tabs = new Map<string, Tab>();
  #hasPages = true;
  #last = 0;

  /** The workspaces in which something was called and not yet released. */
  get apps(): readonly App[] {
    return [...new Set([...this.#tabs.values()].flatMap(({ known }) => [...known.keys()]))];
  }

  /** Does something as a request of a tab to a workspace's service. */
  async run<T>(
    app: App,
    { tab: name, signal }: RequestContext,
    work: (request: { service: Service; exchange: Exchange }) => Promise<T>,
  ): Promise<T> {
    const tab = this.#begin(name);
    try {
      const service = await app.service();
      const exchange = await app.exchange(NAME, {
        id: tab.id,
        // The board of questions answers in its place.
        channel: { name: NAME, party: tab.party, abilities: ANSWERS, ask: (_question, { signal: end }) => ended(end) },
        isForPerson: true,
        signal: AbortSignal.any([signal, app.signal]),
      });
      tab.known.set(app, { service, caller: exchange.caller });
      return await work({ service, exchange });
    } finally {
      tab.running--;
      if (tab.running === 0) this.#rested(name, tab);
    }
  }

  /** Pages are open, and these workspaces. What others held for tabs, they have released themselves. */
  watch(apps: readonly App[]): void {
    this.#hasPages = true;
    for (const { known } of this.#tabs.values())
      for (const app of known.keys()) if (!apps.includes(app)) known.delete(app);
  }

  /** No page is open any more: releases tabs now, or when their requests have ended. */
  rest(): void {
    this.#hasPages = false;
    for (const [name, tab] of this.#tabs) if (tab.running === 0) this.#release(name, tab);
  }

  #begin(name: string): Tab {
    const tab = this.#tabs.get(name) ?? this.#create(name);
    this.#tabs.set(name, tab);
    clearTimeout(tab.idle);
    tab.running++;
    return tab;
  }

  #create(name: string): Tab {
    return { id: `${NAME}-${name}-${++this.#last}`, party: {}, known: new Map(), running: 0 };
  }

  #rested(name: string, tab: Tab): void {
    if (this.#hasPages) tab.idle = setTimeout(() => this.#release(name, tab), IDLE_MS).unref();
    else this.#release(name, tab);
  }

  #release(name: string, tab: Tab): void {
    clearTimeout(tab.idle);
    this.#tabs.delete(name);
    // It logs its failures itself.
    for (const [app, { service, caller }] of tab.known) if (!app.signal.aborted) void service.release(caller);
  }
}

/** Rejects when the signal is aborted. */
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
