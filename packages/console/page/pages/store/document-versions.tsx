// The versions of a document, and the difference between two of them.
import { useMemo, useState } from "preact/hooks";
import { useOperation } from "../../kit/operations.js";
import { Button, ErrorNotice, Loading, Notice } from "../../kit/parts.js";
import { counted, shownAgo, shownBytes } from "../../kit/wording.js";
import { diffLines, hunksOf } from "./line-diff.js";
import type { StoredDocument, VersionRow } from "./store-results.js";
import { shownLine } from "./text-view.js";

const MOST_BYTES = 2_000_000;
const ROWS = 1_000;

interface VersionsProps {
  readonly workspace: string;
  readonly document: StoredDocument;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly onCompare: (from: number, to: number) => void;
  readonly onView: (version: number) => void;
  readonly onSave: (version: VersionRow) => void;
}

export function DocumentVersions(props: VersionsProps) {
  const { document, onCompare } = props;
  const versions = [...document.versions].reverse();
  const newest = versions[0];
  const to = versions.find(({ version }) => version === props.to) ?? newest;
  const from = versions.find(({ version }) => version === props.from) ?? versions[1];
  if (to === undefined || newest === undefined) return <Notice>No document has this content.</Notice>;
  return (
    <>
      <table class="table versions">
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Compare </span>from
            </th>
            <th scope="col">to</th>
            <th scope="col">Version</th>
            <th scope="col">Added</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {versions.map((row) => (
            <tr key={row.version}>
              <td>
                <input
                  type="radio"
                  name="from"
                  aria-label={`Compare from version ${row.version}`}
                  checked={row === from}
                  onChange={() => onCompare(row.version, to.version)}
                />
              </td>
              <td>
                <input
                  type="radio"
                  name="to"
                  aria-label={`Compare to version ${row.version}`}
                  checked={row === to}
                  onChange={() => onCompare((from ?? row).version, row.version)}
                />
              </td>
              <td>
                {row.version} {row === newest && <span class="badge">newest</span>}
              </td>
              <td title={row.added}>{shownAgo(row.added)}</td>
              <td class="number">{shownBytes(row.size)}</td>
              <td class="number">
                <Button
                  small
                  kind="quiet"
                  onClick={() => props.onView(row.version)}
                  label={`View version ${row.version}`}
                >
                  View
                </Button>
                <Button small kind="quiet" onClick={() => props.onSave(row)} label={`Restore version ${row.version}`}>
                  Restore…
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {from === undefined ? (
        <p class="dim section">There is one version. A change to the document adds another one.</p>
      ) : (
        <section class="section">
          <h3>
            Version {from.version} to {to.version}
          </h3>
          <VersionDiff workspace={props.workspace} type={document.type} from={from} to={to} />
        </section>
      )}
    </>
  );
}

function VersionDiff(props: {
  readonly workspace: string;
  readonly type: "text" | "binary";
  readonly from: VersionRow;
  readonly to: VersionRow;
}) {
  const { workspace, from, to } = props;
  const isSame = from.hash === to.hash;
  const isLarge = Math.max(from.size, to.size) > MOST_BYTES;
  const canCompare = props.type === "text" && !isLarge && !isSame;
  const paramsOf = ({ hash }: VersionRow) => (canCompare ? { hash, include_content: true } : undefined);
  const before = useOperation<StoredDocument>({ workspace, op: "get", params: paramsOf(from) });
  const after = useOperation<StoredDocument>({ workspace, op: "get", params: paramsOf(to) });
  const [limit, setLimit] = useState(ROWS);
  const isText = before.data?.encoding === "utf-8" && after.data?.encoding === "utf-8";
  const diff = useMemo(
    () => (isText ? diffLines(before.data?.content ?? "", after.data?.content ?? "") : undefined),
    [isText, before.data, after.data],
  );
  const rows = useMemo(() => (diff === undefined ? [] : hunksOf(diff.changes)), [diff]);
  if (isSame) return <Notice>Both versions have the same content.</Notice>;
  if (isLarge) {
    return (
      <Notice>These versions are too large to compare here. View them one by one, or restore them to files.</Notice>
    );
  }
  if (!canCompare) return <Notice>Binary content is not compared line by line.</Notice>;
  const error = before.error ?? after.error;
  if (error !== undefined) return <ErrorNotice error={error} />;
  if (before.data === undefined || after.data === undefined) return <Loading lines={3} />;
  if (diff === undefined) return <Notice>Binary content is not compared line by line.</Notice>;
  if (diff.added + diff.removed === 0) return <Notice>Only the last line break differs.</Notice>;
  return (
    <>
      <p class="dim">
        {counted(diff.added, "line")} added, {counted(diff.removed, "line")} removed
        {diff.isRough && ". The texts differ so much that parts of them are shown as replaced."}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="diff version-diff" aria-label="Difference" tabIndex={0}>
        {rows.slice(0, limit).map((row, index) =>
          row === undefined ? (
            <div key={index} class="gap" aria-hidden="true">
              ⋯
            </div>
          ) : (
            <div key={index} class={row.sign === "+" ? "added" : row.sign === "-" ? "removed" : ""}>
              <span class="at" aria-hidden="true">
                {row.before ?? ""}
              </span>
              <span class="at" aria-hidden="true">
                {row.after ?? ""}
              </span>
              {row.sign} {shownLine(row.text)}
            </div>
          ),
        )}
      </section>
      {rows.length > limit && (
        <Button small onClick={() => setLimit(limit + ROWS)}>
          Show more
        </Button>
      )}
    </>
  );
}
