// The store as a command uses it: Ctrl-C stops a call, and progress is one line of the terminal.
import { abortError, printable } from "@trunkline/core";
import type { AnyStore, StoreCallOptions } from "@trunkline/store";
import type { CommandContext } from "../terminal/context.js";
import { shownBytes } from "../terminal/output.js";
import { progressLineFor } from "../terminal/progress-line.js";
import { openApp } from "./app.js";
import type { AppOptions } from "./app-options.js";

export interface OpenedStore extends AsyncDisposable {
  readonly store: AnyStore;
  /** Its folder, or the address of its database. */
  readonly folder: string;
  /** Options for every call: Ctrl-C, and progress on one line of the terminal. */
  calling(what: string, options?: { unit?: "bytes" }): StoreCallOptions & { signal: AbortSignal };
  /** Continues a session of an earlier command, if given. */
  resume(session: string | undefined): Promise<void>;
  /** Attaches the embedded model for search by meaning. Returns whether it is installed. */
  useModel(): Promise<boolean>;
  /** Waits until everything written is searchable in every way. */
  indexed(): Promise<void>;
  /** Clears the progress line before something else is written. */
  clearProgress(): void;
}

/**
 * Opens the store; it is created on first use unless the command only makes sense for an existing store. `reading`: the
 * command changes nothing, so it starts faster.
 */
export async function openCommandStore(
  context: CommandContext,
  { store: named, storeId, reading, mustExist }: Pick<AppOptions, "store" | "storeId" | "reading" | "mustExist">,
): Promise<OpenedStore> {
  const { signal, redactor } = context;
  const app = openApp(context, { store: named, storeId, reading, mustExist });
  const store = await app.store();
  const line = progressLineFor(context);
  const show = (text: string) => line?.update(redactor.text(printable(text)));
  return {
    store,
    folder: await app.storePlace(),
    calling: (what, { unit } = {}) => ({
      signal,
      onProgress: ({ progress, total, message }) => {
        const shown = unit === "bytes" ? shownBytes : String;
        const count = total === undefined ? shown(progress) : `${shown(progress)}/${shown(total)}`;
        show(`${what} ${count}${message === undefined ? "" : ` ${message}`}`);
      },
    }),
    resume: async (session) => {
      if (session !== undefined) await store.resume({ sessionId: session }, { signal });
    },
    indexed: async () => {
      show("indexing; what you added is safe");
      await untilAborted(store.indexed(), signal);
    },
    useModel: async () => {
      await app.searchableStore();
      return (await app.embedder()) !== undefined;
    },
    clearProgress: () => line?.clear(),
    [Symbol.asyncDispose]: async () => {
      line?.clear();
      await app.close();
    },
  };
}

async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortError(signal, "Indexing"));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
