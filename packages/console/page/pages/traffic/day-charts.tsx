// Calls and tokens by day. The plot library is loaded with the first chart.
import type { DayRow } from "@trunkline/console/contract";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type UPlot from "uplot";
import { programOf, shownCount, visible } from "../../kit/wording.js";

interface Series {
  readonly name: string;
  /** A token, such as `--chart-1`. */
  readonly colour: string;
  readonly values: readonly number[];
}

interface ChartProps {
  readonly title: string;
  readonly days: readonly string[];
  readonly series: readonly Series[];
  /** Whether the series are parts of a whole. Otherwise their bars are side by side. */
  readonly isStacked: boolean;
  readonly note?: string;
}

const HEIGHT = 92;
/** The last colour is for all other clients. */
const MOST_CLIENTS = 4;

export function DayCharts({ days }: { readonly days: readonly DayRow[] }) {
  const names = useMemo(() => days.map(({ day }) => day), [days]);
  const clients = useMemo(() => clientSeries(days), [days]);
  const tokens = useMemo(
    () => [
      { name: "spent", colour: "--chart-1", values: days.map((day) => day.tokens) },
      { name: "saved", colour: "--chart-2", values: days.map((day) => day.saved) },
    ],
    [days],
  );
  return (
    <div class="traffic-charts">
      <DayChart title="Calls" days={names} series={clients} isStacked />
      <DayChart
        title="Tokens"
        days={names}
        series={tokens}
        isStacked={false}
        note="Spent: tool lists, schemas and results sent to clients. Saved: what listing all tools directly would have cost in addition."
      />
    </div>
  );
}

/** The busiest clients, and all others together. */
function clientSeries(rows: readonly DayRow[]): readonly Series[] {
  const days = rows.map(({ calls, byClient }) => ({
    calls,
    byClient: byClient.map((each) => ({ client: programOf(each.client), calls: each.calls })),
  }));
  const totals = new Map<string, number>();
  for (const { byClient } of days)
    for (const { client, calls } of byClient) totals.set(client, (totals.get(client) ?? 0) + calls);
  const busiest = [...totals].sort((a, b) => b[1] - a[1]).map(([client]) => client);
  const shown = busiest.length > MOST_CLIENTS + 1 ? busiest.slice(0, MOST_CLIENTS) : busiest;
  const series = shown.map((name, index) => ({
    name,
    colour: `--chart-${index + 1}`,
    values: days.map(({ byClient }) =>
      byClient.reduce((sum, { client, calls }) => (client === name ? sum + calls : sum), 0),
    ),
  }));
  if (shown.length === busiest.length) return series;
  const values = days.map(({ calls }, at) => series.reduce((left, each) => left - (each.values[at] ?? 0), calls));
  return [...series, { name: "others", colour: "--chart-6", values }];
}

