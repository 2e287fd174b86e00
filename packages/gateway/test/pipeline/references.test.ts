import { parsePath, readPath, type Segment } from "@trunkline/core";
import { describe, expect, it } from "vitest";
import { growthOf, MAX_GROWTH } from "../../../../test/support/growth.js";
import { parseReference, resolveReferences } from "../../src/pipeline/references.js";
import { type StepRecord, StepScope } from "../../src/pipeline/step-trail.js";

const CONTENTS: Record<string, string> = { aaaabbbb: "the content", ccccdddd: "another" };

function step(value: unknown, more: Partial<StepRecord> = {}): StepRecord {
  return { op: "search", value, blocks: [], isUsed: false, ...more };
}

function scope(
  steps: readonly StepRecord[],
  options: { names?: Record<string, StepRecord>; item?: { value: unknown } } = {},
): StepScope {
  return new StepScope({
    steps,
    names: new Map(Object.entries(options.names ?? {})),
    item: options.item,
    readContent: async (id) => {
      const content = CONTENTS[id];
      if (content === undefined) throw new Error(`no content ${id}`);
      return content;
    },
  });
}

const found = {
  total: 3,
  results: [
    { hash: "aaaabbbb", path: "a.md", tags: ["x", "y"], "odd key": 1 },
    { hash: "ccccdddd", path: "b.md", tags: ["z"] },
    { path: "c.md", tags: [] },
  ],
  text: "a🙂b",
};

async function resolve(params: unknown, in_ = scope([step(found)])) {
  return await resolveReferences(params, in_);
}

