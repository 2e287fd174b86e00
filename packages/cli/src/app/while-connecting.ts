// Starting a server can take long, the first `npx` above all: a terminal shows what a command is waiting for.
import type { Hub } from "@trunkline/client";
import { printable } from "@trunkline/core";
import type { CommandContext } from "../terminal/context.js";
import { progressLineFor } from "../terminal/progress-line.js";

interface Connecting<T> {
  /** Whether `work` connects this server. Default: all of them. */
  readonly isWanted?: (server: string) => boolean;
  /** Must not ask the user anything. */
  readonly work: () => Promise<T>;
}

/** Runs work that connects servers, and names the servers at a terminal until it is done. Rejects after Ctrl-C. */
export async function whileConnecting<T>(
  context: CommandContext,
  hub: Hub,
  { isWanted = () => true, work }: Connecting<T>,
): Promise<T> {
  using line = progressLineFor(context);
  const names = hub
    .status()
    .filter(({ name, state }) => state === "pending" && isWanted(name))
    .map(({ name }) => printable(name));
  if (names.length > 0) line?.spin(context.redactor.text(`connecting ${names.join(", ")} …`));
  const result = await work();
  // Servers that Ctrl-C left unconnected are not worth a report.
  context.signal.throwIfAborted();
  return result;
}