function DayChart({ title, days, series, isStacked, note }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const [library, setLibrary] = useState<{ readonly create: typeof UPlot }>();
  const [at, setAt] = useState<number>();
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    let isWanted = true;
    Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]).then(
      ([{ default: create }]) => isWanted && setLibrary({ create }),
      // Without the chart, the legend still has the numbers.
      () => {},
    );
    const onTheme = () => setTheme((turn) => turn + 1);
    window.addEventListener("themechange", onTheme);
    return () => {
      isWanted = false;
      window.removeEventListener("themechange", onTheme);
    };
  }, []);
  const data = useMemo(() => dataOf(days, series, isStacked), [days, series, isStacked]);
  const shape = JSON.stringify([series.map(({ name, colour }) => [name, colour]), days]);
  // New numbers alone do not need a new chart.
  useEffect(() => {
    const element = box.current;
    if (library === undefined || element === null) return undefined;
    const options = optionsOf(library.create, { days, series, isStacked, width: element.clientWidth, onDay: setAt });
    const made = new library.create(options, data, element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [library, shape, theme]);
  useEffect(() => plot.current?.setData(data), [data]);
  const index = at ?? days.length - 1;
  const valueAt = ({ values }: Series) => values[index] ?? 0;
  const sums = series.map(
    ({ name, values }) => `${name}: ${shownCount(values.reduce((sum, value) => sum + value, 0))}`,
  );
  return (
    <figure class="traffic-chart">
      <figcaption title={note}>
        <h2>{title}</h2>
        <span class="dim">{index === days.length - 1 ? "today" : shownDay(days[index] ?? "")}</span>
        <ul>
          {series.map((each) => (
            <li key={each.name}>
              <span class="swatch" style={{ background: `var(${each.colour})` }} aria-hidden="true" />
              <span class="cut">{visible(each.name)}</span>
              <b>{shownCount(valueAt(each))}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        ref={box}
        class="plot"
        role="img"
        aria-label={`${title} in the last ${days.length} days. ${sums.map(visible).join(", ")}`}
      />
    </figure>
  );
}

/** Stacked bars are drawn over each other, the whole first. */
function dataOf(days: readonly string[], series: readonly Series[], isStacked: boolean): UPlot.AlignedData {
  const xs = days.map((_, index) => index);
  if (!isStacked) return [xs, ...series.map(({ values }) => [...values])];
  const sums = days.map(() => 0);
  const stacked = series.map(({ values }) => values.map((value, index) => (sums[index] = (sums[index] ?? 0) + value)));
  return [xs, ...stacked.reverse()];
}

function optionsOf(
  create: typeof UPlot,
  chart: Pick<ChartProps, "days" | "series" | "isStacked"> & {
    readonly width: number;
    readonly onDay: (index: number | undefined) => void;
  },
): UPlot.Options {
  const { days, series, isStacked, width, onDay } = chart;
  const styles = getComputedStyle(document.documentElement);
  const colour = (token: string) => styles.getPropertyValue(token).trim();
  const font = `11px ${styles.getPropertyValue("--font")}`;
  const ordered = isStacked ? series.toReversed() : series;
  const { bars } = create.paths;
  return {
    width,
    height: HEIGHT,
    padding: [6, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.6, days.length - 0.4] },
      y: { range: (_, least, most) => [Math.min(0, least), Math.max(1, most) * 1.05] },
    },
    axes: [
      {
        stroke: colour("--text-3"),
        font,
        size: 20,
        gap: 2,
        grid: { show: false },
        ticks: { show: false },
        splits: () => labelledDays(days.length),
        values: (_, splits) => splits.map((index) => shownDay(days[index] ?? "")),
      },
      {
        stroke: colour("--text-3"),
        font,
        size: 44,
        gap: 4,
        space: 30,
        grid: { stroke: colour("--border"), width: 1 },
        ticks: { show: false },
        values: (_, splits) => splits.map(shortCount),
      },
    ],
    series: [
      {},
      ...ordered.map((each, index): UPlot.Series => {
        const align = isStacked ? 0 : index === 0 ? -1 : 1;
        const paths = bars?.({ size: isStacked ? [0.7, 28] : [0.35, 14], align });
        return {
          label: each.name,
          fill: colour(each.colour),
          width: 0,
          points: { show: false },
          paths,
        };
      }),
    ],
    hooks: { setCursor: [({ cursor }) => onDay(cursor.idx ?? undefined)] },
  };
}

/** Every seventh day up to today. */
function labelledDays(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index).filter((index) => (count - 1 - index) % 7 === 0);
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `17 Nov`. */
function shownDay(day: string): string {
  const [, month, date] = day.split("-");
  return `${Number(date)} ${MONTHS[Number(month) - 1] ?? ""}`;
}

function shortCount(count: number): string {
  const size = Math.abs(count);
  if (size < 1_000) return String(Math.round(count * 10) / 10);
  return size < 1e6 ? `${Math.round(count / 100) / 10}k` : `${Math.round(count / 1e5) / 10}M`;
}
