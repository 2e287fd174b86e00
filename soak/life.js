// How long a process lives that is going to be killed: until a while after it has done its first work.
import { pause } from "./clients.js";

/** A process that has done nothing for so long never will. */
const PATIENCE_MS = 60_000;

/**
 * Waits for the first work, then for the time. An aborted signal ends both. Answers with false where nothing was done.
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
