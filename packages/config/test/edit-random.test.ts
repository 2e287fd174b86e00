import { findNodeAtLocation, type ParseError, parse, parseTree } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { removeJson, setJson } from "../src/edit-json.js";

/** Creates a random number generator that is the same in every run (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Generates a file with comments, line breaks and trailing commas wherever they are allowed. */
function randomFile(random: (below: number) => number): string {
  let count = 0;
  const gap = (): string => {
    const pieces = [" ", "\n", "\n  ", "\t", () => `/* c${count++}. */`, () => `// c${count++}., "x": {}\n`];
    return Array.from({ length: random(3) }, () => pieces[random(pieces.length)])
      .map((piece) => (typeof piece === "function" ? piece() : (piece ?? "")))
      .join("");
  };
  const value = (depth: number): string =>
    depth > 2 || random(3) === 0 ? (["1", '"a, b // {"', "true", "[1, 2]", "{}"][random(5)] ?? "") : object(depth + 1);
  const object = (depth: number): string => {
    const size = random(4);
    let text = `{${gap()}`;
    for (let index = 0; index < size; index++) {
      text += `"k${index}"${gap()}:${gap()}${value(depth)}${gap()}`;
      if (index < size - 1 || random(4) === 0) text += `,${gap()}`;
    }
    return `${text}${gap()}}`;
  };
  return `${gap()}{${gap()}"servers":${gap()}${object(0)}${gap()}${random(2) === 0 ? "" : ","}${gap()}}${gap()}`;
}

/** Parses a text, which must be valid. */
function soundValue(text: string): { servers: Record<string, unknown> } {
  const errors: ParseError[] = [];
  const value = parse(text, errors, { allowTrailingComma: true });
  expect(errors, text).toEqual([]);
  return value;
}

const commentsOf = (text: string): string[] => text.match(/c\d+\./g) ?? [];

const SEEDS = [1, 2, 3, 4];

describe("editing files of every shape", () => {
  it.each(SEEDS)("sets exactly one entry and keeps every comment outside it (seed %i)", (seed) => {
    const random = randomFrom(seed);
    for (let run = 0; run < 500; run++) {
      const text = randomFile(random);
      const name = `k${random(5)}`;
      const before = soundValue(text);
      const node = findNodeAtLocation(parseTree(text) ?? never(), ["servers", name]);
      const inside = node === undefined ? [] : commentsOf(text.slice(node.offset, node.offset + node.length));
      const after = setJson(text, ["servers", name], { set: 1 });
      expect(soundValue(after), text).toEqual({ servers: { ...before.servers, [name]: { set: 1 } } });
      expect(commentsOf(after), text).toEqual(commentsOf(text).filter((comment) => !inside.includes(comment)));
    }
  });

  it.each(SEEDS)("removes exactly one entry and keeps every comment before it (seed %i)", (seed) => {
    const random = randomFrom(seed);
    for (let run = 0; run < 500; run++) {
      const text = randomFile(random);
      const name = `k${random(4)}`;
      const before = soundValue(text);
      const property = findNodeAtLocation(parseTree(text) ?? never(), ["servers", name])?.parent;
      const after = removeJson(text, ["servers", name]);
      if (property === undefined) {
        expect(after).toBe(text);
        continue;
      }
      const { [name]: _, ...rest } = before.servers;
      expect(soundValue(after), text).toEqual({ servers: rest });
      expect(commentsOf(after), text).toEqual(expect.arrayContaining(commentsOf(text.slice(0, property.offset))));
    }
  });
});

function never(): never {
  throw new Error("no tree");
}
