// The store: search, grep and browse on the left, a document on the right. The address has all of it.
import { useEffect, useState } from "preact/hooks";
import type { PageProps } from "../../frame.js";
import { useOperation } from "../../kit/operations.js";
import {
  ActionButton,
  Button,
  Choice,
  Empty,
  ErrorNotice,
  Field,
  Loading,
  PageHead,
  SearchField,
  Window,
} from "../../kit/parts.js";
import { addressOf, goTo, setParams } from "../../kit/places.js";
import { counted, shownBytes, visible } from "../../kit/wording.js";
import { Browse } from "./browse.js";
import { DocumentDetails, type DocumentTab } from "./document-details.js";
import { FoundDocuments } from "./found-documents.js";
import { FoundLines } from "./found-lines.js";
import "./store.css";
import { deletedHere, undelete } from "./document-actions.js";
import type { CollectionRow, StoreStatus } from "./store-results.js";

type How = "hybrid" | "keyword" | "semantic" | "grep";

const WAYS: readonly { readonly value: How; readonly label: string }[] = [
  { value: "hybrid", label: "Both" },
  { value: "keyword", label: "Words" },
  { value: "semantic", label: "Meaning" },
  { value: "grep", label: "Grep" },
];
const PLACEHOLDERS: Readonly<Record<How, string>> = {
  hybrid: "Search by words and meaning",
  keyword: "Search by words",
  semantic: "Search by meaning",
  grep: "Find lines that match a regular expression",
};
/** A search starts when typing pauses. */
const PAUSE_MS = 200;
const TABS: readonly DocumentTab[] = ["content", "versions", "index", "facts"];
/** Parameters of the document that is shown. */
const NO_DOCUMENT = {
  doc: undefined,
  of: undefined,
  tab: undefined,
  line: undefined,
  v: undefined,
  from: undefined,
  to: undefined,
};

export function StorePage({ workspace, overview, place }: PageProps) {
  const { params } = place;
  const how = WAYS.find(({ value }) => value === params.how)?.value ?? "hybrid";
  const query = params.q ?? "";
  const folder = overview.workspaces.find(({ id }) => id === workspace)?.folder;
  const collections = useOperation<{ collections: readonly CollectionRow[] }>(
    { workspace, op: "list_collections", params: {} },
    ["store"],
  );
  const status = useOperation<StoreStatus>({ workspace, op: "status", params: { detailed: true } }, ["store"]);
  const [turn, setTurn] = useState(0);
  const [showsTrash, setShowsTrash] = useState(false);
  const onChange = () => {
    setTurn((count) => count + 1);
    collections.reload();
    status.reload();
  };
  const rows = collections.data?.collections;
  const documents = rows?.reduce((sum, row) => sum + row.documents, 0) ?? 0;
  const inTrash = status.data?.in_trash ?? 0;
  const onDocument = (path: string, { line, of }: { line?: number; of?: string } = {}) =>
    setParams({
      ...NO_DOCUMENT,
      doc: path,
      of,
      line: line === undefined ? undefined : String(line),
      // A line is in the content; otherwise the tab stays, to go through documents with the arrow keys.
      tab: line === undefined ? params.tab : undefined,
    });
  const body = () => {
    if (collections.error !== undefined) {
      return (
        <div class="page-body padded">
          <ErrorNotice error={collections.error} retry={collections.reload} />
        </div>
      );
    }
    if (rows === undefined) return <Loading />;
    if (documents === 0 && inTrash === 0 && params.doc === undefined) {
      return (
        <Empty icon="store" title="The store is empty" command="trunkline init">
          <p>It keeps what agents search: files, downloads and results. This indexes the project:</p>
        </Empty>
      );
    }
    const common = { workspace, folder, collection: params.in, document: params.doc, turn };
    if (query.trim() === "") {
      return (
        <Browse
          workspace={workspace}
          collections={rows}
          collection={params.in}
          folder={params.folder}
          document={params.doc}
          turn={turn}
          onPlace={({ collection, folder: open }) =>
            goTo("store", { ...params, in: collection, folder: open, ...(open === params.folder ? {} : NO_DOCUMENT) })
          }
          onDocument={(path, of) => onDocument(path, { of })}
        />
      );
    }
    if (how === "grep") {
      return (
        <FoundLines
          {...common}
          pattern={query}
          ignoreCase={params.case === "any"}
          fixed={params.fixed === "yes"}
          line={numberIn(params.line)}
          onDocument={(path, line) => onDocument(path, { line })}
        />
      );
    }
    return (
      <FoundDocuments {...common} query={query} type={how} onDocument={(path, line) => onDocument(path, { line })} />
    );
  };
  return (
    <>
      <PageHead
        title="Store"
        about={
          rows === undefined
            ? undefined
            : `${counted(documents, "document")}, ${shownBytes(rows.reduce((sum, row) => sum + row.bytes, 0))}`
        }
      >
        {inTrash > 0 && (
          <Button small icon="trash" kind="quiet" onClick={() => setShowsTrash(true)}>
            Trash {inTrash}
          </Button>
        )}
      </PageHead>
      <div class="store-tools">
        <QueryField key={workspace} query={query} placeholder={PLACEHOLDERS[how]} />
        <Choice<How>
          label="How to search"
          value={how}
          options={WAYS}
          onChange={(value) => setParams({ how: value === "hybrid" ? undefined : value })}
        />
        {how === "grep" && (
          <>
            <label class="check">
              <input
                type="checkbox"
                checked={params.case === "any"}
                onChange={(event) => setParams({ case: event.currentTarget.checked ? "any" : undefined })}
              />
              Ignore case
            </label>
            <label class="check">
              <input
                type="checkbox"
                checked={params.fixed === "yes"}
                onChange={(event) => setParams({ fixed: event.currentTarget.checked ? "yes" : undefined })}
              />
              Plain text
            </label>
          </>
        )}
        {query.trim() !== "" && (
          <a class="dim" href={addressOf("store", { ...params, q: undefined })}>
            Back to folders
          </a>
        )}
      </div>
      <div class={`split store-split ${params.doc === undefined ? "" : "with-details"}`}>
        {body()}
        {params.doc !== undefined && (
          <DocumentDetails
            key={`${params.of} ${params.doc}`}
            workspace={workspace}
            folder={folder}
            path={params.doc}
            collection={params.of}
            tab={TABS.find((tab) => tab === params.tab) ?? "content"}
            line={numberIn(params.line)}
            version={numberIn(params.v)}
            compared={{ from: numberIn(params.from), to: numberIn(params.to) }}
            questions={overview.questions}
            set={setParams}
            onClose={closeDocument}
            onChange={onChange}
          />
        )}
      </div>
      {showsTrash && (
        <TrashWindow workspace={workspace} count={inTrash} onClose={() => setShowsTrash(false)} onChange={onChange} />
      )}
    </>
  );
}

