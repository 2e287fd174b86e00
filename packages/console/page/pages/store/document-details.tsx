// One document: its content, versions, facts, and what the indexes know about it.
import { useState } from "preact/hooks";
import { JsonTree } from "../../kit/json-tree.js";
import { useOperation } from "../../kit/operations.js";
import {
  ActionButton,
  Badge,
  Button,
  Choice,
  CopyButton,
  Details,
  ErrorNotice,
  Facts,
  Loading,
  Notice,
} from "../../kit/parts.js";
import { addressOf } from "../../kit/places.js";
import { counted, shownAgo, shownBytes, visible } from "../../kit/wording.js";
import { DeleteWindow, PinButton, RestoreWindow, Tags, undelete } from "./document-actions.js";
import { DocumentVersions } from "./document-versions.js";
import type { GraphAnswer, StoredDocument, StoreStatus, VersionRow } from "./store-results.js";
import { baseName, shortPath } from "./stored-paths.js";
import { TextView } from "./text-view.js";

export type DocumentTab = "content" | "versions" | "index" | "facts";

interface DetailsProps {
  readonly workspace: string;
  readonly folder: string | undefined;
  readonly path: string;
  readonly collection: string | undefined;
  readonly tab: DocumentTab;
  readonly line: number | undefined;
  readonly version: number | undefined;
  readonly compared: { readonly from: number | undefined; readonly to: number | undefined };
  /** How many questions wait for a person. */
  readonly questions: number;
  readonly set: (params: Readonly<Record<string, string | undefined>>) => void;
  readonly onClose: () => void;
  /** The document was changed, deleted or restored. */
  readonly onChange: () => void;
}

export function DocumentDetails(props: DetailsProps) {
  const { workspace, path, collection, onClose } = props;
  const found = useOperation<StoredDocument>(
    { workspace, op: "get", params: { path, collection, version: props.version } },
    ["store"],
  );
  return (
    <Details title={baseName(path)} onClose={onClose}>
      <div class="copy-line">
        <span class="dim mono breakable">{visible(shortPath(path, props.folder))}</span>
        <CopyButton text={path} label="Copy path" />
      </div>
      {found.error !== undefined && <ErrorNotice error={found.error} retry={found.reload} />}
      {found.data === undefined ? (
        found.error === undefined && <Loading />
      ) : (
        <Document
          {...props}
          document={found.data}
          onChange={() => {
            found.reload();
            props.onChange();
          }}
        />
      )}
    </Details>
  );
}

function Document(props: DetailsProps & { readonly document: StoredDocument }) {
  const { workspace, document, tab, set, onChange } = props;
  const path = document.path ?? props.path;
  const { collection } = document;
  const place = { workspace, path, collection };
  const [isDeleting, setDeleting] = useState(false);
  const [restoring, setRestoring] = useState<VersionRow>();
  const newest = document.versions.at(-1);
  const isOld = props.version !== undefined && props.version !== newest?.version;
  const current = document.versions.find(({ version }) => version === document.version);
  return (
    <>
      {document.state === "trash" && (
        <Notice tone="warn">
          This document is in the trash.
          <div class="buttons left">
            <ActionButton
              small
              run={async () => {
                await undelete(place);
                onChange();
              }}
            >
              Undelete
            </ActionButton>
          </div>
        </Notice>
      )}
      {document.state === "removed" && (
        <Notice>The file of this document was removed. The store still has its last content.</Notice>
      )}
      <div class="document-bar">
        <PinButton key={document.hash} workspace={workspace} hash={document.hash} />
        {current !== undefined && (
          <Button small icon="history" onClick={() => setRestoring(current)}>
            Restore…
          </Button>
        )}
        {document.state === undefined && (
          <>
            <a class="button small" href={addressOf("graph", { name: path })}>
              Graph
            </a>
            <Button small kind="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete…
            </Button>
          </>
        )}
      </div>
      {document.state === undefined && <Tags {...place} tags={document.tags ?? []} onChange={onChange} />}
      <div class="document-tabs">
        <Choice<DocumentTab>
          label="What to show"
          value={tab}
          options={[
            { value: "content", label: "Content" },
            { value: "versions", label: `Versions ${document.versions.length}` },
            { value: "index", label: "Index" },
            { value: "facts", label: "Facts" },
          ]}
          onChange={(chosen) => set({ tab: chosen === "content" ? undefined : chosen })}
        />
        <span class="dim">
          {shownBytes(document.size)}
          {document.indexed !== undefined && `, indexed ${shownAgo(document.indexed)}`}
        </span>
      </div>
      {isOld && (
        <Notice>
          This is version {props.version} of {newest?.version}.{" "}
          <button type="button" class="link-button" onClick={() => set({ v: undefined })}>
            Show the newest
          </button>
        </Notice>
      )}
      {tab === "content" && <Content {...props} />}
      {tab === "versions" && (
        <DocumentVersions
          workspace={workspace}
          document={document}
          {...props.compared}
          onCompare={(from, to) => set({ from: String(from), to: String(to) })}
          onView={(version) => set({ tab: undefined, v: version === newest?.version ? undefined : String(version) })}
          onSave={setRestoring}
        />
      )}
      {tab === "index" && <IndexFacts workspace={workspace} path={path} collection={collection} document={document} />}
      {tab === "facts" && <DocumentFacts document={document} />}
      {isDeleting && <DeleteWindow {...place} onClose={() => setDeleting(false)} onDone={onChange} />}
      {restoring !== undefined && (
        <RestoreWindow
          {...place}
          version={restoring}
          questions={props.questions}
          onClose={() => setRestoring(undefined)}
        />
      )}
    </>
  );
}

