// Compiles a pattern's tree to a nondeterministic automaton, and its sets to classes of characters that the automaton
// cannot tell apart. The matcher makes it deterministic while reading.
import { TrunklineError } from "@trunkline/core";
import { type CharSet, charSet, has, MAX_CODE_POINT } from "./char-set.js";
import type { Look, Node } from "./syntax.js";
import { asciiPerlClass, perlClass } from "./unicode.js";
import { utf8Sequences } from "./utf8.js";

export const OP_CHAR = 0;
export const OP_SPLIT = 1;
export const OP_LOOK = 2;
export const OP_MATCH = 3;

/** A look and which `\w` it uses. */
export interface LookOp {
  readonly look: Look;
  readonly ascii: boolean;
}

/**
 * Instruction `i` is `op[i]`. A character continues at `a` if it is in set `b`, a split at `a` (preferred) and `b`, look
 * `b` at `a`.
 */
export interface Automaton {
  readonly op: Uint8Array;
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly start: number;
  readonly sets: readonly CharSet[];
  readonly looks: readonly LookOp[];
  /** Whether the symbols are bytes instead of characters. */
  readonly bytes: boolean;
  /** Whether a match can only start at the beginning of a line. */
  readonly anchored: boolean;
}

const MAX_INSTRUCTIONS = 100_000;

class Builder {
  readonly op: number[] = [OP_MATCH];
  readonly a: number[] = [0];
  readonly b: number[] = [0];
  readonly sets: CharSet[] = [];
  readonly looks: LookOp[] = [];
  readonly #setIds = new Map<string, number>();
  readonly #lookIds = new Map<string, number>();
  readonly bytes: boolean;

  constructor(bytes: boolean) {
    this.bytes = bytes;
  }

  emit(op: number, a: number, b: number): number {
    if (this.op.length >= MAX_INSTRUCTIONS) {
      throw new TrunklineError("INVALID_ARGUMENT", "The pattern is too large: its repetitions multiply.", {
        hint: "Use smaller counts in {n,m}, or * and +.",
      });
    }
    this.a.push(a);
    this.b.push(b);
    return this.op.push(op) - 1;
  }

