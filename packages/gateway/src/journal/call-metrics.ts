// Counts calls for `/metrics`, in the text format of Prometheus.
import { type CallRecord, isDefinitionNews, type Journal } from "./journal.js";

/** Upper bounds of the duration buckets, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
/** A server could list any number of tools. The calls of further ones are counted together. */
const MAX_OPERATIONS = 1_000;
const OTHER = "other";

type Outcome = CallRecord["outcome"];

/** A sample of a metric: its labels and value. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Appended to the name of the metric, as in `_bucket`. */
  readonly suffix?: string;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

/** A journal that keeps only totals. */
export class CallMetrics implements Journal {
  readonly #calls = new Map<string, Map<Outcome, number>>();
  readonly #buckets = new Array<number>(BUCKETS.length).fill(0);
  #count = 0;
  #sumSeconds = 0;
  #bytes = 0;

  record(call: CallRecord): void {
    if (isDefinitionNews(call)) return;
    const { operation, outcome, durationMs, sizeBytes } = call;
    const isCounted = this.#calls.has(operation) || this.#calls.size < MAX_OPERATIONS;
    const name = isCounted ? operation : OTHER;
    const outcomes = this.#calls.get(name) ?? new Map<Outcome, number>();
    this.#calls.set(name, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
    const seconds = durationMs / 1_000;
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#count += 1;
    this.#sumSeconds += seconds;
    this.#bytes += sizeBytes;
  }

  metrics(): readonly Metric[] {
    return [
      {
        name: "trunkline_calls_total",
        help: "Finished calls by operation and outcome.",
        type: "counter",
        samples: [...this.#calls].flatMap(([operation, outcomes]) =>
          [...outcomes].map(([outcome, value]) => ({ labels: { operation, outcome }, value })),
        ),
      },
      {
        name: "trunkline_call_duration_seconds",
        help: "How long calls took.",
        type: "histogram",
        samples: this.#durations(),
      },
      {
        name: "trunkline_result_bytes_total",
        help: "The size of all results, before they were shortened.",
        type: "counter",
        samples: [{ value: this.#bytes }],
      },
    ];
  }

  #durations(): Sample[] {
    let below = 0;
    const buckets = BUCKETS.map((bound, at) => {
      below += this.#buckets[at] ?? 0;
      return { suffix: "_bucket", labels: { le: String(bound) }, value: below };
    });
    return [
      ...buckets,
      { suffix: "_bucket", labels: { le: "+Inf" }, value: this.#count },
      { suffix: "_sum", value: this.#sumSeconds },
      { suffix: "_count", value: this.#count },
    ];
  }
}

/** Writes metrics in the text format of Prometheus. */
export function prometheusText(metrics: readonly Metric[]): string {
  return metrics
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${value}`),
    ])
    .join("\n")
    .concat("\n");
}

/** Names of tools come from servers and can contain anything. */
function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => {
    const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
    return `${name}="${escaped}"`;
  });
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}
