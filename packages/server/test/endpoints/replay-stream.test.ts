import { describe, expect, it } from "vitest";
import { ReplayBuffer, ReplayShare, type ReplayStream } from "../../src/endpoints/replay-stream.js";

const limits = { maxEvents: 10, maxBytes: 1_000, maxTotalBytes: 2_000 };

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
