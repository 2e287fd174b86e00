// `serve --watch`: adds folders to the store and indexes changes until the server ends.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "@trunkline/core";
import type { AddResult } from "@trunkline/store";
import type { App } from "../../app/app.js";
import { isWholeHome, wholeHomeReason } from "../../app/folders.js";
import { leftOutLine } from "../../app/left-out-line.js";

/** Never rejects: a folder that cannot be watched is reported on stderr, and the server continues. */
export async function watchFolders(
  app: App,
  given: readonly string[],
  exclude: readonly string[] | undefined,
): Promise<void> {
  const { context } = app;
  const all = given.map((path) => resolve(context.cwd, path));
  const there = all.filter((path) => existsSync(path));
  const paths = there.filter((path) => !isWholeHome(path, context.userHome));
  for (const path of all) {
    if (!there.includes(path)) context.note(`Not watching ${path}: it does not exist.`);
    else if (!paths.includes(path)) context.note(`Not watching ${path}: ${wholeHomeReason(path, context.userHome)}.`);
  }
  if (paths.length === 0) return;
  try {
    const store = await (await app.backends()).store();
    const options = { client: "serve", signal: app.signal };
    await store.run("start", { label: "serve --watch" }, options);
    // Watch first, then add, so no change in between is missed.
    await store.run("watch", { paths, exclude }, options);
    const added = await store.run("add", { paths, exclude, skip_generated: true }, options);
    // The fields of this result are the same on the wire.
    const leftOut = leftOutLine(added.left_out as AddResult["leftOut"]);
    if (leftOut !== undefined) context.note(leftOut);
  } catch (error) {
    if (app.signal.aborted) return;
    context.note(`--watch stopped: ${messageOf(error)}`);
  }
}
