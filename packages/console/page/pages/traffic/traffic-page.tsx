// Traffic: what happened by day, and calls as they happen.
import type { CallRow } from "@trunkline/console/contract";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageProps } from "../../frame.js";
import { live, useAnswer } from "../../kit/live.js";
import {
  ActionButton,
  Button,
  Code,
  Dot,
  Empty,
  ErrorNotice,
  Loading,
  PageHead,
  SearchField,
  Window,
} from "../../kit/parts.js";
import { setParams } from "../../kit/places.js";
import { Rows } from "../../kit/rows.js";
import { counted, shownCount } from "../../kit/wording.js";
import { CallDetailsPane } from "./call-details.js";
import { CallFeed } from "./call-feed.js";
import { FILTER_HELP } from "./call-filter.js";
import type { TrafficRow } from "./call-list.js";
import { COLUMN_WIDTHS, ColumnHeads, ROW_HEIGHT, renderRow } from "./call-rows.js";
import { DayCharts } from "./day-charts.js";
import "./traffic.css";

const DAYS = 30;
/** How soon new calls are in the charts. */
const CHART_MS = 2_000;

export function TrafficPage({ workspace, place }: PageProps) {
  const feed = useMemo(() => new CallFeed(workspace), [workspace]);
  const [, setTurn] = useState(0);
  const [query, setQuery] = useState(place.params.q ?? "");
  const [chosen, setChosen] = useState<{ readonly row: TrafficRow; readonly step: string }>();
  const [showsHelp, setShowsHelp] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const added = useRef(0);
  useEffect(() => {
    const stopListening = feed.onChange((count) => {
      added.current += count;
      setTurn((turn) => turn + 1);
    });
    const stop = feed.start();
    return () => {
      stopListening();
      stop();
    };
  }, [feed]);
  useEffect(() => {
    feed.setFilter(query);
    const timer = window.setTimeout(() => setParams({ q: query || undefined }), 300);
    return () => clearTimeout(timer);
  }, [feed, query]);
  // What a person reads stays where it is when calls are added above it.
  useLayoutEffect(() => {
    const rows = box.current?.querySelector(".rows");
    if (added.current > 0 && rows && rows.scrollTop > 0) rows.scrollTop += added.current * ROW_HEIGHT;
    added.current = 0;
  });
  const days = useDays(workspace);
  const { shown } = feed.list;
  const choose = useCallback(
    (index: number) => {
      const row = feed.list.shown[index];
      if (row !== undefined) setChosen({ row, step: firstStep(row).id });
    },
    [feed],
  );
  const loadOlder = useCallback(() => void feed.loadOlder(), [feed]);
  const close = useCallback(() => setChosen(undefined), []);
  const today = days.data?.days.at(-1);
  const isBlank = feed.list.isEmpty && feed.isComplete;
  const index = chosen === undefined ? -1 : shown.indexOf(chosen.row);
  return (
    <>
      <PageHead
        title="Traffic"
        about={
          today !== undefined && (
            <span aria-live="polite">
              {counted(today.calls, "call")} today, {shownCount(today.errors)} failed
            </span>
          )
        }
      >
        <SearchField value={query} onInput={setQuery} placeholder="Filter calls" />
        <Button kind="quiet" label="Filter help: what can be typed" onClick={() => setShowsHelp(true)}>
          Filter help
        </Button>
        <Button icon={feed.isPaused ? "play" : "pause"} onClick={() => feed.pause(!feed.isPaused)}>
          {feed.isPaused ? "Resume" : "Pause"}
        </Button>
        {!feed.isRecording && (
          <ActionButton
            label="Record arguments and results of further calls, in memory only"
            run={() => feed.record(true)}
          >
            <span class="record-mark" aria-hidden="true" /> Record
          </ActionButton>
        )}
      </PageHead>
      {feed.isRecording && (
        <div class="banner recording" role="status">
          <Dot tone="bad" beating />
          <span class="grow">
            <b>Recording.</b> Arguments and results of the last 500 calls are kept in memory, without known secrets.
            Nothing is written to disk.
          </span>
          <ActionButton small label="Stop and forget what was recorded" run={() => feed.record(false)}>
            Stop and forget
          </ActionButton>
        </div>
      )}
      {days.data !== undefined && !isBlank && <DayCharts days={days.data.days} />}
      {isBlank ? (
        <div class="page-body">
          <Empty icon="traffic" title="No calls yet" command="trunkline query describe">
            Calls of your clients appear here as they happen. Make one yourself:
          </Empty>
        </div>
      ) : (
        <div class={`split ${chosen === undefined ? "" : "with-details"}`}>
          <div class="traffic-list" ref={box} style={COLUMN_WIDTHS}>
            {feed.error !== undefined && (
              <div class="traffic-notice">
                <ErrorNotice error={feed.error} retry={loadOlder} />
              </div>
            )}
            {feed.isPaused && (
              <div class="traffic-paused" role="status">
                <span>Paused.</span>
                <Button small kind="primary" disabled={feed.waiting === 0} onClick={() => feed.pause(false)}>
                  {feed.waiting === 0 ? "No new calls" : `Show ${counted(feed.waiting, "new call")}`}
                </Button>
              </div>
            )}
            <ColumnHeads />
            {feed.list.isEmpty && feed.error === undefined ? (
              <Loading lines={10} />
            ) : shown.length === 0 ? (
              <NothingFound feed={feed} onClear={() => setQuery("")} />
            ) : (
              <Rows
                items={shown}
                rowHeight={ROW_HEIGHT}
                label="Calls"
                keyOf={rowKey}
                render={renderRow}
                chosen={index === -1 ? undefined : index}
                onChoose={choose}
                onEnd={loadOlder}
              />
            )}
            <div class="traffic-foot">
              {query.trim() === ""
                ? counted(feed.list.count, "row")
                : `${shownCount(shown.length)} of ${counted(feed.list.count, "row")}`}
              {feed.isLoading ? ", loading more …" : feed.isComplete ? "" : ", older ones load as you scroll"}
            </div>
          </div>
          {chosen !== undefined && (
            <CallDetailsPane
              key={chosen.row.id}
              workspace={workspace}
              row={chosen.row}
              step={chosen.step}
              isRecording={feed.isRecording}
              onStep={(step) => setChosen({ row: chosen.row, step })}
              onClose={close}
            />
          )}
        </div>
      )}
      {showsHelp && <FilterHelp onClose={() => setShowsHelp(false)} />}
    </>
  );
}

