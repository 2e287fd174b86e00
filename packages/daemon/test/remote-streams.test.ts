import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { RemoteOutput } from "../src/server/remote-streams.js";
import { FRAME, FrameReader } from "../src/wire/frames.js";

/** A relaying process that has room for a while. */
class Relaying {
  hasRoom = true;
  readonly frames: { kind: number; payload: Buffer }[] = [];
  readonly #reader = new FrameReader((kind, payload) => void this.frames.push({ kind, payload }));
  readonly stdout = this.#output(FRAME.stdout);
  readonly stderr = this.#output(FRAME.stderr);

  #output(kind: typeof FRAME.stdout | typeof FRAME.stderr): RemoteOutput {
    const send = (frame: Buffer) => {
      this.#reader.push(frame);
      return this.hasRoom;
    };
    return new RemoteOutput(kind, { isTTY: false, send });
  }
}

describe("the output of a command in the broker", () => {
  it("keeps the order of stdout and stderr, even if the relaying process is behind", () => {
    const relaying = new Relaying();
    relaying.hasRoom = false;
    relaying.stdout.write("one ");
    relaying.stderr.write("two ");
    relaying.stdout.write("three");
    expect(relaying.frames.map(({ kind, payload }) => [kind, payload.toString()])).toEqual([
      [FRAME.stdout, "one "],
      [FRAME.stderr, "two "],
      [FRAME.stdout, "three"],
    ]);
  });

  it("says when to wait, and when there is room again", async () => {
    const relaying = new Relaying();
    expect(relaying.stdout.write("x".repeat(1_000_000))).toBe(true);
    relaying.hasRoom = false;
    expect(relaying.stdout.write("x")).toBe(false);
    const drained = once(relaying.stdout, "drain");
    relaying.stdout.onRoom();
    await drained;
    relaying.hasRoom = true;
    expect(relaying.stdout.write("x")).toBe(true);
  });

  it("is split into frames of a moderate size", () => {
    const relaying = new Relaying();
    const bytes = Buffer.from(Array.from({ length: 1_000_000 }, (_, at) => at % 251));
    relaying.stdout.write(bytes);
    expect(Math.max(...relaying.frames.map(({ payload }) => payload.length))).toBeLessThanOrEqual(256 * 1024);
    expect(Buffer.concat(relaying.frames.map(({ payload }) => payload)).equals(bytes)).toBe(true);
  });
});
