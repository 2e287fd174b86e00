import { describe, expect, it } from "vitest";
import { ListPages } from "../../src/connection/list-pages.js";

/** Collects a list from these pages, keyed by cursor; the first one is under "". */
function collect(pages: Record<string, Record<string, unknown>>) {
  const asked: string[] = [];
  const list = new ListPages("things");
  for (let next: { cursor?: string } | undefined = {}; next !== undefined; ) {
    const { cursor = "" } = next;
    asked.push(cursor);
    next = list.add(pages[cursor] ?? {});
  }
  return { names: list.items.map(({ name }) => name), isComplete: list.problem === undefined, asked };
}

const thing = (name: string) => ({ name });

describe("a paged list", () => {
  it("is read to the end, in order", () => {
    const pages = {
      "": { things: [thing("a"), thing("b")], nextCursor: "2" },
      "2": { things: [], nextCursor: "3" },
      "3": { things: [thing("c")] },
    };
    expect(collect(pages)).toEqual({ names: ["a", "b", "c"], isComplete: true, asked: ["", "2", "3"] });
  });

  it("returns the items so far if a cursor is empty or repeats", () => {
    const circle = { "": { things: [thing("a")], nextCursor: "x" }, x: { things: [thing("b")], nextCursor: "x" } };
    expect(collect(circle)).toEqual({ names: ["a", "b"], isComplete: false, asked: ["", "x"] });
    const empty = { "": { things: [thing("a")], nextCursor: "" } };
    expect(collect(empty)).toEqual({ names: ["a"], isComplete: false, asked: [""] });
  });

  it("gives up after a thousand cursors", () => {
    const list = new ListPages("things");
    let pages = 0;
    while (list.add({ things: [thing(String(++pages))], nextCursor: String(pages) }) !== undefined);
    expect({ count: list.items.length, isComplete: list.problem === undefined }).toEqual({
      count: 1_001,
      isComplete: false,
    });
  });

  it("skips values that are not items, and can be empty", () => {
    expect(collect({ "": { things: [1, null, thing("a"), "b"] } })).toMatchObject({ names: ["a"] });
    expect(collect({ "": { things: "none" } })).toEqual({ names: [], isComplete: true, asked: [""] });
  });
});
