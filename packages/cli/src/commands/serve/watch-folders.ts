// `serve --watch`: adds folders to the store and indexes changes until the server ends.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "@trunkline/core";
import type { AddResult } from "@trunkline/store";
import type { App } from "../../app/app.js";
import { isWholeHome, wholeHomeReason } from "../../app/folders.js";
import { leftOutLine } from "../../app/left-out-line.js";

/** Watching in progress. */
export interface Watching {
  /** Resolves once the folders have been added. Never rejects: a folder that cannot be watched is reported on stderr. */
  readonly started: Promise<void>;
  /** Stops watching, indexes changes seen so far, and closes the session in the store. Call it before closing the app. */
  stop(): Promise<void>;
}

/** Starts watching in the background. */
export function watchFolders(app: App, given: readonly string[], exclude: readonly string[] | undefined): Watching {
  const stopping = new AbortController();
  const signal = AbortSignal.any([app.signal, stopping.signal]);
  /** Closes the session, once there is one. */
  let closeSession: (() => Promise<unknown>) | undefined;
  const start = async () => {
    const paths = watchable(app, given);
    if (paths.length === 0 || signal.aborted) return;
    const store = await (await app.backends()).store();
    const options = { client: "serve", signal };
    if (signal.aborted) return;
    // Not cancelled halfway: a session whose id is lost could never be closed.
    await store.run("start", { label: "serve --watch" }, { client: options.client });
    closeSession = () => store.run("stop", {}, { client: options.client });
    // Watch first, then add, so no change in between is missed.
    await store.run("watch", { paths, exclude }, options);
    const added = await store.run("add", { paths, exclude, skip_generated: true }, options);
    // The fields of this result are the same on the wire.
    const leftOut = leftOutLine(added.left_out as AddResult["leftOut"]);
    if (leftOut !== undefined) app.context.note(leftOut);
  };
  const started = start().catch((error: unknown) => {
    if (!signal.aborted) app.context.note(`--watch stopped: ${messageOf(error)}`);
  });
  return {
    started,
    stop: async () => {
      stopping.abort();
      await started;
      const close = closeSession;
      closeSession = undefined;
      await close?.().catch((error: unknown) => {
        app.context.note(`The session of --watch could not be closed: ${messageOf(error)}`);
      });
    },
  };
}

/** Returns the folders that can be watched, and reports the others. */
function watchable({ context }: App, given: readonly string[]): string[] {
  const all = given.map((path) => resolve(context.cwd, path));
  const there = all.filter((path) => existsSync(path));
  const paths = there.filter((path) => !isWholeHome(path, context.userHome));
  for (const path of all) {
    if (!there.includes(path)) context.note(`Not watching ${path}: it does not exist.`);
    else if (!paths.includes(path)) context.note(`Not watching ${path}: ${wholeHomeReason(path, context.userHome)}.`);
  }
  return paths;
}
