// A long list: rows of one height, of which only those in view exist. Arrow keys move the choice.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface RowsProps<Item> {
  readonly items: readonly Item[];
  readonly rowHeight: number;
  readonly label: string;
  readonly keyOf: (item: Item, index: number) => string;
  readonly render: (item: Item, index: number) => ComponentChildren;
  readonly chosen?: number;
  readonly onChoose?: (index: number) => void;
  /** Called when a row is clicked, and for the chosen one when Enter is pressed. */
  readonly onOpen?: (index: number) => void;
  /** Called when the end is near, to load more. */
  readonly onEnd?: () => void;
}

/** Rows above and below the visible ones, so that fast scrolling shows no gaps. */
const SPARE = 12;

export function Rows<Item>(props: RowsProps<Item>) {
  const { items, rowHeight, chosen, onChoose, onOpen, onEnd } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = () =>
      setView((before) => {
        const now = { top: element.scrollTop, height: element.clientHeight };
        // Redraw only when other rows come into view.
        const isSame =
          Math.floor(before.top / rowHeight) === Math.floor(now.top / rowHeight) && before.height === now.height;
        return isSame ? before : now;
      });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [rowHeight]);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + SPARE);
  useEffect(() => {
    if (last >= items.length && items.length > 0) onEnd?.();
  }, [last, items.length, onEnd]);
  const move = (to: number) => {
    const index = Math.max(0, Math.min(items.length - 1, to));
    onChoose?.(index);
    const element = box.current;
    if (element === null) return;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== box.current || onChoose === undefined) return;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const at = chosen ?? -1;
    if (event.key === "Enter" && chosen !== undefined) onOpen?.(chosen);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: items.length - 1,
    };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to);
  };
  const idOf = (index: number) => `row-${props.label.replaceAll(/\W+/g, "-")}-${index}`;
  return (
    <div
      ref={box}
      class="rows page-body"
      role="listbox"
      tabIndex={0}
      aria-label={props.label}
      aria-activedescendant={chosen === undefined || chosen < first || chosen >= last ? undefined : idOf(chosen)}
      onKeyDown={onKeyDown}
    >
      <div class="space" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, last).map((item, offset) => {
          const index = first + offset;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles keys
            <div
              key={props.keyOf(item, index)}
              id={idOf(index)}
              class="slot"
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => {
                onChoose?.(index);
                onOpen?.(index);
              }}
            >
              {props.render(item, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
