import { describe, expect, it } from "vitest";
import { CallMetrics, prometheusText } from "../../src/journal/call-metrics.js";
import { type CallRecord, DEFINITION_NEWS } from "../../src/journal/journal.js";

function call(more: Partial<CallRecord> = {}): CallRecord {
  return { atMs: 0, client: "test", operation: "search", durationMs: 20, sizeBytes: 100, outcome: "ok", ...more };
}

function textOf(...calls: CallRecord[]): string {
  const metrics = new CallMetrics();
  for (const each of calls) metrics.record(each);
  return prometheusText(metrics.metrics());
}

describe("the metrics of calls", () => {
  it("count calls by operation and outcome", () => {
    const text = textOf(call(), call(), call({ outcome: "error" }), call({ operation: "docs.find" }));
    expect(text).toContain('trunkline_calls_total{operation="search",outcome="ok"} 2\n');
    expect(text).toContain('trunkline_calls_total{operation="search",outcome="error"} 1\n');
    expect(text).toContain('trunkline_calls_total{operation="docs.find",outcome="ok"} 1\n');
    expect(text).toContain("trunkline_result_bytes_total 400\n");
  });

  it("count durations in cumulative buckets", () => {
    const text = textOf(call({ durationMs: 5 }), call({ durationMs: 20 }), call({ durationMs: 90_000 }));
    expect(text).toContain('trunkline_call_duration_seconds_bucket{le="0.005"} 1\n');
    expect(text).toContain('trunkline_call_duration_seconds_bucket{le="0.025"} 2\n');
    expect(text).toContain('trunkline_call_duration_seconds_bucket{le="60"} 2\n');
    expect(text).toContain('trunkline_call_duration_seconds_bucket{le="+Inf"} 3\n');
    expect(text).toContain("trunkline_call_duration_seconds_sum 90.025\n");
    expect(text).toContain("trunkline_call_duration_seconds_count 3\n");
  });

  it("do not count news about definitions", () => {
    expect(textOf(call({ client: DEFINITION_NEWS.new }))).toContain("trunkline_call_duration_seconds_count 0\n");
  });

  it("stay bounded however many tools a server has", () => {
    const text = textOf(...Array.from({ length: 1_500 }, (_, at) => call({ operation: `docs.t${at}` })));
    expect(text.match(/^trunkline_calls_total\{/gm)).toHaveLength(1_001);
    expect(text).toContain('trunkline_calls_total{operation="other",outcome="ok"} 500\n');
  });

  it("cannot be forged by the name of a tool", () => {
    const text = textOf(call({ operation: 'docs.a"} 9\nfake_total{x="\\' }));
    expect(text).toContain('trunkline_calls_total{operation="docs.a\\"} 9\\nfake_total{x=\\"\\\\",outcome="ok"} 1\n');
    expect(text).not.toMatch(/^fake_total/m);
  });
});
