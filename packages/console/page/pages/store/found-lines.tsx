// Results of grep, grouped by document.
import { useMemo } from "preact/hooks";
import { Icon } from "../../kit/icons.js";
import { usePagedOperation } from "../../kit/operations.js";
import { Empty, ErrorNotice, Loading, showToast, toError } from "../../kit/parts.js";
import { Rows } from "../../kit/rows.js";
import { counted, visible } from "../../kit/wording.js";
import { grepPattern } from "./mark-patterns.js";
import { Marked } from "./marked.js";
import type { GrepAnswer, GrepMatch } from "./store-results.js";
import { shortPath } from "./stored-paths.js";

const ROW_HEIGHT = 26;

interface FoundLinesProps {
  readonly workspace: string;
  readonly folder: string | undefined;
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly fixed: boolean;
  readonly collection: string | undefined;
  readonly document: string | undefined;
  readonly line: number | undefined;
  readonly turn: number;
  readonly onDocument: (path: string, line: number | undefined) => void;
}

type LineRow = { readonly path: string; readonly count: number } | GrepMatch;

export function FoundLines(props: FoundLinesProps) {
  const { workspace, pattern, ignoreCase, fixed, collection, turn } = props;
  const {
    answer,
    items: matches,
    error,
    more,
  } = usePagedOperation<GrepAnswer, GrepMatch>(
    { workspace, op: "grep", params: { pattern, ignore_case: ignoreCase, fixed, collection }, turn },
    (found) => found.matches,
    (failure) => showToast(toError(failure)),
  );
  const rows = useMemo(() => grouped(matches), [matches]);
  const marking = useMemo(() => grepPattern(pattern, { ignoreCase, fixed }), [pattern, ignoreCase, fixed]);
  if (error !== undefined) {
    return (
      <div class="page-body padded">
        <ErrorNotice error={error} />
      </div>
    );
  }
  if (answer === undefined) return <Loading />;
  const chosen = rows.findIndex((row) => "line" in row && row.path === props.document && row.line === props.line);
  return (
    <div class="store-browse">
      <div class="crumbs" role="status">
        <span class="dim">
          {counted(answer.total, "match").replace("matchs", "matches")} in {counted(answer.files, "document")}
          {answer.cursor !== undefined && ", more when you scroll"}
          {answer.binary > 0 && `. ${counted(answer.binary, "binary content")} skipped`}
          {answer.timed_out !== undefined && `. Stopped at ${visible(answer.timed_out.path)}: it took too long`}
        </span>
      </div>
      {rows.length === 0 ? (
        <Empty icon="search" title="No line matches">
          <p>Grep looks for a regular expression. Choose “Plain text” to look for the text itself.</p>
        </Empty>
      ) : (
        <Rows
          items={rows}
          rowHeight={ROW_HEIGHT}
          label="Matching lines"
          keyOf={(row) => ("line" in row ? `${row.path}:${row.line}` : row.path)}
          chosen={chosen === -1 ? undefined : chosen}
          onChoose={(index) => {
            const row = rows[index];
            if (row !== undefined) props.onDocument(row.path, "line" in row ? row.line : undefined);
          }}
          onEnd={more}
          render={(row) =>
            "line" in row ? (
              <div class="store-match mono">
                <span class="dim number at">{row.line}</span>
                <span class="cut">
                  <Marked text={row.text} pattern={marking} />
                </span>
              </div>
            ) : (
              <div class="store-match file">
                <Icon name="file" size={14} />
                <span class="cut grow">{visible(shortPath(row.path, props.folder))}</span>
                <span class="dim number">{row.count}</span>
              </div>
            )
          }
        />
      )}
    </div>
  );
}

/** The matches with a row before those of each document. */
function grouped(matches: readonly GrepMatch[]): LineRow[] {
  const counts = new Map<string, number>();
  for (const { path } of matches) counts.set(path, (counts.get(path) ?? 0) + 1);
  const rows: LineRow[] = [];
  let last: string | undefined;
  for (const match of matches) {
    if (match.path !== last) rows.push({ path: match.path, count: counts.get(match.path) ?? 0 });
    last = match.path;
    rows.push(match);
  }
  return rows;
}
