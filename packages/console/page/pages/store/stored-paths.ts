// The paths of a collection, and the folders they form. The store has no folders: paths are loaded page by page and
// folders are derived from them.
import { useEffect, useState } from "preact/hooks";
import { onStoreChange, runOperation } from "../../kit/operations.js";
import { toError } from "../../kit/parts.js";

const PAGE = 5_000;

interface PathsPage {
  readonly paths: readonly string[];
  readonly total: number;
  readonly cursor?: string;
}

interface StoredPaths {
  readonly paths: readonly string[];
  /** Undefined until the first page has arrived. */
  readonly total: number | undefined;
  readonly error: Error | undefined;
}

const NOTHING: StoredPaths = { paths: [], total: undefined, error: undefined };

/** Loads all paths of a collection, and again when the store changes. `turn` changes to load them again. */
export function usePaths(workspace: string, collection: string | undefined, turn: number): StoredPaths {
  const [loaded, setLoaded] = useState<StoredPaths & { readonly of?: string }>(NOTHING);
  const [changes, setChanges] = useState(0);
  useEffect(() => onStoreChange(workspace, () => setChanges((count) => count + 1)), [workspace]);
  useEffect(() => {
    if (collection === undefined) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    const load = async () => {
      const paths: string[] = [];
      let cursor: string | undefined;
      do {
        const page: PathsPage = await runOperation<PathsPage>({
          workspace,
          op: "list",
          params: { collection, paths_only: true, limit: PAGE, cursor },
          signal,
        });
        if (signal.aborted) return;
        paths.push(...page.paths);
        cursor = page.cursor;
        // What was there stays until everything is here again.
        const isDone = cursor === undefined;
        setLoaded((before) =>
          isDone || before.of !== collection || before.paths.length < paths.length
            ? { paths: [...paths], total: page.total, error: undefined, of: collection }
            : before,
        );
      } while (cursor !== undefined);
    };
    load().catch((error: unknown) => {
      if (!signal.aborted) setLoaded((before) => ({ ...before, error: toError(error), of: collection }));
    });
    return () => leaving.abort();
  }, [workspace, collection, turn, changes]);
  return loaded.of === collection ? loaded : NOTHING;
}

interface FolderEntry {
  readonly kind: "folder" | "document";
  readonly name: string;
  /** The full path; a folder's ends with `/`. */
  readonly path: string;
  /** How many documents are in a folder. */
  readonly documents: number;
}

/** The folder that all paths have in common, ending with `/`; empty if there is none. */
export function commonFolder(paths: readonly string[]): string {
  let common = paths[0] ?? "";
  common = common.slice(0, common.lastIndexOf("/") + 1);
  for (const path of paths) {
    while (!path.startsWith(common)) common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
    if (common === "") break;
  }
  return common;
}

/** What a folder contains: folders first, then documents, by name. */
export function entriesOf(paths: readonly string[], folder: string): FolderEntry[] {
  const folders = new Map<string, number>();
  const documents: FolderEntry[] = [];
  for (const path of paths) {
    if (!path.startsWith(folder)) continue;
    const end = path.indexOf("/", folder.length);
    if (end === -1) documents.push({ kind: "document", name: path.slice(folder.length), path, documents: 1 });
    else {
      const name = path.slice(folder.length, end);
      folders.set(name, (folders.get(name) ?? 0) + 1);
    }
  }
  const byName = (one: FolderEntry, other: FolderEntry) => (one.name < other.name ? -1 : 1);
  const found = [...folders].map(([name, count]): FolderEntry => {
    return { kind: "folder", name, path: `${folder}${name}/`, documents: count };
  });
  return [...found.sort(byName), ...documents.sort(byName)];
}

/** The path without the workspace's folder, which is the same for most of them. */
export function shortPath(path: string, folder: string | undefined): string {
  return folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
