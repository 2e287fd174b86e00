// A modern server reports changed lists on a stream that the SDK opens once, on connect. Over HTTP that stream ends
// with every restart of the server, while the stateless connection continues as if nothing had happened. This reopens
// the stream and treats the lists as changed, because changes may have been missed.
import type { Client, McpSubscription } from "@modelcontextprotocol/client";
import { type Logger, messageOf, sleep } from "@trunkline/core";
import type { ListKind } from "./connection-options.js";

interface ListChangesOptions {
  readonly server: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly onListChanged: (kind: ListKind) => void;
}

/** Delays before reopening the stream; the last one repeats. */
const DELAYS_MS = [100, 500, 1_000, 2_000, 5_000, 10_000, 30_000];

/** Keeps the SDK's stream open until the signal aborts. Never rejects. */
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
      logger.debug("the change stream is not open", { server, error: messageOf(error) });
      continue;
    }
    attempt = 0;
    for (const kind of kinds) onListChanged(kind);
  }
}
