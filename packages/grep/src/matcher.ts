// Finds matching lines in linear time with a deterministic automaton, built lazily from the nondeterministic one as the
// text needs its states. There is no backtracking, so no pattern can run away on a hostile text. Works on the bytes
// themselves; invalid UTF-8 matches nothing, as in ripgrep.
import {
  type Automaton,
  classify,
  intervalAt,
  type LookOp,
  OP_CHAR,
  OP_MATCH,
  OP_SPLIT,
  type SymbolClasses,
} from "./automaton.js";
import { AFTER_ASCII_WORD, AFTER_INVALID, AFTER_WORD, AT_START, bitsAfter, holds } from "./looks.js";
import { decode } from "./utf8.js";

const UNKNOWN = -1;
const MATCH = -2;
const DEAD = -3;
/** Marks a byte that starts a multi-byte character. */
const MULTI = -4;

/** States are discarded when their table reaches this many entries. */
const MAX_TABLE = 4 << 20;
const SLAB_BYTES = 1 << 20;
/** Instructions processed between two checkpoints while building states: well under a millisecond. */
const WORK_PER_CHECK = 50_000;

/** Called regularly during long work; throws to stop it. */
export type Checkpoint = () => void;

/** Finds the line of the next match. Not reentrant. */
export class Matcher {
  readonly #automaton: Automaton;
  readonly #classes: SymbolClasses;
  /** Entries per state: one per class, and one for the first byte of a longer character. */
  readonly #stride: number;
  readonly #byteClass: Uint16Array;
  #bmpClass: Uint16Array | undefined;
  #table = new Int32Array(0);
  #states: { readonly set: Int32Array; readonly before: number }[] = [];
  #ids = new Map<string, number>();
  readonly #mark: Int32Array;
  #markValue = 0;
  readonly #stack: number[] = [];
  #work = 0;
  #checkpoint: Checkpoint = () => {};
  /** The bits that any look of the pattern needs. States that differ only in other bits are the same. */
  readonly #relevant: number;
  /** The state of a search in mid-line before any match has started, and the bytes that keep it there. */
  #idle = UNKNOWN;
  readonly #idleBytes = new Uint8Array(256);

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#classes = classify(automaton);
    this.#stride = this.#classes.count + 1;
    this.#mark = new Int32Array(automaton.op.length);
    let relevant = 0;
    for (const { look, ascii } of automaton.looks) {
      if (look === "line-start") relevant |= AT_START;
      else if (look.includes("word")) relevant |= ascii ? AFTER_ASCII_WORD : AFTER_WORD;
      if (look === "word-start-half") relevant |= AFTER_INVALID;
    }
    this.#relevant = relevant;
    const multi = this.#classes.count;
    this.#byteClass = Uint16Array.from({ length: 256 }, (_, byte) =>
      byte < 0x80 || automaton.bytes ? this.#classOf(byte) : multi,
    );
    this.#reset();
  }

  #classOf(symbol: number): number {
    const { from, classOfInterval } = this.#classes;
    return classOfInterval[intervalAt(from, symbol, 0)] as number;
  }

  #classOfBmp(codePoint: number): number {
    if (this.#bmpClass === undefined) {
      const { from, classOfInterval } = this.#classes;
      const table = new Uint16Array(0x10000);
      for (let interval = 0; interval < from.length && (from[interval] as number) < 0x10000; interval++) {
        table.fill(
          classOfInterval[interval] as number,
          from[interval],
          Math.min(from[interval + 1] ?? 0x10000, 0x10000),
        );
      }
      this.#bmpClass = table;
    }
    return this.#bmpClass[codePoint] as number;
  }

  /**
   * Returns an offset in the first matching line, or -1. `from` and `to` must be line starts or the end of the text.
   * The offset is at most that of the line feed that ends the line.
   */
  find(bytes: Uint8Array, from: number, to: number, checkpoint: Checkpoint): number {
    this.#checkpoint = checkpoint;
    // State 0 is the start of a line.
    let state = 0;
    let position = from;
    while (position < to) {
      checkpoint();
      const slab = Math.min(position + SLAB_BYTES, to);
      const result = this.#run(bytes, position, slab, to, state);
      if (result >= 0) return result;
      if (this.#position >= to) {
        state = this.#state;
        break;
      }
      position = this.#position;
      state = this.#state;
    }
    if (from >= to || bytes[to - 1] === 0x0a || state === DEAD) return -1;
    // The last line has no line feed.
    return this.#next(state, this.#classes.lineFeed) === MATCH ? to : -1;
  }

  #position = 0;
  #state = 0;

  /** Runs until `stop`; a character can extend to `end`. Leaves its position in #position and #state. */
  #run(bytes: Uint8Array, from: number, stop: number, end: number, first: number): number {
    let position = from;
    let state = first;
    let table = this.#table;
    const byteClass = this.#byteClass;
    const idleBytes = this.#idleBytes;
    let idle = this.#idle;
    while (position < stop) {
      if (state === DEAD) {
        position = bytes.indexOf(0x0a, position) + 1;
        if (position === 0 || position > end) {
          position = end;
          break;
        }
        state = 0;
        continue;
      }
      let next = table[state + (byteClass[bytes[position] as number] as number)] as number;
      // The hot loop: known states and ASCII. Most of a text is passed in the idle state, where no table is needed.
      while (next >= 0) {
        state = next;
        if (++position >= stop) break;
        if (state === idle) {
          while (position < stop && idleBytes[bytes[position] as number] === 1) position++;
          if (position >= stop) break;
        }
        next = table[state + (byteClass[bytes[position] as number] as number)] as number;
      }
      if (position >= stop) break;
      let length = 1;
      if (next === MULTI) {
        const decoded = decode(bytes, position, end);
        length = decoded & 7;
        const codePoint = decoded >> 3;
        const symbolClass =
          codePoint < 0
            ? this.#classes.invalid
            : codePoint < 0x10000
              ? this.#classOfBmp(codePoint)
              : this.#classOf(codePoint);
        next = table[state + symbolClass] as number;
        if (next === UNKNOWN) {
          next = this.#next(state, symbolClass);
          table = this.#table;
          idle = this.#idle;
        }
      } else if (next === UNKNOWN) {
        next = this.#next(state, byteClass[bytes[position] as number] as number);
        table = this.#table;
        idle = this.#idle;
      }
      if (next === MATCH) return position;
      state = next;
      position += length;
    }
    this.#position = position;
    this.#state = state;
    return -1;
  }

  /** Returns the state after a symbol of this class, from the table or newly built. */
  #next(state: number, symbolClass: number): number {
    const known = this.#table[state + symbolClass] as number;
    if (known !== UNKNOWN) return known;
    const { set, before } = this.#states[state / this.#stride] as { set: Int32Array; before: number };
    this.#work += set.length + 16;
    if (this.#work > WORK_PER_CHECK) {
      this.#work = 0;
      this.#checkpoint();
    }
    if (this.#table.length >= MAX_TABLE) {
      // The text produces more states than are worth keeping. This is slower, but still linear.
      this.#reset();
      return this.#step(set, before, symbolClass);
    }
    const next = this.#step(set, before, symbolClass);
    this.#table[state + symbolClass] = next;
    return next;
  }

  #step(set: Int32Array, before: number, symbolClass: number): number {
    const { op, a, b, start, anchored } = this.#automaton;
    const { inSet, count, lineFeed } = this.#classes;
    const reached = this.#resolveLooks(set, before, symbolClass);
    if (reached === undefined) return MATCH;
    if (symbolClass === lineFeed) return 0;
    this.#markValue++;
    const members: number[] = [];
    for (const instruction of reached) {
      if (op[instruction] === OP_CHAR && inSet[(b[instruction] as number) * count + symbolClass] === 1) {
        this.#close(a[instruction] as number, members);
      }
    }
    if (!anchored) this.#close(start, members);
    return this.#stateOf(members, bitsAfter(symbolClass, this.#classes) & this.#relevant);
  }

  /** Follows splits from an instruction and adds everything it reaches: characters, looks and the match. */
  #close(instruction: number, members: number[]): void {
    const { op, a, b } = this.#automaton;
    const stack = this.#stack;
    stack.push(instruction);
    while (stack.length > 0) {
      const current = stack.pop() as number;
      if (this.#mark[current] === this.#markValue) continue;
      this.#mark[current] = this.#markValue;
      if (op[current] === OP_SPLIT) stack.push(b[current] as number, a[current] as number);
      else members.push(current);
    }
  }

  /**
   * Returns the members after following every look that holds between `before` and the symbol; undefined if it matches.
   */
  #resolveLooks(set: Int32Array, before: number, symbolClass: number): Int32Array | number[] | undefined {
    const { op, a, b, looks } = this.#automaton;
    if (looks.length === 0) return set;
    this.#markValue++;
    const members: number[] = [];
    for (const instruction of set) this.#close(instruction, members);
    for (let index = 0; index < members.length; index++) {
      const instruction = members[index] as number;
      if (op[instruction] === OP_MATCH) return undefined;
      if (op[instruction] === OP_CHAR) continue;
      const look = looks[b[instruction] as number] as LookOp;
      if (holds(look, { before, symbolClass, classes: this.#classes })) this.#close(a[instruction] as number, members);
    }
    return members;
  }

  /** Returns the number of the state, ready to be added to a class; created if new. */
  #stateOf(members: number[], before: number): number {
    const { op } = this.#automaton;
    if (members.some((instruction) => op[instruction] === OP_MATCH)) return MATCH;
    if (members.length === 0) return DEAD;
    const set = Int32Array.from(members).sort();
    const key = `${before}:${Buffer.from(set.buffer).toString("latin1")}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#states.push({ set, before }) - 1;
    const offset = id * this.#stride;
    if (offset + this.#stride > this.#table.length) {
      const grown = new Int32Array(Math.max(this.#table.length * 2, this.#stride * 16));
      grown.set(this.#table);
      this.#table = grown;
    }
    this.#table.fill(UNKNOWN, offset, offset + this.#stride);
    this.#table[offset + this.#stride - 1] = MULTI;
    this.#ids.set(key, offset);
    return offset;
  }

  /** Discards all states except the start of a line. */
  #reset(): void {
    this.#table = new Int32Array(0);
    this.#states = [];
    this.#ids = new Map();
    this.#idle = UNKNOWN;
    this.#markValue++;
    const members: number[] = [];
    this.#close(this.#automaton.start, members);
    // A pattern that matches the empty string is found at the first symbol: the state must exist.
    const matches = members.filter((instruction) => this.#automaton.op[instruction] === OP_MATCH);
    const state = this.#stateOf(
      members.filter((instruction) => this.#automaton.op[instruction] !== OP_MATCH),
      AT_START & this.#relevant,
    );
    if (matches.length > 0) {
      if (state === DEAD) this.#table = new Int32Array(this.#stride);
      // Every line matches.
      this.#table.fill(MATCH, 0, this.#stride);
    } else if (!this.#automaton.anchored) this.#findIdle();
  }

  #findIdle(): void {
    // The state after a character that is in no set, if there is one; an invalid byte works as well.
    const idle = this.#next(0, this.#byteClass[0] as number);
    if (idle < 0) return;
    for (let byte = 0; byte < 0x80; byte++) {
      this.#idleBytes[byte] = this.#next(idle, this.#byteClass[byte] as number) === idle ? 1 : 0;
    }
    this.#idle = idle;
  }
}
