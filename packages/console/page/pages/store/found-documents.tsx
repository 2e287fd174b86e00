// Results of a search by words or meaning.
import { useMemo } from "preact/hooks";
import { Icon } from "../../kit/icons.js";
import { usePagedOperation } from "../../kit/operations.js";
import { Empty, ErrorNotice, Loading, Notice, showToast, toError } from "../../kit/parts.js";
import { Rows } from "../../kit/rows.js";
import { counted, shownMs, visible } from "../../kit/wording.js";
import { wordsPattern } from "./mark-patterns.js";
import { Marked } from "./marked.js";
import type { SearchAnswer, SearchHit } from "./store-results.js";
import { baseName, shortPath } from "./stored-paths.js";

const PAGE = 30;
const ROW_HEIGHT = 66;

interface FoundProps {
  readonly workspace: string;
  readonly folder: string | undefined;
  readonly query: string;
  readonly type: string;
  readonly collection: string | undefined;
  readonly document: string | undefined;
  readonly turn: number;
  readonly onDocument: (path: string, line: number | undefined) => void;
}

export function FoundDocuments(props: FoundProps) {
  const { workspace, query, type, collection, turn } = props;
  const {
    answer,
    items: hits,
    error,
    more,
  } = usePagedOperation<SearchAnswer, SearchHit>(
    { workspace, op: "search", params: { query, type, collection, limit: PAGE }, turn },
    (found) => found.results,
    (failure) => showToast(toError(failure)),
  );
  const pattern = useMemo(() => wordsPattern(query), [query]);
  if (error !== undefined) {
    return (
      <div class="page-body padded">
        <ErrorNotice error={error} />
      </div>
    );
  }
  if (answer === undefined) return <Loading />;
  const chosen = hits.findIndex(({ path }) => path === props.document);
  return (
    <div class="store-browse">
      <SearchNotes answer={answer} />
      {hits.length === 0 ? (
        <Empty icon="search" title="Nothing found">
          <p>Try fewer or other words, or grep for an exact text.</p>
        </Empty>
      ) : (
        <Rows
          items={hits}
          rowHeight={ROW_HEIGHT}
          label="Found documents"
          keyOf={({ id }, index) => `${id} ${index}`}
          chosen={chosen === -1 ? undefined : chosen}
          onChoose={(index) => {
            const hit = hits[index];
            if (hit !== undefined) props.onDocument(hit.path, hit.line);
          }}
          onEnd={more}
          render={({ path, title, snippet, line, score }) => (
            <div class="store-hit">
              <div class="line">
                <Icon name="file" />
                <span class="cut">
                  <strong>{visible(baseName(path))}</strong>{" "}
                  {title !== "" && title !== baseName(path) && <span class="dim">{visible(title.slice(0, 200))}</span>}
                </span>
                <span class="dim number grow" title="How well it matches">
                  {score.toFixed(2)}
                </span>
              </div>
              <div class="cut dim where">
                {visible(shortPath(path, props.folder))}
                {line !== undefined && `:${line}`}
              </div>
              <div class="cut mono">
                <Marked text={snippet.replaceAll(/\s+/g, " ").trim()} pattern={pattern} />
              </div>
            </div>
          )}
        />
      )}
    </div>
  );
}

function SearchNotes({ answer }: { readonly answer: SearchAnswer }) {
  const { notice, corrections = [] } = answer;
  const corrected = corrections.filter(({ from, to }) => from !== to);
  return (
    <>
      {notice !== undefined && (
        <div class="store-notes">
          <Notice>
            {notice
              .split("`")
              .map((part, index) => (index % 2 === 1 ? <code key={index}>{visible(part)}</code> : visible(part)))}
          </Notice>
        </div>
      )}
      <div class="crumbs" role="status">
        <span class="dim">
          {counted(answer.total, "document")}, searched by{" "}
          {{ keyword: "words", semantic: "meaning" }[answer.type] ?? "words and meaning"} in{" "}
          {shownMs(answer.execution_time_ms)}
          {corrected.length > 0 &&
            `. Also searched for ${corrected.map(({ from, to }) => `“${visible(to)}” (for “${visible(from)}”)`).join(", ")}`}
        </span>
      </div>
    </>
  );
}
