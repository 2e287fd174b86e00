// Cancelling the calls that are running, and nothing else: the first Ctrl-C.
import { abortable, TrunklineError } from "@trunkline/core";
import type { Tool } from "./tool.js";

/** Tools whose running calls can be cancelled while the run goes on. */
export interface CancellableTools {
  readonly tools: readonly Tool[];
  /** Cancels every call that is running; the model is told. Returns how many there were. */
  cancelRunning(): number;
}

/** The same tools, in a form that lets a person cancel what is running. */
export function cancellableTools(tools: readonly Tool[]): CancellableTools {
  const running = new Set<AbortController>();
  return {
    tools: tools.map((tool) => ({
      ...tool,
      async call(args, options) {
        const own = new AbortController();
        running.add(own);
        const signal = options.signal === undefined ? own.signal : AbortSignal.any([options.signal, own.signal]);
        try {
          return await abortable(own.signal, tool.call(args, { ...options, signal }));
        } catch (error) {
          // Whatever a tool makes of its signal: the reason is known here.
          throw own.signal.aborted ? own.signal.reason : error;
        } finally {
          running.delete(own);
        }
      },
    })),
    cancelRunning() {
      const count = running.size;
      for (const call of running) call.abort(new TrunklineError("ABORTED", "The call was cancelled."));
      return count;
    },
  };
}
