// `export` and `import`. An export is the file of an embedded store, so both engines read and write the same format: a copy
// goes through an embedded store in a temporary folder.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TrunklineError } from "@trunkline/core";
import type { ExportResult, ImportResult } from "@trunkline/store/contract";
import { copyStore, type TransferStore } from "@trunkline/store/parts";

/** The part of an embedded store that exports and imports need. */
interface EmbeddedStore extends TransferStore, AsyncDisposable {
  export(params: { path: string; overwrite?: boolean }): Promise<ExportResult>;
  import(params: { path: string }): Promise<ImportResult>;
}

/** Opens or creates an embedded store in a folder. */
export type OpenEmbedded = (folder: string) => Promise<EmbeddedStore>;

export async function exportTo(
  store: TransferStore,
  openEmbedded: OpenEmbedded | undefined,
  { path, overwrite, signal }: { path: string; overwrite?: boolean; signal?: AbortSignal },
): Promise<ExportResult> {
  return await withEmbedded(openEmbedded, async (embedded) => {
    await copyStore(store, embedded, { signal });
    return await embedded.export({ path, overwrite });
  });
}

export async function importFrom(
  store: TransferStore,
  openEmbedded: OpenEmbedded | undefined,
  { path, signal }: { path: string; signal?: AbortSignal },
): Promise<ImportResult> {
  return await withEmbedded(openEmbedded, async (embedded) => {
    const imported = await embedded.import({ path });
    const { contents, newBytes, snapshots } = await copyStore(embedded, store, { signal });
    return { documents: imported.documents, contents, snapshots, newBytes };
  });
}

async function withEmbedded<T>(
  openEmbedded: OpenEmbedded | undefined,
  work: (embedded: EmbeddedStore) => Promise<T>,
): Promise<T> {
  if (openEmbedded === undefined) {
    throw new TrunklineError(
      "INVALID_ARGUMENT",
      "Exports and imports need an embedded store, which this program does not have.",
      {
        hint: "Use `trunkline store export` or `trunkline store copy`.",
      },
    );
  }
  const folder = await mkdtemp(join(tmpdir(), "trunkline-transfer-"));
  try {
    await using embedded = await openEmbedded(folder);
    return await work(embedded);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
