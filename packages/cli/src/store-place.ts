// Where the store lives, and opening it. The package is loaded here and nowhere else, so that no other command waits for it.
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { abortError, isFolderSync, TrunklineError } from "@trunkline/core";
import type { Store, StoreCallOptions } from "@trunkline/store";
import { guardedPlaces } from "./guarded-places.js";
import { printable } from "./printable.js";
import { ProgressLine } from "./progress-line.js";
import { shownBytes } from "./store-output.js";
import type { CommandContext } from "./terminal/context.js";

/** The store's folder: the one given, that of the environment, the project's where it has one, else the user's own. */
export function storeFolder(context: Pick<CommandContext, "cwd" | "env" | "home">, given: string | undefined): string {
  const { cwd, env, home } = context;
  const named = given ?? (env.TRUNKLINE_STORE || undefined);
  if (named !== undefined) return resolve(cwd, named);
  return projectStore(cwd, home) ?? join(home, "store");
}

/** The store of the project, looked for as its configuration is: here and above, up to the root of the git repository. */
export function projectStore(cwd: string, home: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const own = join(folder, ".trunkline");
    if (own !== home && isFolderSync(join(own, "store"))) return join(own, "store");
    if (dirname(folder) === folder || statSync(join(folder, ".git"), { throwIfNoEntry: false }) !== undefined)
      return undefined;
  }
}

/** A store that a command works with. */
export interface OpenedStore extends AsyncDisposable {
  readonly store: Store;
  readonly folder: string;
  /** What every call is given: Ctrl-C, and progress on one line of the terminal. */
  calling(what: string, options?: { unit?: "bytes" }): StoreCallOptions & { signal: AbortSignal };
  /** Goes on with a session of an earlier command, where one was given. */
  resume(session: string | undefined): Promise<void>;
  /** Waits until what was written can be found in every way. */
  indexed(): Promise<void>;
  /** Takes the progress line away: something else is about to be written. */
  clearProgress(): void;
}

/**
 * Opens the store; it is made on first use unless the command only makes sense on one that is there. `reading`: the
 * command changes nothing, and starts the sooner for it.
 */
export async function openCommandStore(
  context: CommandContext,
  options: { store: string | undefined; mustExist?: boolean; reading?: boolean },
): Promise<OpenedStore> {
  const { cwd, logger, signal, redactor } = context;
  const folder = storeFolder(context, options.store);
  // Who reads a store that was named has mistyped it where there is none.
  const mustExist = options.mustExist === true || (options.reading === true && options.store !== undefined);
  if (mustExist && !isFolderSync(folder)) {
    throw new TrunklineError("NOT_FOUND", `There is no store in ${folder}.`, {
      hint: "Name another with --store, or make one: trunkline store add <path>",
    });
  }
  const { openStore } = await import("@trunkline/store");
  const guarded = guardedPlaces(context);
  const store = await openStore({ path: folder, cwd, logger, signal, lazyWriter: options.reading, ...guarded });
  const line =
    context.io.stderr.isTTY === true && context.env.TERM !== "dumb" ? new ProgressLine(context.io.stderr) : undefined;
  const show = (text: string) => line?.update(redactor.text(printable(text)));
  return {
    store,
    folder,
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
      show("indexing; what was added is safe");
      await untilAborted(store.indexed(), signal);
    },
    clearProgress: () => line?.clear(),
    [Symbol.asyncDispose]: async () => {
      line?.clear();
      await store.close();
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
