// Error -32042 of revision 2025-11-25: a call is rejected until the user has visited a page. Passes the pages to the
// caller, and retries the call when the server reports that the visits are complete, or after a delay if it never does.
import { type Deadline, sleep, TrunklineError } from "@trunkline/core";
import { RPC_CODES, RpcError } from "@trunkline/protocol";
import type { Question } from "../channel/channel.js";
import { linkProblem } from "../channel/web-links.js";
import { elicitationKey, type Notices } from "./notices.js";

/** Delays between retries if the server does not report the end of a visit; the last one repeats. */
const RETRY_DELAYS_MS = [1_000, 2_000, 3_000, 5_000];

/** How long the user may take for the visits of one call. */
const VISIT_LIMIT_MS = 300_000;

/** What the visits need from their call. */
interface VisitPort {
  readonly what: string;
  readonly deadline: Deadline;
  readonly notices: Notices;
  /** The page as a client may show it. */
  vetted(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  ask(question: Question): Promise<Record<string, unknown>>;
}

export class UrlVisits {
  readonly #port: VisitPort;
  readonly #accepted = new Set<string>();
  #rounds = 0;
  #untilMs: number | undefined;

  constructor(port: VisitPort) {
    this.#port = port;
  }

  /**
   * Handles an error that asks for visits. Returns true when the call can be retried, and false for any other error.
   */
  async settle(error: unknown): Promise<boolean> {
    const pages = pagesOf(error);
    if (pages === undefined) return false;
    for (const { url } of pages) {
      const problem = linkProblem(url);
      if (problem === undefined) continue;
      throw new TrunklineError("UPSTREAM", `${this.#port.what} asks the user to visit a page first, but ${problem}.`, {
        hint: "Trunkline does not pass such an address on.",
      });
    }
    this.#untilMs ??= Date.now() + VISIT_LIMIT_MS;
    // Listen first: a fast visitor can finish before the question is answered.
    const listening: Disposable[] = [];
    const completed = Promise.all(
      pages.map(
        ({ id }) =>
          new Promise<void>((resolve) => {
            if (id !== undefined) listening.push(this.#port.notices.listen(elicitationKey(id), () => resolve()));
          }),
      ),
    );
    try {
      for (const page of pages) await this.#ask(page, { error, pages });
      if (Date.now() >= this.#untilMs) throw this.#refused(error, pages);
      await this.#wait(completed);
    } finally {
      for (const listener of listening) listener[Symbol.dispose]();
    }
    return true;
  }

  async #ask(page: Page, refused: { error: unknown; pages: readonly Page[] }): Promise<void> {
    const known = page.id ?? page.url;
    // A page that was accepted and is requested again is still being visited: do not ask twice.
    if (this.#accepted.has(known)) return;
    const { action } = await this.#port.ask({ method: "elicitation/create", params: { ...page.raw, mode: "url" } });
    if (action !== "accept") throw this.#refused(refused.error, refused.pages);
    this.#accepted.add(known);
  }

  /** Waits until the server reports the visits as complete, or it is time to retry. The call's timeout is paused. */
  async #wait(completed: Promise<unknown>): Promise<void> {
    const { deadline } = this.#port;
    const delayMs = RETRY_DELAYS_MS[Math.min(this.#rounds++, RETRY_DELAYS_MS.length - 1)] ?? 0;
    const isOver = new AbortController();
    const timer = sleep(delayMs, AbortSignal.any([deadline.signal, isOver.signal]));
    timer.catch(() => {});
    deadline.pause();
    try {
      await Promise.race([completed, timer]);
    } finally {
      isOver.abort();
      deadline.resume();
    }
  }

  #refused(cause: unknown, pages: readonly Page[]): TrunklineError {
    return new TrunklineError("UPSTREAM", `${this.#port.what} requires visiting a page first.`, {
      cause,
      hint: `Open ${pages.map(({ url }) => url).join(" and ")}, then call again. A client with the capability elicitation.url can show the page itself.`,
      data: {
        code: RPC_CODES.urlElicitationRequired,
        data: { elicitations: pages.map(({ raw }) => this.#port.vetted(raw)) },
      },
    });
  }
}

/** The ids of the pages that an error asks for. */
export function visitIdsIn(error: unknown): readonly string[] {
  return (pagesOf(error) ?? []).flatMap(({ id }) => id ?? []);
}

interface Page {
  readonly url: string;
  readonly id: string | undefined;
  readonly raw: Readonly<Record<string, unknown>>;
}

function pagesOf(error: unknown): Page[] | undefined {
  if (!(error instanceof RpcError) || error.code !== RPC_CODES.urlElicitationRequired) return undefined;
  const { elicitations } = (error.data ?? {}) as { elicitations?: unknown };
  if (!Array.isArray(elicitations)) return undefined;
  const pages = elicitations.flatMap((raw: Record<string, unknown> | null) =>
    typeof raw?.url === "string"
      ? [{ url: raw.url, id: typeof raw.elicitationId === "string" ? raw.elicitationId : undefined, raw }]
      : [],
  );
  return pages.length === 0 ? undefined : pages;
}
