// A text with line numbers. Lines have one height and are not wrapped, so that a long text is cheap to lay out.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, CopyButton, ErrorNotice, Loading, Notice } from "../../kit/parts.js";
import { counted, shownBytes, shownCount, visible } from "../../kit/wording.js";
import { useText } from "./stored-text.js";

const LINES = 2_000;
const BLOCK = 250;
const LINE_HEIGHT = 18;
const LONGEST_LINE = 1_000;
/** A line further down than this is not looked for. */
const FARTHEST_BYTES = 16 * 1024 * 1024;

interface TextViewProps {
  readonly workspace: string;
  readonly content: { readonly hash: string; readonly size: number };
  /** A line to show and mark. */
  readonly line: number | undefined;
}

export function TextView({ workspace, content, line }: TextViewProps) {
  const { text, loadedBytes, isLoading, error, more } = useText(workspace, content);
  const [limit, setLimit] = useState(LINES);
  const box = useRef<HTMLElement>(null);
  const lines = useMemo(() => {
    const all = text.split("\n");
    if (all.at(-1) === "") all.pop();
    return all;
  }, [text]);
  const isComplete = loadedBytes >= content.size;
  const shown = Math.min(lines.length, Math.max(limit, (line ?? 0) + BLOCK));
  const isAhead = line !== undefined && line > lines.length && !isComplete && loadedBytes < FARTHEST_BYTES;
  useEffect(() => {
    if (isAhead && !isLoading && error === undefined) more();
  }, [isAhead, isLoading, error]);
  const isThere = line !== undefined && line <= lines.length;
  useEffect(() => {
    if (isThere && line !== undefined && box.current !== null)
      box.current.scrollTop = Math.max(0, (line - 6) * LINE_HEIGHT);
  }, [line, isThere, content.hash]);
  if (error !== undefined && text === "") return <ErrorNotice error={error} retry={more} />;
  if (text === "" && isLoading) return <Loading />;
  if (content.size === 0) return <Notice>This document is empty.</Notice>;
  const blocks = Array.from({ length: Math.ceil(shown / BLOCK) }, (_, index) => index * BLOCK);
  const longest = lines.slice(0, shown).filter(({ length }) => length > LONGEST_LINE).length;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <section class="text-view" ref={box} tabIndex={0} aria-label="Content">
        <div class="text-space">
          {isThere && <div class="line-mark" style={{ top: `${(line - 1) * LINE_HEIGHT}px` }} />}
          {blocks.map((from) => (
            <Block key={from} lines={lines} from={from} to={Math.min(shown, from + BLOCK)} />
          ))}
        </div>
      </section>
      <div class="text-foot">
        <span class="dim grow">
          {shown < lines.length || !isComplete
            ? `The first ${counted(shown, "line")}${isComplete ? ` of ${shownCount(lines.length)}` : ` (${shownBytes(loadedBytes)} of ${shownBytes(content.size)} loaded)`}`
            : counted(lines.length, "line")}
          {longest > 0 && `. ${counted(longest, "long line")} cut after ${shownCount(LONGEST_LINE)} characters`}
          {isAhead && `. Looking for line ${shownCount(line)} …`}
        </span>
        {(shown < lines.length || !isComplete) && (
          <Button
            small
            disabled={isLoading}
            onClick={() => {
              setLimit(shown + LINES);
              if (shown + LINES > lines.length && !isComplete) more();
            }}
          >
            Show more
          </Button>
        )}
        <CopyButton text={text} label={isComplete ? "Copy" : "Copy what is loaded"} />
      </div>
      {error !== undefined && <ErrorNotice error={error} retry={more} />}
    </>
  );
}

function Block({ lines, from, to }: { readonly lines: readonly string[]; readonly from: number; readonly to: number }) {
  const text = useMemo(
    () =>
      lines
        .slice(from, to)
        .map((line) => shownLine(line))
        .join("\n"),
    [lines, from, to],
  );
  const numbers = useMemo(
    () => Array.from({ length: to - from }, (_, index) => from + index + 1).join("\n"),
    [from, to],
  );
  return (
    <div class="text-block" style={{ containIntrinsicHeight: `${(to - from) * LINE_HEIGHT}px` }}>
      <pre class="numbers" aria-hidden="true">
        {numbers}
      </pre>
      <pre class="lines">{text}</pre>
    </div>
  );
}

/** A line with hidden characters made visible, and cut if it is long. */
export function shownLine(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  if (text.length <= LONGEST_LINE) return visible(text);
  return `${visible(text.slice(0, LONGEST_LINE))} … ${shownCount(text.length - LONGEST_LINE)} more characters`;
}
