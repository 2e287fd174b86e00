import { afterEach, describe, expect, it, vi } from "vitest";
import { ReplayBuffer, ReplayShare, type ReplayStream } from "../../src/endpoints/replay-stream.js";

const limits = { keptMs: 60_000, maxEvents: 10, maxBytes: 1_000, maxTotalBytes: 2_000 };

/** Sends a message of about 500 bytes. */
function say(stream: ReplayStream): void {
  stream.send({ jsonrpc: "2.0", method: "notifications/message", params: { data: "x".repeat(440) } });
}

/** Creates sessions that share one limit; `kept` counts what each has buffered. */
function sessions(count: number) {
  const share = new ReplayShare(limits);
  return Array.from({ length: count }, () => {
    const buffer = new ReplayBuffer(limits, share);
    const stream = buffer.open({ primed: true, headers: {} });
    return { buffer, stream, kept: () => buffer.after(stream, 0).length };
  });
}

describe("what sessions buffer for clients that come back", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is dropped after a while, and its room is free for others", () => {
    vi.useFakeTimers();
    const [one, two, three] = sessions(3);
    if (one === undefined || two === undefined || three === undefined) throw new Error("There are three.");
    for (const { stream } of [one, two]) say(stream);
    vi.advanceTimersByTime(40_000);
    say(two.stream);
    vi.advanceTimersByTime(40_000);
    for (const { buffer } of [one, two]) buffer.forgetOld();
    expect([one, two].map(({ kept }) => kept())).toEqual([0, 1]);
    say(three.stream);
    say(one.stream);
    expect([one, two, three].map(({ kept }) => kept())).toEqual([1, 1, 1]);
  });

  it("has each changed list once, however often it changed", () => {
    const [one] = sessions(1);
    if (one === undefined) throw new Error("There is one.");
    const change = (list: string) => one.stream.send({ jsonrpc: "2.0", method: `notifications/${list}/list_changed` });
    for (let times = 0; times < 3; times++) for (const list of ["tools", "prompts"]) change(list);
    say(one.stream);
    change("tools");
    const kept = one.buffer.after(one.stream, 0);
    expect(kept.map(({ data }) => JSON.parse(String(data)).method)).toEqual([
      "notifications/prompts/list_changed",
      "notifications/message",
      "notifications/tools/list_changed",
    ]);
    // The numbers go on, so that a client can resume from any event that it has seen.
    expect(kept.map(({ number }) => number)).toEqual([6, 7, 8]);
  });

  it("keeps an ended stream only as long as its events", () => {
    vi.useFakeTimers();
    const [one] = sessions(1);
    const stream = one?.buffer.open({ primed: true, headers: {} });
    if (one === undefined || stream === undefined) throw new Error("There is one.");
    say(stream);
    stream.end();
    one.buffer.forgetOld();
    expect(one.buffer.find(`${stream.id}-1`)?.stream).toBe(stream);
    vi.advanceTimersByTime(80_000);
    one.buffer.forgetOld();
    expect(one.buffer.find(`${stream.id}-1`)).toBeUndefined();
  });

  it("is limited per session", () => {
    const [one] = sessions(1);
    for (let said = 0; said < 5; said++) if (one) say(one.stream);
    expect(one?.kept()).toBe(1);
  });

  it("is limited overall: the session that has been idle longest drops its buffer and continues", () => {
    const all = sessions(40);
    for (const { stream } of all) say(stream);
    expect(all.map(({ kept }) => kept())).toEqual([...Array(37).fill(0), 1, 1, 1]);
    const [first] = all;
    if (first) say(first.stream);
    expect(all.map(({ kept }) => kept())).toEqual([1, ...Array(37).fill(0), 1, 1]);
  });

  it("no longer counts once the session has ended", () => {
    const all = sessions(4);
    for (const { stream } of all.slice(0, 3)) say(stream);
    all[1]?.buffer.close();
    if (all[3]) say(all[3].stream);
    expect(all.map(({ kept }) => kept())).toEqual([1, 0, 1, 1]);
  });
});
