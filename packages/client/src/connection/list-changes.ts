// A modern server tells of changed lists on a stream that the SDK opens once, when it connects. Over HTTP such a stream ends
// with every restart of the server, while the connection, which has no state, goes on as if nothing had happened: here the
// stream is opened again, and the lists count as changed, because nobody knows what was missed.
import type { Client, McpSubscription } from "@modelcontextprotocol/client";
import { type Logger, messageOf, sleep } from "@trunkline/core";
import type { ListKind } from "./connection-options.js";

/** What keeping the stream open needs. */
interface ListChangesOptions {
  readonly server: string;
  readonly logger: Logger;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly onListChanged: (kind: ListKind) => void;
}

/** Waits before the stream is opened again; the last one is repeated. */
const DELAYS_MS = [100, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/** Keeps the stream that the SDK opened open until the signal. Never rejects. */
export async function keepListening(
  client: Client,
  opened: McpSubscription,
  { server, logger, signal, onListChanged }: ListChangesOptions,
): Promise<void> {
  let stream = opened;
  const filter = opened.honoredFilter;
  const kinds: ListKind[] = [
    ...(filter.toolsListChanged ? ["tools" as const] : []),
    ...(filter.promptsListChanged ? ["prompts" as const] : []),
    ...(filter.resourcesListChanged ? ["resources" as const] : []),
  ];
  for (let attempt = 0; kinds.length > 0; attempt++) {
    if ((await stream.closed) === "local" || signal.aborted) return;
    try {
      await sleep(DELAYS_MS[Math.min(attempt, DELAYS_MS.length - 1)] ?? 0, signal);
      stream = await client.listen(filter, { signal });
    } catch (error) {
      if (signal.aborted) return;
      logger.debug("the stream of changes is not open", { server, error: messageOf(error) });
      continue;
    }
    attempt = 0;
    for (const kind of kinds) onListChanged(kind);
  }
}