function Content({ workspace, document, line }: DetailsProps & { readonly document: StoredDocument }) {
  if (document.type === "binary") {
    return <Notice>This is binary content, {shownBytes(document.size)}. Restore it to a file to open it.</Notice>;
  }
  return <TextView key={document.hash} workspace={workspace} content={document} line={line} />;
}

function DocumentFacts({ document }: { readonly document: StoredDocument }) {
  const { metadata = {}, same_content: same = [] } = document;
  const time = (iso: string | undefined) =>
    iso === undefined ? undefined : (
      <span title={iso}>{`${new Date(iso).toLocaleString("en-GB")} (${shownAgo(iso)})`}</span>
    );
  return (
    <>
      <Facts
        rows={[
          ["Title", document.title === undefined ? undefined : visible(document.title.slice(0, 500))],
          ["Size", `${shownBytes(document.size)} (${document.size.toLocaleString("en-US")} bytes)`],
          ["Type", document.type],
          ["Collection", document.collection === undefined ? undefined : visible(document.collection)],
          ["Version", document.version],
          ["Created", time(document.created)],
          ["Modified", time(document.modified)],
          ["Indexed", time(document.indexed)],
          [
            "Hash",
            <span key="hash" class="copy-line">
              <code class="breakable">{document.hash}</code>
              <CopyButton text={document.hash} />
            </span>,
          ],
        ]}
      />
      {Object.keys(metadata).length > 0 && (
        <section class="section">
          <h3>Metadata</h3>
          <JsonTree value={metadata} />
        </section>
      )}
      {same.length > 0 && (
        <section class="section">
          <h3>Same content</h3>
          <ul>
            {same.map((path) => (
              <li key={path} class="breakable">
                <a href={addressOf("store", { doc: path })}>{visible(path)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const INDEX_NAMES: Readonly<Record<string, string>> = {
  keyword: "Words",
  vectors: "Meaning",
  fuzzy: "Typos",
  trigram: "Grep",
  ranks: "Ranking",
  graph: "Graph",
};
const MOST_SYMBOLS = 200;

interface IndexProps {
  readonly workspace: string;
  readonly path: string;
  readonly collection: string | undefined;
  readonly document: StoredDocument;
}

function IndexFacts({ workspace, path, collection, document }: IndexProps) {
  const status = useOperation<StoreStatus>({ workspace, op: "status", params: { detailed: true } }, ["store"]);
  const graph = useOperation<GraphAnswer>(
    {
      workspace,
      op: "graph",
      params: document.state === undefined ? { node_key: `file:${path}`, collection, limit: MOST_SYMBOLS } : undefined,
    },
    ["store"],
  );
  const behind = Object.entries(status.data?.index ?? {}).filter(([, { pending }]) => pending > 0);
  const nodes = new Map(graph.data?.nodes.map((node) => [node.key, node]));
  const related = (graph.data?.edges ?? []).flatMap((edge) => {
    const node = nodes.get(edge.to);
    return node === undefined || edge.from !== `file:${path}` ? [] : [{ ...edge, node }];
  });
  const defined = related.filter(({ relation }) => relation === "DEFINES" || relation === "CONTAINS");
  const others = related.filter((edge) => !defined.includes(edge));
  return (
    <>
      {status.error !== undefined && <ErrorNotice error={status.error} />}
      {status.data?.index !== undefined && (
        <p>
          {behind.length === 0
            ? "All indexes are up to date with the store: "
            : `${behind.map(([name, { pending }]) => `${INDEX_NAMES[name] ?? name} has ${pending} to go`).join(", ")}. Indexes: `}
          <span class="dim">
            {Object.keys(status.data.index)
              // Without a model, there is nothing in the index for meaning.
              .filter((name) => name !== "vectors" || status.data?.embeddings !== undefined)
              .map((name) => INDEX_NAMES[name] ?? name)
              .join(", ")}
          </span>
        </p>
      )}
      {graph.error !== undefined && <ErrorNotice error={graph.error} />}
      {graph.data?.notice !== undefined && <Notice>{visible(graph.data.notice)}</Notice>}
      <section class="section">
        <h3>Defines</h3>
        {defined.length === 0 && (
          <p class="dim">{graph.isLoading ? "…" : "The graph has no definitions for this document."}</p>
        )}
        <ul class="symbols">
          {defined.map(({ node, line }) => (
            <li key={node.key}>
              <Badge>{node.type}</Badge>
              <a class="mono cut" href={addressOf("graph", { key: node.key })}>
                {visible(node.name)}
              </a>
              {line !== undefined && (
                <a class="dim number" href={addressOf("store", { doc: path, line: String(line) })}>
                  line {line}
                </a>
              )}
            </li>
          ))}
        </ul>
      </section>
      {others.length > 0 && (
        <section class="section">
          <h3>Relations</h3>
          <ul class="symbols">
            {others.map(({ node, relation }, index) => (
              <li key={index}>
                <Badge>{relation}</Badge>
                <a class="mono cut" href={addressOf("graph", { key: node.key })}>
                  {visible(node.name)}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {graph.data?.truncated === true && (
        <p class="dim section">
          The first {counted(MOST_SYMBOLS, "node")}.{" "}
          <a href={addressOf("graph", { name: path })}>See all in the graph</a>
        </p>
      )}
    </>
  );
}