describe("a reference", () => {
  it.each<[string, unknown]>([
    ["$prev", found],
    ["$prev.total", 3],
    ["$prev.results[0]", found.results[0]],
    ["$prev.results[0].hash", "aaaabbbb"],
    ["$prev.results[-1].path", "c.md"],
    ["$prev.results[1:].path", ["b.md", "c.md"]],
    ["$prev.results[0:2]", found.results.slice(0, 2)],
    ["$prev.results[-2:]", found.results.slice(-2)],
    ["$prev.results[:-1]", found.results.slice(0, 2)],
    ["$prev.results[1:3][0].path", "b.md"],
    ["$prev.results[*].path", ["a.md", "b.md", "c.md"]],
    ["$prev.results[*].tags[*]", ["x", "y", "z"]],
    ["$prev.results[*]", found.results],
    ['$prev.results[0]["odd key"]', 1],
    ["$prev.results[0]['odd key']", 1],
    ["$prev.results.1.path", "b.md"],
    ["$prev.text[0:2]", "a"],
    ["$prev.text[0:3]", "a🙂"],
    ["$steps[0].total", 3],
    ["$steps[-1].total", 3],
    ["{{$prev.total}}", 3],
    ["{{ $prev.total }}", 3],
    ["found {{$prev.total}} in {{$prev.results[0].path}}", "found 3 in a.md"],
    ["tags: {{$prev.results[0].tags}}", 'tags: ["x","y"]'],
    ["$hash:aaaabbbb", "the content"],
    ["$hash:$prev.results[1].hash", "another"],
    ["say {{$hash:aaaabbbb}}!", "say the content!"],
  ])("%s resolves", async (text, expected) => {
    expect(await resolve(text)).toEqual({ value: expected, warnings: [] });
  });

  it.each([
    "$previous",
    "$steps",
    "$steps.x",
    "$HOME/bin",
    "$5.00",
    "$",
    "{{name}}",
    "{{$unknown.x}}",
    "$hash:",
    "$hash:$unknown.hash",
    "a {{ b }} c",
  ])("%s is plain text and stays as it is", async (text) => {
    expect(await resolve(text)).toEqual({ value: text, warnings: [] });
  });

  it.each([
    ["$$prev.total", "$prev.total"],
    ["$$", "$"],
    ["$$$", "$$"],
    ["a {{$$prev.total}} b", "a {{$prev.total}} b"],
  ])("%s stands for a literal %s", async (text, expected) => {
    expect(await resolve(text)).toEqual({ value: expected, warnings: [] });
  });

  it.each([
    "$prev.nothing",
    "$prev.results[7].hash",
    "$prev.total.deeper",
    "$prev.total[0]",
    "$prev.total[*]",
    "$prev.constructor",
    "$prev.__proto__.x",
    "$steps[4].total",
    "$item",
    "$item.hash",
  ])("%s does not resolve: it becomes null, with a warning that names it", async (text) => {
    const { value, warnings } = await resolve(text);
    expect(value).toBeNull();
    expect(warnings).toEqual([expect.stringContaining(text)]);
  });

  it("reports how many items a map found nothing in", async () => {
    expect(await resolve("$prev.results[*].hash")).toEqual({
      value: ["aaaabbbb", "ccccdddd", null],
      warnings: ["$prev.results[*].hash is missing in 1 of 3 items; null was used."],
    });
  });

  it("resolves at any depth, but not in keys", async () => {
    const params = { a: [{ b: ["$prev.total", { $prev: "$prev.results[0].path" }] }], n: 1, t: true, z: null };
    expect((await resolve(params)).value).toEqual({ a: [{ b: [3, { $prev: "a.md" }] }], n: 1, t: true, z: null });
  });

  it("to $prev is an empty object before the first step", async () => {
    expect(await resolve("$prev", scope([]))).toEqual({ value: {}, warnings: [] });
    expect((await resolve("$prev.x", scope([]))).warnings).toEqual(["$prev.x does not exist; null was used."]);
  });

  it("can name a step or the current item", async () => {
    const named = scope([step(found)], {
      names: { issues: step({ items: [{ title: "T" }] }) },
      item: { value: { n: 1 } },
    });
    expect(await resolve("{{$issues.items[0].title}}!", named)).toEqual({ value: "T!", warnings: [] });
    expect(await resolve(["$item.n", "$item"], named)).toEqual({ value: [1, { n: 1 }], warnings: [] });
  });

  it("that leads nowhere inside a longer text is written as null, with a warning", async () => {
    expect(await resolve("x {{$prev.gone}} y")).toEqual({
      value: "x null y",
      warnings: [expect.stringMatching(/^\$prev\.gone does not exist; null was used\. \$prev has .*total/)],
    });
  });

  it.each([
    ["$prev.results.hash", "$prev.results is a list of 3."],
    ["$prev.results[0].hsh", "$prev.results[0] has "],
    ["$prev.results[0].path.x", "$prev.results[0].path is text."],
    ["$prev.total[*]", "$prev.total is 3."],
    ["$steps[0].gone", "$steps[0] has "],
  ])("%s leads nowhere, and the warning says what is there instead", async (text, expected) => {
    expect((await resolve(text)).warnings).toEqual([expect.stringContaining(`null was used. ${expected}`)]);
  });

  it.each([
    ["about $prev.total of them", "{{$prev.total}} inserts the value"],
    ["about ${prev.results[0].path}", "{{$prev.results[0].path}} inserts the value"],
    ["$issues and more", "{{$issues}} inserts the value"],
    ["$prev is nice", "{{$prev}} inserts the value"],
    ["$name.x", 'no earlier step has "as": "name"'],
    ["$gone.items[0]", 'no earlier step has "as": "gone"'],
    ["$prev.results[?total>1]", "a path has only .field, [0], [0:3] and [*]"],
  ])("%s is text, and a warning says how to make it a reference", async (text, expected) => {
    const named = scope([step(found)], { names: { issues: step({ items: [] }) } });
    expect(await resolve(text, named)).toEqual({ value: text, warnings: [expect.stringContaining(expected)] });
  });

  it.each(["costs $5", "$HOME/bin", "$schema", "$$prev.total", "a $$prev", "{{$$prev}}", "US$ and $other.field here"])(
    "%s is plain text without a warning",
    async (text) => {
      expect((await resolve(text)).warnings).toEqual([]);
    },
  );

  it("fails if the content does not exist", async () => {
    await expect(resolve("$hash:99999999")).rejects.toThrow("no content");
  });
});

describe("a server's step", () => {
  it("has the id of its stored value as its hash, and is stored on demand", async () => {
    let stored = 0;
    const upstream = step({ n: 1 }, { store: async () => `id-${++stored}` });
    expect((await resolve("$prev.n", scope([upstream]))).value).toBe(1);
    expect(stored).toBe(0);
    expect((await resolve("$prev.hash", scope([upstream]))).value).toBe("id-1");
    expect((await resolve("$steps[0].hash", scope([upstream]))).value).toBe("id-2");
  });

  it("keeps a hash field of its own, except in $hash:", async () => {
    const upstream = step({ hash: "commit" }, { store: async () => "aaaabbbb" });
    expect((await resolve("$prev.hash", scope([upstream]))).value).toBe("commit");
    expect((await resolve("$hash:$prev.hash", scope([upstream]))).value).toBe("the content");
  });

  it("also exposes its value as result, and its blocks", async () => {
    const blocks = [{ type: "image", data: "AA==" }];
    const upstream = step({ n: 1 }, { blocks, entry: { op: "a.b", success: true, result: { n: 1 } } });
    expect(
      (await resolve(["$prev.result.n", "$prev.n", "$prev.success", "$prev.blocks[0].data"], scope([upstream]))).value,
    ).toEqual([1, 1, true, "AA=="]);
  });
});

