import { describe, expect, it } from "vitest";
import { collectPages } from "../../src/connection/list-pages.js";

/** Asks for a list whose pages are these by cursor, the first one under "". */
async function collect(pages: Record<string, Record<string, unknown>>) {
  const asked: string[] = [];
  const { items, isComplete } = await collectPages("things", async ({ cursor = "" }) => {
    asked.push(cursor);
    return pages[cursor] ?? {};
  });
  return { names: items.map(({ name }) => name), isComplete, asked };
}

const thing = (name: string) => ({ name });

describe("a list in pages", () => {
  it("is followed to its end, in order", async () => {
    const pages = {
      "": { things: [thing("a"), thing("b")], nextCursor: "2" },
      "2": { things: [], nextCursor: "3" },
      "3": { things: [thing("c")] },
    };
    expect(await collect(pages)).toEqual({ names: ["a", "b", "c"], isComplete: true, asked: ["", "2", "3"] });
  });

  it("is given as far as it came where a cursor is empty or comes again", async () => {
    const circle = { "": { things: [thing("a")], nextCursor: "x" }, x: { things: [thing("b")], nextCursor: "x" } };
    expect(await collect(circle)).toEqual({ names: ["a", "b"], isComplete: false, asked: ["", "x"] });
    const empty = { "": { things: [thing("a")], nextCursor: "" } };
    expect(await collect(empty)).toEqual({ names: ["a"], isComplete: false, asked: [""] });
  });

  it("is given up after a thousand cursors", async () => {
    let pages = 0;
    const { items, isComplete } = await collectPages("things", async () => ({
      things: [thing(String(++pages))],
      nextCursor: String(pages),
    }));
    expect({ count: items.length, isComplete }).toEqual({ count: 1_001, isComplete: false });
  });

  it("leaves out what is no item, and may have no items at all", async () => {
    expect(await collect({ "": { things: [1, null, thing("a"), "b"] } })).toMatchObject({ names: ["a"] });
    expect(await collect({ "": { things: "none" } })).toEqual({ names: [], isComplete: true, asked: [""] });
  });
});
