import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type OpenStoreOptions, openStore, type Store } from "../../src/index.js";

/** Creates an empty folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-store-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a store in its own folder and closes it after the test. Relative paths are relative to the folder. */
export async function temporaryStore(
  options: Partial<OpenStoreOptions> = {},
): Promise<{ store: Store; folder: string; path: string }> {
  const folder = options.cwd ?? (await temporaryFolder());
  const path = join(folder, ".store");
  const store = await openStore({ path, cwd: folder, ...options });
  onTestFinished(() => store.close());
  return { store, folder, path };
}
