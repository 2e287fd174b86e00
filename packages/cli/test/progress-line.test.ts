import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createContext } from "../src/terminal/context.js";
import { ProgressLine, progressLineFor } from "../src/terminal/progress-line.js";

const ERASE = "\r\u001b[K";

/** A terminal that records its output. */
class FakeScreen {
  written: string[] = [];
  columns: number;

  constructor(columns = 80) {
    this.columns = columns;
  }

  write(text: string): void {
    this.written.push(text);
  }
}

describe("the progress line", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("updates in place, no faster than the eye can follow, and ends with the last update", () => {
    const screen = new FakeScreen();
    const line = new ProgressLine(screen);
    for (let step = 1; step <= 1000; step++) line.update(`${step}/1000`);
    expect(screen.written).toEqual([`${ERASE}1/1000`]);
    vi.advanceTimersByTime(1000);
    expect(screen.written).toEqual([`${ERASE}1/1000`, `${ERASE}1000/1000`]);
  });

  it("is cleared before any other output and drops pending updates", () => {
    const screen = new FakeScreen();
    const line = new ProgressLine(screen);
    line.clear();
    expect(screen.written).toEqual([]);
    line.update("1");
    line.update("2");
    line.clear();
    vi.advanceTimersByTime(1000);
    expect(screen.written).toEqual([`${ERASE}1`, ERASE]);
  });

  it("stays hidden during a question", () => {
    const screen = new FakeScreen();
    const line = new ProgressLine(screen);
    line.update("1");
    vi.advanceTimersByTime(1000);
    {
      using _held = line.hold();
      line.update("2");
      vi.advanceTimersByTime(1000);
    }
    expect(screen.written).toEqual([`${ERASE}1`, ERASE]);
    line.update("3");
    expect(screen.written.at(-1)).toBe(`${ERASE}3`);
  });

  it.each([
    [10, "123456789012", "123456789"],
    [10, "界界界界界界", "界界界界"],
    [0, "unknown width", "unknown width"],
  ])("fits in one row of %i columns", (columns, text, shown) => {
    const screen = new FakeScreen(columns);
    new ProgressLine(screen).update(text);
    expect(screen.written).toEqual([`${ERASE}${shown}`]);
  });
});

describe("the spinner", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("turns until the line is cleared, in front of the latest text", () => {
    const screen = new FakeScreen();
    const line = new ProgressLine(screen, (text) => `<${text}>`);
    line.spin("checking a, b");
    vi.advanceTimersByTime(80);
    line.spin("checking b");
    vi.advanceTimersByTime(80);
    expect(screen.written.at(0)).toBe(`${ERASE}<⠋> checking a, b`);
    expect(screen.written.at(-1)).toBe(`${ERASE}<⠹> checking b`);
    line.clear();
    const before = screen.written.length;
    vi.advanceTimersByTime(1000);
    expect(screen.written.slice(before - 1)).toEqual([ERASE]);
    line.update("no spinner");
    expect(screen.written.at(-1)).toBe(`${ERASE}no spinner`);
  });

  it("gives way to a note, and comes back with its next turn", () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    const env = { TERM: "xterm", NO_COLOR: "1" };
    const context = createContext({ stdin, stdout, stderr, env, cwd: "/", userHome: "/" });
    using line = progressLineFor(context);
    line?.spin("waiting");
    context.note("warning: careful");
    expect(String(stderr.read())).toBe(`${ERASE}⠋ waiting${ERASE}warning: careful\n`);
    vi.advanceTimersByTime(80);
    expect(String(stderr.read())).toBe(`${ERASE}⠙ waiting`);
  });

  it("fits in one row together with its text, and is hidden during a question", () => {
    const screen = new FakeScreen(10);
    const line = new ProgressLine(screen);
    line.spin("123456789012");
    expect(screen.written).toEqual([`${ERASE}⠋ 1234567`]);
    using _held = line.hold();
    vi.advanceTimersByTime(1000);
    expect(screen.written).toEqual([`${ERASE}⠋ 1234567`, ERASE]);
  });
});
