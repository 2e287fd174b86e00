import { expect, it } from "vitest";
import { ClientLines } from "../src/relay/client-lines.js";

const MB = 1024 * 1024;

/** The lines of these chunks; long ones by their length. */
function linesOf(chunks: readonly (string | Buffer)[]): (string | number)[] {
  const lines: (string | number)[] = [];
  const reader = new ClientLines((line) => void lines.push(line.length > 100 ? line.length : line.toString()));
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.flush();
  return lines;
}

it("finds lines however they are split", () => {
  expect(linesOf(["a\nb", "c\n\n", "d", "", "e"])).toEqual(["a", "bc", "de"]);
});

it("passes on the beginning of a line that is too long, and nothing of its rest", () => {
  const part = Buffer.alloc(40 * MB, "x");
  expect(linesOf([part, part, '{"id":1}', part, '{"id":2}\n{"id":3}\n'])).toEqual([80 * MB, '{"id":3}']);
  expect(linesOf([part, part, "\n", "a\n"])).toEqual([80 * MB, "a"]);
  expect(linesOf([part, part, "rest"])).toEqual([80 * MB]);
});
