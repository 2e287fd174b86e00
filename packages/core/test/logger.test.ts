import { describe, expect, it } from "vitest";
import { createLogger, type LoggerOptions, Redactor, TrunklineError } from "../src/index.js";

const clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678), monotonicMs: () => 0 };

function collect(options: LoggerOptions = {}) {
  const lines: string[] = [];
  return { lines, logger: createLogger({ clock, write: (line) => lines.push(line), ...options }) };
}

describe("logger", () => {
  it("writes one line of text with its fields", () => {
    const { lines, logger } = collect();
    logger.warn("server ended", { server: "docs", tookMs: 12, why: "two words" });
    expect(lines).toEqual(['03:04:05.678 warn  server ended server=docs tookMs=12 why="two words"\n']);
  });

  it("writes one JSON object per line", () => {
    const { lines, logger } = collect({ format: "json" });
    logger.info("ready", { url: "http://x" });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { time: "2026-01-02T03:04:05.678Z", level: "info", message: "ready", url: "http://x" },
    ]);
  });

  it("writes nothing below its level", () => {
    const { lines, logger } = collect({ level: "warn" });
    logger.debug("a");
    logger.info("b");
    logger.error("c");
    expect(lines).toHaveLength(1);
  });

  it("adds the fields of a child to every line", () => {
    const { lines, logger } = collect();
    logger.child({ server: "docs" }).error("failed", { error: new TrunklineError("TIMEOUT", "too slow") });
    expect(lines[0]).toContain('server=docs error="TIMEOUT: too slow"');
  });

  it.each(["text", "json"] as const)("never writes a secret as %s, in a message, a field or an error", (format) => {
    const { lines, logger } = collect({ format, redactor: new Redactor().add('se"cret') });
    logger.info('with se"cret', { nested: { list: ['se"cret'] }, error: new Error('se"cret') });
    expect(lines.join("")).not.toContain("cret");
  });

  it("stays on one line whatever a server sends", () => {
    const { lines, logger } = collect();
    logger.info("two\nlines", { more: "a\nb" });
    expect(lines[0]?.trimEnd()).not.toContain("\n");
  });
});