function rowKey({ id }: TrafficRow): string {
  return id;
}

/** Of a pipeline, the step that failed, or the first one. */
function firstStep(row: TrafficRow): Pick<CallRow, "id"> {
  return row.steps?.find(({ outcome }) => outcome !== "ok") ?? row.steps?.[0] ?? row;
}

/** The days, asked for again soon after new calls. */
function useDays(workspace: string) {
  const days = useAnswer("calls/days", { workspace, days: DAYS }, ["calls"]);
  const { reload } = days;
  useEffect(() => {
    let timer: number | undefined;
    const stop = live.onCalls((of) => {
      if (of !== workspace) return;
      timer ??= window.setTimeout(() => {
        timer = undefined;
        reload();
      }, CHART_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [workspace, reload]);
  return days;
}

function NothingFound({ feed, onClear }: { readonly feed: CallFeed; readonly onClear: () => void }) {
  if (feed.isLoading) return <Loading lines={10} />;
  return (
    <div class="page-body">
      <Empty icon="search" title="No call matches the filter">
        <Button onClick={onClear}>Show all calls</Button>
      </Empty>
    </div>
  );
}

function FilterHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Window title="Filter calls" onClose={onClose}>
      <p>Words and conditions, separated by spaces. A call has to meet all of them.</p>
      <dl class="facts filter-help">
        {FILTER_HELP.map(([example, meaning]) => [
          <dt key={`${example}-example`}>
            <code>{example}</code>
          </dt>,
          <dd key={example}>{meaning}</dd>,
        ])}
      </dl>
      <p>For example, slow failures of one server:</p>
      <Code text="op:git.* failed >100ms" />
    </Window>
  );
}
