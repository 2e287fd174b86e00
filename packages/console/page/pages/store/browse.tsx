// Collections and folders.
import { useEffect, useMemo, useState } from "preact/hooks";
import { Icon } from "../../kit/icons.js";
import { useOperation } from "../../kit/operations.js";
import { Empty, ErrorNotice, Loading } from "../../kit/parts.js";
import { Rows } from "../../kit/rows.js";
import { counted, shownAgo, shownBytes, shownCount, visible } from "../../kit/wording.js";
import type { CollectionRow, DocumentRow } from "./store-results.js";
import { commonFolder, entriesOf, usePaths } from "./stored-paths.js";

interface BrowseProps {
  readonly workspace: string;
  readonly collections: readonly CollectionRow[];
  /** The collection and folder that are open. */
  readonly collection: string | undefined;
  readonly folder: string | undefined;
  readonly document: string | undefined;
  readonly turn: number;
  readonly onPlace: (place: { readonly collection?: string; readonly folder?: string }) => void;
  readonly onDocument: (path: string, collection: string) => void;
}

/** How many documents of a folder are shown with their facts. */
const DESCRIBED = 500;
const ROW_HEIGHT = 32;

export function Browse(props: BrowseProps) {
  const { collections, onPlace } = props;
  const only = collections.length === 1 ? collections[0]?.name : undefined;
  const collection = props.collection ?? only;
  if (collection === undefined) return <Collections {...props} />;
  return <Folder {...props} collection={collection} onUp={only === undefined ? () => onPlace({}) : undefined} />;
}

function Collections({ collections, onPlace }: BrowseProps) {
  return (
    <div class="page-body">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Collection</th>
            <th scope="col" class="number">
              Documents
            </th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col">Folders</th>
          </tr>
        </thead>
        <tbody>
          {collections.map(({ name, documents, bytes, roots }) => (
            <tr key={name}>
              <td>
                <button type="button" class="link-button" onClick={() => onPlace({ collection: name })}>
                  {visible(name)}
                </button>
              </td>
              <td class="number">{shownCount(documents)}</td>
              <td class="number">{shownBytes(bytes)}</td>
              <td class="dim breakable">{visible(roots.join(", "))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Folder(props: BrowseProps & { readonly collection: string; readonly onUp: (() => void) | undefined }) {
  const { workspace, collection, onPlace, onDocument, turn } = props;
  const { paths, total, error } = usePaths(workspace, collection, turn);
  const top = useMemo(() => commonFolder(paths), [paths]);
  const folder = props.folder ?? top;
  const entries = useMemo(() => entriesOf(paths, folder), [paths, folder]);
  const described = useOperation<{ documents: readonly DocumentRow[] }>(
    {
      workspace,
      op: "list",
      params: total === undefined ? undefined : { collection, pattern: `${escapeGlob(folder)}*`, limit: DESCRIBED },
    },
    ["store"],
  );
  const facts = useMemo(
    () => new Map(described.data?.documents.map((document) => [document.path, document])),
    [described.data],
  );
  // The row that the arrow keys are on. Moving onto a document shows it; a folder is opened with Enter.
  const [cursor, setCursor] = useState<string>();
  useEffect(() => setCursor(undefined), [folder]);
  const chosen = entries.findIndex(({ path }) => path === (cursor ?? props.document));
  if (error !== undefined && paths.length === 0) {
    return (
      <div class="page-body padded">
        <ErrorNotice error={error} />
      </div>
    );
  }
  if (total === undefined) return <Loading />;
  const choose = (index: number) => {
    const entry = entries[index];
    setCursor(entry?.path);
    if (entry?.kind === "document") onDocument(entry.path, collection);
  };
  const open = (index: number) => {
    const entry = entries[index];
    if (entry?.kind === "folder") onPlace({ collection, folder: entry.path });
  };
  return (
    <div class="store-browse">
      <nav class="crumbs" aria-label="Folder">
        {props.onUp !== undefined && (
          <button type="button" class="link-button" onClick={props.onUp}>
            Collections
          </button>
        )}
        {crumbsOf(folder, top).map(({ name, path }, index, all) => (
          <button
            key={path}
            type="button"
            class="link-button"
            aria-current={index === all.length - 1 ? "location" : undefined}
            onClick={() => onPlace({ collection, folder: path === top ? undefined : path })}
          >
            {visible(name)}
          </button>
        ))}
        <span class="dim grow number">
          {paths.length < total ? `${shownCount(paths.length)} of ${counted(total, "document")} loaded` : ""}
        </span>
      </nav>
      {entries.length === 0 ? (
        <Empty icon="folder" title="Nothing here">
          <p>This folder has no documents any more.</p>
        </Empty>
      ) : (
        <Rows
          items={entries}
          rowHeight={ROW_HEIGHT}
          label="Folders and documents"
          keyOf={({ path }) => path}
          chosen={chosen === -1 ? undefined : chosen}
          onChoose={choose}
          onOpen={open}
          render={({ kind, name, path, documents }) => {
            const fact = facts.get(path);
            return (
              <div class="store-row">
                <Icon name={kind === "folder" ? "folder" : "file"} />
                <span class="cut grow">{visible(name)}</span>
                {fact?.tags.slice(0, 3).map((tag) => (
                  <span key={tag} class="badge">
                    {visible(tag)}
                  </span>
                ))}
                <span class="dim number">
                  {kind === "folder"
                    ? counted(documents, "document")
                    : fact !== undefined && `${shownBytes(fact.size)} · ${shownAgo(fact.indexed)}`}
                </span>
              </div>
            );
          }}
        />
      )}
    </div>
  );
}

/** The folders above one, from the top. */
function crumbsOf(folder: string, top: string): { name: string; path: string }[] {
  const parts = folder.slice(top.length).split("/").filter(Boolean);
  const crumbs = [{ name: top === "" || top === "/" ? "/" : top.slice(0, -1), path: top }];
  let path = top;
  for (const name of folder.startsWith(top) ? parts : []) {
    path += `${name}/`;
    crumbs.push({ name, path });
  }
  return crumbs;
}

function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{}!()]/g, "\\$&");
}
