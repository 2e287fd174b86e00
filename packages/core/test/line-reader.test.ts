import { describe, expect, it } from "vitest";
import { LineReader } from "../src/index.js";

/** Reads chunks, and returns the lines, with "!" for one that was too long. */
function linesOf(chunks: readonly string[], options?: { maxBytes: number }): string[] {
  const lines: string[] = [];
  const listener = { onLine: (bytes: Buffer) => lines.push(bytes.toString()), onTooLong: () => lines.push("!") };
  const reader = new LineReader(listener, options);
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return lines;
}

describe("a line reader", () => {
  it("joins the parts of a line, and keeps empty ones", () => {
    expect(linesOf(["a", "b", "c\nd", "\n\ne"])).toEqual(["abc", "d", "", "e"]);
  });

  it("drops a line that is too long, wherever it is divided, and no other", () => {
    const text = "1234\n12345\n12\n123456789";
    for (let size = 1; size <= text.length; size++) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      expect(linesOf(chunks, { maxBytes: 4 })).toEqual(["1234", "!", "12", "!"]);
    }
  });
});
