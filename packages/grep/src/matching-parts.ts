// Finds the matching parts of a line, as `rg --only-matching` does: the leftmost match first; of those that start there,
// the one that the pattern prefers. Follows all paths through the automaton at once, in order of preference, so it
// never backtracks.
import {
  type Automaton,
  classify,
  intervalAt,
  type LookOp,
  OP_CHAR,
  OP_LOOK,
  OP_MATCH,
  OP_SPLIT,
  type SymbolClasses,
} from "./automaton.js";
import { AT_START, bitsAfter, holds } from "./looks.js";
import type { Checkpoint } from "./matcher.js";
import { decode } from "./utf8.js";

/** A line without its line feed. */
interface Line {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

interface Found {
  readonly start: number;
  readonly end: number;
  /** What is known about the character before `end`. */
  readonly before: number;
}

/** Instructions processed between two checkpoints. */
const WORK_PER_CHECK = 50_000;

/** Not reentrant. */
export class PartFinder {
  readonly #automaton: Automaton;
  readonly #classes: SymbolClasses;
  readonly #asciiClass: Uint16Array;
  readonly #mark: Int32Array;
  #markValue = 0;
  readonly #stack: number[] = [];
  #work = 0;
  /** The paths at the current position, the preferred one first: instructions and where the match started. */
  #paths: number[] = [];
  #starts: number[] = [];

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#classes = classify(automaton);
    this.#mark = new Int32Array(automaton.op.length);
    this.#asciiClass = Uint16Array.from({ length: automaton.bytes ? 256 : 128 }, (_, byte) => this.#classOf(byte));
  }

  /** Yields the parts of a line that match, as offsets. Empty ones are left out. */
  *parts(line: Line, checkpoint: Checkpoint): Generator<readonly [start: number, end: number]> {
    let position = line.start;
    let before = AT_START;
    while (position <= line.end) {
      const found = this.#find(line, { position, before }, checkpoint);
      if (found === undefined) return;
      if (found.end > found.start) {
        yield [found.start, found.end];
        ({ end: position, before } = found);
        continue;
      }
      if (found.end >= line.end) return;
      const symbol = this.#symbolAt(line, found.end);
      position = found.end + (symbol & 7);
      before = bitsAfter(symbol >> 3, this.#classes);
    }
  }

  #find(line: Line, from: { position: number; before: number }, checkpoint: Checkpoint): Found | undefined {
    const { op, a, b, start, anchored } = this.#automaton;
    const { inSet, count } = this.#classes;
    let { position, before } = from;
    let found: Found | undefined;
    let nextPaths: number[] = [];
    let nextStarts: number[] = [];
    while (true) {
      const symbol = this.#symbolAt(line, position);
      const symbolClass = symbol >> 3;
      this.#paths = [];
      this.#starts = [];
      this.#markValue++;
      for (let index = 0; index < nextPaths.length; index++) {
        this.#follow(nextPaths[index] as number, nextStarts[index] as number, { before, symbolClass });
      }
      // A later start only counts if no match has been found.
      if (found === undefined && !(anchored && position > line.start)) {
        this.#follow(start, position, { before, symbolClass });
      }
      nextPaths = [];
      nextStarts = [];
      for (let index = 0; index < this.#paths.length; index++) {
        const instruction = this.#paths[index] as number;
        const startedAt = this.#starts[index] as number;
        if (op[instruction] === OP_MATCH) {
          found = { start: startedAt, end: position, before };
          // The other paths are less preferred.
          break;
        }
        if (inSet[(b[instruction] as number) * count + symbolClass] !== 1) continue;
        nextPaths.push(a[instruction] as number);
        nextStarts.push(startedAt);
      }
      this.#work += this.#paths.length + 1;
      if (this.#work > WORK_PER_CHECK) {
        this.#work = 0;
        checkpoint();
      }
      if (position >= line.end || (nextPaths.length === 0 && (found !== undefined || anchored))) return found;
      before = bitsAfter(symbolClass, this.#classes);
      position += symbol & 7;
    }
  }

  /** Adds the characters and the match that an instruction leads to, in order of preference. */
  #follow(instruction: number, startedAt: number, at: { before: number; symbolClass: number }): void {
    const { op, a, b, looks } = this.#automaton;
    const stack = this.#stack;
    stack.push(instruction);
    while (stack.length > 0) {
      const current = stack.pop() as number;
      if (this.#mark[current] === this.#markValue) continue;
      this.#mark[current] = this.#markValue;
      switch (op[current]) {
        case OP_SPLIT:
          stack.push(b[current] as number, a[current] as number);
          break;
        case OP_LOOK:
          if (holds(looks[b[current] as number] as LookOp, { ...at, classes: this.#classes })) {
            stack.push(a[current] as number);
          }
          break;
        case OP_CHAR:
        case OP_MATCH:
          this.#paths.push(current);
          this.#starts.push(startedAt);
      }
    }
  }

  /** Returns the class of the symbol at the position times 8, plus its length. The end of the line is a line feed. */
  #symbolAt({ bytes, end }: Line, position: number): number {
    if (position >= end) return this.#classes.lineFeed << 3;
    const known = this.#asciiClass[bytes[position] as number];
    if (known !== undefined) return (known << 3) | 1;
    const decoded = decode(bytes, position, end);
    const codePoint = decoded >> 3;
    return ((codePoint < 0 ? this.#classes.invalid : this.#classOf(codePoint)) << 3) | (decoded & 7);
  }

  #classOf(symbol: number): number {
    const { from, classOfInterval } = this.#classes;
    return classOfInterval[intervalAt(from, symbol, 0)] as number;
  }
}
