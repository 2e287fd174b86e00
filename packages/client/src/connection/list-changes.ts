// How a connection learns that a server's lists have changed. A legacy server just says so. A modern one reports on a
// stream that is asked for; over HTTP that stream ends with every restart of the server, while the stateless connection
// continues as if nothing had happened. So the stream is reopened, and the lists then count as changed, because changes
// may have been missed.
import { isRecord, type Logger, messageOf, sleep } from "@trunkline/core";
import { LIST_CHANGES } from "@trunkline/protocol";
import type { ListKind } from "./connection-options.js";
import type { RpcSession } from "./rpc-session.js";
import type { Subscription } from "./subscriptions.js";

/** Several reports of a changed list within this time count as one change. */
const DEBOUNCE_MS = 50;

/** Delays before reopening the stream; the last one repeats. */
const DELAYS_MS = [100, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/** The lists that a server says can change. */
function changingLists(
  capabilities: Readonly<Record<string, unknown>>,
): (typeof LIST_CHANGES)[keyof typeof LIST_CHANGES][] {
  return Object.values(LIST_CHANGES).filter(({ list }) => {
    const capability = capabilities[list];
    return isRecord(capability) && capability.listChanged === true;
  });
}

/** Collects the reports of one server. */
export class ListReports {
  readonly #onListChanged: (kind: ListKind) => void;
  readonly #timers = new Map<ListKind, NodeJS.Timeout>();

  constructor(onListChanged: (kind: ListKind) => void) {
    this.#onListChanged = onListChanged;
  }

  /** Takes a notification. Returns false if it is not about a list that the server says can change. */
  take(method: string, capabilities: Readonly<Record<string, unknown>>): boolean {
    if (!method.endsWith("/list_changed")) return false;
    const changed = changingLists(capabilities).find((each) => each.method === method);
    if (changed === undefined) return false;
    const { list } = changed;
    clearTimeout(this.#timers.get(list));
    this.#timers.set(
      list,
      setTimeout(() => {
        this.#timers.delete(list);
        this.#onListChanged(list);
      }, DEBOUNCE_MS),
    );
    return true;
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

interface ListeningOptions {
  readonly server: string;
  readonly logger: Logger;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** How long the server may take to acknowledge a stream. */
  readonly timeoutMs: number;
  readonly onListChanged: (kind: ListKind) => void;
}

/**
 * Opens the stream of a modern server whose lists can change. Returns a function that keeps the stream open until its
 * signal aborts, and never rejects; undefined if there is no such stream.
 */
export async function listenForChanges(
  session: RpcSession,
  options: ListeningOptions,
  signal: AbortSignal,
): Promise<((signal: AbortSignal) => Promise<void>) | undefined> {
  const filter = Object.fromEntries(changingLists(options.capabilities).map((each) => [each.filter, true]));
  if (Object.keys(filter).length === 0) return undefined;
  try {
    const opened = await session.subscribe(filter, { timeoutMs: options.timeoutMs, signal });
    return (ended) => keepListening(session, opened, options, ended);
  } catch (error) {
    signal.throwIfAborted();
    options.logger.debug("the change stream is not open", { server: options.server, error: messageOf(error) });
    return undefined;
  }
}

async function keepListening(
  session: RpcSession,
  opened: Subscription,
  { server, logger, timeoutMs, onListChanged }: ListeningOptions,
  signal: AbortSignal,
): Promise<void> {
  let stream = opened;
  const { honored } = opened;
  const kinds = Object.values(LIST_CHANGES).flatMap(({ list, filter }) => (honored[filter] ? [list] : []));
  for (let attempt = 0; kinds.length > 0; attempt++) {
    if ((await stream.ended) === "local" || signal.aborted) return;
    try {
      await sleep(DELAYS_MS[Math.min(attempt, DELAYS_MS.length - 1)] ?? 0, signal);
      stream = await session.subscribe(honored, { timeoutMs, signal });
    } catch (error) {
      if (signal.aborted || session.isClosed) return;
      logger.debug("the change stream is not open", { server, error: messageOf(error) });
      continue;
    }
    attempt = 0;
    for (const kind of kinds) onListChanged(kind);
  }
}