  set(set: CharSet): number {
    return idOf(this.#setIds, set.join(","), () => this.sets.push(set) - 1);
  }

  look(look: LookOp): number {
    return idOf(this.#lookIds, `${look.look} ${look.ascii}`, () => this.looks.push(look) - 1);
  }

  /** Emits instructions that match the node and continue at `next`; returns the first of them. */
  compile(node: Node, next: number): number {
    switch (node.kind) {
      case "empty":
        return next;
      case "set":
        return this.bytes && node.bytes !== true
          ? this.compileUtf8(node.set, next)
          : this.emit(OP_CHAR, next, this.set(node.set));
      case "look":
        return this.emit(OP_LOOK, next, this.look({ look: node.look, ascii: node.ascii }));
      case "concat":
        return node.parts.reduceRight((after, part) => this.compile(part, after), next);
      case "alternate":
        return node.branches
          .map((branch) => this.compile(branch, next))
          .reduceRight((others, branch) => this.emit(OP_SPLIT, branch, others));
      case "repeat":
        return this.compileRepeat(node, next);
    }
  }

  compileRepeat({ node, min, max, lazy }: Extract<Node, { kind: "repeat" }>, next: number): number {
    let after = next;
    if (max === undefined) {
      // The loop is a split, one branch of which is filled in once the body exists.
      const loop = this.emit(OP_SPLIT, next, next);
      (lazy ? this.b : this.a)[loop] = this.compile(node, loop);
      after = loop;
    } else {
      for (let count = min; count < max; count++) {
        const body = this.compile(node, after);
        after = lazy ? this.emit(OP_SPLIT, next, body) : this.emit(OP_SPLIT, body, next);
      }
    }
    for (let count = 0; count < min; count++) {
      const before = this.op.length;
      after = this.compile(node, after);
      // Nothing was added, so nothing ever will be, as with a{0} a thousand times.
      if (this.op.length === before) break;
    }
    return after;
  }

  compileUtf8(set: CharSet, next: number): number {
    const branches = utf8Sequences(set).map((sequence) =>
      sequence.reduceRight((after, range) => this.emit(OP_CHAR, after, this.set(range)), next),
    );
    return branches.reduceRight((others, branch) => this.emit(OP_SPLIT, branch, others));
  }
}

function idOf(ids: Map<string, number>, key: string, make: () => number): number {
  let id = ids.get(key);
  if (id === undefined) {
    id = make();
    ids.set(key, id);
  }
  return id;
}

/** Compiles a tree. Throws `INVALID_ARGUMENT` if its repetitions make it too large. */
export function buildAutomaton(node: Node): Automaton {
  const bytes = usesBytes(node);
  if (bytes && usesUnicodeWords(node)) {
    throw new TrunklineError(
      "INVALID_ARGUMENT",
      "The pattern combines a Unicode word boundary with a byte class ((?-u) with non-ASCII bytes), which is not possible.",
      { hint: "Write the boundary as (?-u:\\b)." },
    );
  }
  const builder = new Builder(bytes);
  const start = builder.compile(node, 0);
  return {
    op: Uint8Array.from(builder.op),
    a: Int32Array.from(builder.a),
    b: Int32Array.from(builder.b),
    start,
    sets: builder.sets,
    looks: builder.looks,
    bytes,
    anchored: isAnchored(node),
  };
}

function some(node: Node, test: (node: Node) => boolean): boolean {
  if (test(node)) return true;
  if (node.kind === "concat") return node.parts.some((part) => some(part, test));
  if (node.kind === "alternate") return node.branches.some((branch) => some(branch, test));
  return node.kind === "repeat" && some(node.node, test);
}

function usesBytes(node: Node): boolean {
  return some(node, (part) => part.kind === "set" && part.bytes === true);
}

function usesUnicodeWords(node: Node): boolean {
  return some(node, (part) => part.kind === "look" && !part.ascii && part.look.includes("word"));
}

function isAnchored(node: Node): boolean {
  switch (node.kind) {
    case "look":
      return node.look === "line-start";
    case "concat": {
      const first = node.parts.find(
        (part) => part.kind !== "empty" && !(part.kind === "concat" && part.parts.length === 0),
      );
      return first !== undefined && isAnchored(first);
    }
    case "alternate":
      return node.branches.every(isAnchored);
    case "repeat":
      return node.min > 0 && isAnchored(node.node);
    case "empty":
    case "set":
      return false;
  }
}

/** Classes of symbols that no set of the automaton tells apart, and what is known about each class. */
export interface SymbolClasses {
  /** The number of classes, including those for the line feed and for invalid bytes. */
  readonly count: number;
  readonly lineFeed: number;
  /** The class of a byte that is not part of a character. Nothing matches it, and it is not a word character. */
  readonly invalid: number;
  /** The class of every interval: symbols from `from[i]` up to the next. */
  readonly from: Int32Array;
  readonly classOfInterval: Int32Array;
  /** `inSet[set * count + class]`. */
  readonly inSet: Uint8Array;
  readonly isWord: Uint8Array;
  readonly isAsciiWord: Uint8Array;
}

/** Sorts all symbols into classes. */
export function classify(automaton: Automaton): SymbolClasses {
  const max = automaton.bytes ? 0xff : MAX_CODE_POINT;
  const needsWords = automaton.looks.some(({ look, ascii }) => !ascii && look.includes("word"));
  const asciiWord = asciiPerlClass("w");
  const word = needsWords ? perlClass("w") : asciiWord;
  const lineFeed = charSet([0x0a, 0x0a]);
  const all = [...automaton.sets, lineFeed, ...(automaton.looks.length > 0 ? [word, asciiWord] : [])];
  const starts = new Set<number>([0]);
  for (const set of all) {
    for (let index = 0; index < set.length; index += 2) {
      starts.add(set[index] as number);
      if ((set[index + 1] as number) < max) starts.add((set[index + 1] as number) + 1);
    }
  }
  const from = Int32Array.from([...starts].filter((symbol) => symbol <= max)).sort();
  const rough = new Int32Array(from.length);
  let roughCount = 1;
  for (const set of all) {
    const split = new Map<number, number>();
    let interval = 0;
    for (let index = 0; index < set.length; index += 2) {
      interval = intervalAt(from, set[index] as number, interval);
      for (; interval < from.length && (from[interval] as number) <= (set[index + 1] as number); interval++) {
        const old = rough[interval] as number;
        rough[interval] = split.get(old) ?? roughCount;
        if (!split.has(old)) split.set(old, roughCount++);
      }
    }
  }
  const ids = new Map<number, number>();
  const representative: number[] = [];
  const classOfInterval = rough.map((value, interval) => {
    let id = ids.get(value);
    if (id === undefined) {
      id = representative.push(from[interval] as number) - 1;
      ids.set(value, id);
    }
    return id;
  });
  const invalid = representative.length;
  const count = invalid + 1;
  const inSet = new Uint8Array(automaton.sets.length * count);
  automaton.sets.forEach((set, id) => {
    for (const [index, symbol] of representative.entries()) if (has(set, symbol)) inSet[id * count + index] = 1;
  });
  const flags = (set: CharSet) => Uint8Array.from([...representative.map((symbol) => (has(set, symbol) ? 1 : 0)), 0]);
  return {
    count,
    lineFeed: classOfInterval[intervalAt(from, 0x0a, 0)] as number,
    invalid,
    from,
    classOfInterval,
    inSet,
    isWord: flags(word),
    isAsciiWord: flags(asciiWord),
  };
}

/** Finds the interval that contains the symbol, searching from `low` on. */
export function intervalAt(from: Int32Array, symbol: number, low: number): number {
  let below = low;
  let above = from.length - 1;
  while (below < above) {
    const middle = (below + above + 1) >> 1;
    if ((from[middle] as number) <= symbol) below = middle;
    else above = middle - 1;
  }
  return below;
}
