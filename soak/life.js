// The lifetime of a process that will be killed: it lasts until some time after its first work.
import { pause } from "./clients.js";

/** A process that has done nothing after this time never will. */
const PATIENCE_MS = 60_000;

/**
 * Waits for the first work, then for the given time. Aborting the signal ends both. Resolves with false if no work was
 * done.
 * @param {{ worked: Promise<void>, ms: number, signal: AbortSignal }} options
 */
export async function liveFor({ worked, ms, signal }) {
  const over = new AbortController();
  const end = () => over.abort();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const late = pause(PATIENCE_MS, over.signal).then(() => "late");
  const first = await Promise.race([worked.then(() => "worked"), late]);
  signal.removeEventListener("abort", end);
  end();
  if (first === "worked") await pause(ms, signal);
  return first === "worked" || signal.aborted;
}