describe("random paths", () => {
  // A small seeded generator, so that a failure can be reproduced.
  function random(seed: number) {
    let state = seed;
    return (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
  }
  const NAMES = ["a", "b_c", "c-d", "ümlaut", "x y", 'q"uote', "1", "hash"];

  function randomValue(next: (below: number) => number, depth: number): unknown {
    const kind = depth === 0 ? next(3) : next(5);
    if (kind === 0) return next(100);
    if (kind === 1) return `text ${next(100)}`;
    if (kind === 2) return next(2) === 0;
    if (kind === 3) return Array.from({ length: next(4) + 1 }, () => randomValue(next, depth - 1));
    return Object.fromEntries(
      NAMES.slice(0, next(NAMES.length) + 1).map((name) => [name, randomValue(next, depth - 1)]),
    );
  }

  /** Builds a path into the value, with the expected result. */
  function randomPath(value: unknown, next: (below: number) => number): { text: string; expected: unknown } {
    if (next(5) === 0) return { text: "", expected: value };
    if (Array.isArray(value) && value.length > 0) {
      const index = next(value.length);
      const rest = randomPath(value[index], next);
      return { text: `[${next(2) === 0 ? index : index - value.length}]${rest.text}`, expected: rest.expected };
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const entries = Object.entries(value);
      const [name, inner] = entries[next(entries.length)] as [string, unknown];
      const rest = randomPath(inner, next);
      const simple = /^[\p{L}\p{N}_-]+$/u.test(name) && next(2) === 0;
      return { text: `${simple ? `.${name}` : `[${JSON.stringify(name)}]`}${rest.text}`, expected: rest.expected };
    }
    return { text: "", expected: value };
  }

  it("resolve to the value they point to", async () => {
    for (let seed = 1; seed <= 500; seed++) {
      const next = random(seed);
      const value = randomValue(next, 4);
      const { text, expected } = randomPath(value, next);
      const { value: resolved, warnings } = await resolve(`$prev${text}`, scope([step(value)]));
      expect(resolved, `seed ${seed}: $prev${text}`).toEqual(expected);
      expect(warnings, `seed ${seed}`).toEqual([]);
    }
  });

  it("that lead nowhere become null with exactly one warning", async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const next = random(seed);
      const { text } = randomPath(randomValue(next, 3), next);
      const { value, warnings } = await resolve(`$prev${text}.certainly_not_there`, scope([step({})]));
      expect(value).toBeNull();
      expect(warnings).toHaveLength(1);
    }
  });

  it("map like a loop", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const next = random(seed);
      const items = Array.from({ length: next(5) }, () => randomValue(next, 3));
      const { text } = items.length === 0 ? { text: "" } : randomPath(items[0], next);
      const rest = parsePath(text) as readonly Segment[];
      const each = items.map((item) => readPath(item, rest));
      expect(readPath(items, [{ kind: "map" }, ...rest])).toEqual({
        value: each.map(({ value }) => value),
        missing: each.reduce((sum, { missing }) => sum + missing, 0),
      });
    }
  });

  it("never make the parser throw or slow down", () => {
    const pieces = [
      "$",
      "prev",
      ".",
      "[",
      "]",
      "*",
      ":",
      "0",
      "-1",
      '"',
      "'",
      "\\",
      "a",
      "{{",
      "}}",
      " ",
      "$hash:",
      "🙂",
    ];
    for (let seed = 1; seed <= 3000; seed++) {
      const next = random(seed);
      const text = `$prev${Array.from({ length: next(14) }, () => pieces[next(pieces.length)]).join("")}`;
      expect(() => parseReference(text, () => true), text).not.toThrow();
    }
  });

  it.each([
    ["openings", (size: number) => "{{$".repeat(size / 3)],
    ["brackets", (size: number) => `{{$prev${"[".repeat(size)}`],
    ["fields", (size: number) => `$prev${".a".repeat(size / 2)}!`],
    ["quotation marks", (size: number) => `{{$${'"'.repeat(size)}`],
  ])("long hostile text is read in time proportional to its length: %s", async (_, make) => {
    expect(Object.keys(await resolve(make(400_000)))).toContain("value");
    expect(await growthOf(make, resolve)).toBeLessThan(MAX_GROWTH);
  });
});
