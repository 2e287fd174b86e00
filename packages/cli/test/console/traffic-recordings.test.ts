import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LargeValue, Redactor } from "@trunkline/core";
import { journalFolder } from "@trunkline/gateway/journal";
import { JsonBytes } from "@trunkline/protocol";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CallRecordings, type Recording } from "../../src/console/call-recordings.js";
import { openTraffic } from "../../src/console/traffic-part.js";
import { openTestWorld, WORKSPACE } from "./console-workspace.js";

const KEY = "0123456789ab";

function record(
  recordings: CallRecordings,
  params: Readonly<Record<string, unknown>>,
  value: unknown = null,
  redactor = new Redactor(),
): string | undefined {
  const recorded = recordings.recorder(KEY, redactor).begin();
  recorded?.end({ params, outcome: { value } });
  return recorded?.id;
}

function started(): CallRecordings {
  const recordings = new CallRecordings();
  recordings.set(KEY, true);
  return recordings;
}

function kept(recordings: CallRecordings, id: string | undefined): Recording {
  const recording = recordings.find(KEY, id);
  if (recording === undefined) throw new Error("not recorded");
  return recording;
}

describe("the list of calls", () => {
  it("names an operation that does not exist as the client did", async () => {
    await using test = openTestWorld();
    const { context, storeFolder } = test.app;
    const folder = journalFolder(context.home, storeFolder);
    mkdirSync(folder, { recursive: true });
    const line = {
      at: "2026-11-15T06:30:00.000Z",
      client: "editor 1",
      op: "unknown",
      ms: 1,
      bytes: 0,
      outcome: "error",
    };
    writeFileSync(join(folder, "calls-000001.jsonl"), `${JSON.stringify({ ...line, asked: "jira.search" })}\n`);
    const { calls } = await openTraffic(test.world).handlers.calls({ workspace: WORKSPACE, limit: 5 }, test.request());
    expect(calls).toMatchObject([{ operation: "unknown (jira.search)", outcome: "error" }]);
  });
});

describe("recording calls", () => {
  it("keeps nothing until it is switched on, only for that workspace, and forgets it when switched off", () => {
    const recordings = new CallRecordings();
    expect(record(recordings, {})).toBeUndefined();
    recordings.set("another", true);
    expect(record(recordings, {})).toBeUndefined();
    recordings.set(KEY, true);
    const id = record(recordings, { a: 1 }, { b: 2 });
    expect(kept(recordings, id)).toEqual({
      arguments: { text: '{"a":1}', isCut: false, isRedacted: false },
      result: { text: '{"b":2}', isCut: false, isRedacted: false },
    });
    recordings.set(KEY, false);
    expect(recordings.find(KEY, id)).toBeUndefined();
    recordings.set(KEY, true);
    expect(recordings.find(KEY, id)).toBeUndefined();
  });

  it("a call that ends after recording was switched off is not kept", () => {
    const recordings = started();
    const recorded = recordings.recorder(KEY, new Redactor()).begin();
    recordings.set(KEY, false);
    recorded?.end({ params: {} });
    recordings.set(KEY, true);
    expect(recordings.find(KEY, recorded?.id)).toBeUndefined();
  });

  it("redacts before it keeps, and says so", () => {
    const recordings = started();
    const redactor = new Redactor().add("hunter2hunter2");
    const id = record(recordings, { a: ["x hunter2hunter2"] }, { hunter2hunter2: 1 }, redactor);
    const { arguments: given, result } = kept(recordings, id);
    expect(given).toMatchObject({ isRedacted: true });
    expect(JSON.stringify([given, result])).not.toContain("hunter2");
  });

  it("leaves no part of a secret where a value is cut", () => {
    const recordings = started();
    const redactor = new Redactor().add("hunter2hunter2");
    const text = `${"x".repeat(256 * 1024 - 10)}hunter2hunter2${"x".repeat(100_000)}`;
    const bytes = new JsonBytes(Buffer.from(JSON.stringify(text)));
    for (const value of [text, bytes]) {
      const { result } = kept(recordings, record(recordings, {}, value, redactor));
      expect(result.isCut).toBe(true);
      expect(result.text.length).toBe(256 * 1024);
      expect(result.text).not.toContain("hunter");
    }
  });

  it("does not read large values, and keeps at most 500 calls and 32 MB", () => {
    const recordings = started();
    const large = Object.assign(Object.create(LargeValue.prototype) as object, { sizeBytes: 9e9 });
    expect(kept(recordings, record(recordings, {}, large)).result.text).toContain("too large to be recorded");
    const ids = Array.from({ length: 600 }, (_, index) => record(recordings, { index }));
    expect(ids.filter((id) => recordings.find(KEY, id) !== undefined)).toEqual(ids.slice(-500));
    const heavy = Array.from({ length: 100 }, () => record(recordings, {}, "x".repeat(250_000)));
    const left = heavy.filter((id) => recordings.find(KEY, id) !== undefined);
    expect(left).toEqual(heavy.slice(-left.length));
    expect(left.length * 250_000 * 2).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(left.length).toBeGreaterThan(50);
  });

  it("never makes a call fail: what cannot be recorded is left out", () => {
    const recordings = started();
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const throwing = () => {
      throw new Error("not today");
    };
    const broken = [cyclic, { toJSON: throwing }, new JsonBytes(Buffer.from("{"))];
    for (const value of broken) {
      const id = record(recordings, { value }, { fine: true });
      expect(kept(recordings, id)).toMatchObject({ arguments: undefined, result: { text: '{"fine":true}' } });
      const { arguments: given, result } = kept(recordings, record(recordings, { fine: true }, value));
      expect(given?.text).toBe('{"fine":true}');
      expect(result.text).toBe('"(could not be recorded)"');
    }
    const redactor = Object.assign(new Redactor(), { value: throwing });
    expect(kept(recordings, record(recordings, { a: 1 }, 2, redactor))).toMatchObject({
      arguments: undefined,
      result: { text: '"(could not be recorded)"' },
    });
  });
});

describe("recording without a page", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("ends ten minutes after the last page was closed", async () => {
    await using test = openTestWorld();
    const { recordings } = test.world;
    const { handlers, watch, rest } = openTraffic(test.world);
    const isRecording = async () =>
      (await handlers.calls({ workspace: WORKSPACE, limit: 1 }, test.request())).isRecording;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    watch();
    await handlers["calls/record"]({ workspace: WORKSPACE, on: true }, test.request());
    recordings.set(KEY, true);
    const id = record(recordings, {});
    rest();
    vi.advanceTimersByTime(9 * 60_000);
    rest();
    watch();
    vi.advanceTimersByTime(60 * 60_000);
    expect(await isRecording()).toBe(true);
    expect(recordings.find(KEY, id)).toBeDefined();
    rest();
    vi.advanceTimersByTime(9 * 60_000);
    rest();
    vi.advanceTimersByTime(60_000);
    expect(await isRecording()).toBe(false);
    expect(recordings.find(KEY, id)).toBeUndefined();
  });

  it("ends also if it was begun without one", async () => {
    await using test = openTestWorld();
    const { recordings } = test.world;
    const { handlers, rest } = openTraffic(test.world);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    rest();
    vi.advanceTimersByTime(9 * 60_000);
    await handlers["calls/record"]({ workspace: WORKSPACE, on: true }, test.request());
    recordings.set(KEY, true);
    vi.advanceTimersByTime(9 * 60_000);
    expect(recordings.isOn(KEY)).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(recordings.isOn(KEY)).toBe(false);
  });
});
