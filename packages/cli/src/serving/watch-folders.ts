// `serve --watch`: takes folders into the store and goes on taking in what changes, until the server ends.
import { resolve } from "node:path";
import { messageOf } from "@trunkline/core";
import type { CommandContext } from "../context.js";
import { isWholeHome } from "../whole-home.js";
import type { ServeBackends } from "./serve-backends.js";

/** Never rejects: a folder that cannot be watched costs a line on stderr, and the server goes on. */
export async function watchFolders(
  context: CommandContext,
  backends: ServeBackends,
  given: readonly string[],
): Promise<void> {
  const all = given.map((path) => resolve(context.cwd, path));
  const paths = all.filter((path) => !isWholeHome(path));
  for (const path of all) {
    if (!paths.includes(path)) context.note(`${path} is not watched: everything of yours would be taken in.`);
  }
  if (paths.length === 0) return;
  try {
    const store = await backends.store();
    const options = { client: "serve", signal: backends.signal };
    await store.run("start", { label: "serve --watch" }, options);
    // First the watching, then what is there: nothing that changes meanwhile is missed.
    await store.run("watch", { paths }, options);
    await store.run("add", { paths }, options);
  } catch (error) {
    if (backends.signal.aborted) return;
    context.note(`${paths.join(", ")} cannot be watched: ${messageOf(error)}`);
  }
}