function closeDocument(): void {
  setParams(NO_DOCUMENT);
}

/** The search field. What is typed goes into the address after a pause. */
function QueryField({ query, placeholder }: { readonly query: string; readonly placeholder: string }) {
  const [typed, setTyped] = useState(query);
  useEffect(() => setTyped(query), [query]);
  useEffect(() => {
    if (typed === query) return undefined;
    const timer = setTimeout(() => setParams({ q: typed === "" ? undefined : typed }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return <SearchField value={typed} onInput={setTyped} placeholder={placeholder} />;
}

function numberIn(text: string | undefined): number | undefined {
  const number = Number(text);
  return text !== undefined && Number.isInteger(number) && number > 0 ? number : undefined;
}

// Brings deleted documents back. The store counts its trash but does not list it.

interface TrashProps {
  readonly workspace: string;
  readonly count: number;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function TrashWindow({ workspace, count, onClose, onChange }: TrashProps) {
  const [name, setName] = useState("");
  const [deleted, setDeleted] = useState(() => deletedHere(workspace));
  const restore = async (path: string, collection?: string) => {
    await undelete({ workspace, path, collection });
    setDeleted(deletedHere(workspace));
    onChange();
  };
  return (
    <Window title="Trash" onClose={onClose}>
      <p>
        {counted(count, "document")} {count === 1 ? "is" : "are"} in the trash, until <code>trunkline store gc</code>{" "}
        empties it.
      </p>
      {deleted.length > 0 && (
        <section class="section">
          <h3>Deleted in this browser</h3>
          <ul class="symbols">
            {deleted.map(({ path, collection }) => (
              <li key={path}>
                <span class="mono breakable grow">{visible(path)}</span>
                <ActionButton small run={() => restore(path, collection)} label={`Undelete ${visible(path)}`}>
                  Undelete
                </ActionButton>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="section">
        <Field label="Undelete by name" help="A path, the end of one, a file name, or a glob such as **/*.md.">
          {(ids) => (
            <span class="copy-line">
              <input {...ids} type="text" value={name} onInput={(event) => setName(event.currentTarget.value)} />
              <ActionButton disabled={name.trim() === ""} run={() => restore(name.trim())}>
                Undelete
              </ActionButton>
            </span>
          )}
        </Field>
      </section>
    </Window>
  );
}
