// Scans one content for matching lines, with numbers, text and context. Synchronous and pure, so it can run in any
// worker.
import { type Checkpoint, Matcher } from "./matcher.js";
import { PartFinder } from "./matching-parts.js";
import type { CompiledPattern } from "./pattern.js";

export interface ScanOptions {
  /** Stop after this many matching lines; 0 for no limit. */
  readonly maxCount: number;
  readonly before: number;
  readonly after: number;
  /** Collect matches only after this line. */
  readonly afterLine: number;
  /** Maximum number of matches to collect; all are counted. */
  readonly collect: number;
  /** Stop collecting after this many bytes of text; the match that exceeds the limit is the last. */
  readonly collectBytes: number;
  /** Stop after the first match. */
  readonly firstOnly: boolean;
  /** Count and collect the matching parts of lines instead of whole lines. `maxCount` still counts lines. */
  readonly onlyMatching?: boolean;
  /** Collect the parts of line `afterLine` after this many. */
  readonly afterPart?: number;
}

/** A matching line, without its line feed, or a matching part of one. */
export interface ScannedMatch {
  readonly line: number;
  readonly text: string;
  /** The number of the part in its line, from 1. */
  readonly part?: number;
  /** In a long line: how many characters of it the first match reaches to. */
  readonly matchEnd?: number;
  /** The lines before the match that were not shown yet; each line is shown once, as in ripgrep. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The size of the match and its context in the content. */
  readonly sizeBytes: number;
}

interface ScanResult {
  readonly binary: boolean;
  readonly count: number;
  /** How many matches come before the ones to collect. */
  readonly skipped: number;
  readonly matches: readonly ScannedMatch[];
}

const MIN_LITERAL_BYTES = 3;
const MIN_BYTES_PER_LITERAL = 256;
/** A longer line is not worth reading from its start, so its match says where it ends. */
const LONG_LINE_BYTES = 1_000;
const BINARY: ScanResult = { binary: true, count: 0, skipped: 0, matches: [] };
const NONE: ScanResult = { binary: false, count: 0, skipped: 0, matches: [] };
const NO_CHECKPOINT: Checkpoint = () => {};

/**
 * Finds lines that match one pattern in a series of contents. Keeps what it learned about the pattern between contents.
 */
export class Scanner {
  readonly #matcher: Matcher;
  readonly #literal: Buffer | undefined;
  readonly #literalIsAll: boolean;
  readonly #invert: boolean;
  readonly #pattern: CompiledPattern;
  #partFinder: PartFinder | undefined;
  /** Where the line that was found last matches. */
  #foundAt = 0;

  constructor(pattern: CompiledPattern) {
    this.#pattern = pattern;
    this.#matcher = new Matcher(pattern.automaton);
    const literal = pattern.literal;
    this.#literalIsAll = literal?.whole === true;
    const text = Buffer.from(literal?.text ?? "");
    this.#literal = text.length >= MIN_LITERAL_BYTES || this.#literalIsAll ? text : undefined;
    this.#invert = pattern.options.invert === true;
  }

  /** Finds the matching lines of a content. `checkpoint` is called regularly and can throw to stop. */
  scan(bytes: Uint8Array, options: ScanOptions, checkpoint: Checkpoint = NO_CHECKPOINT): ScanResult {
    const text = scannable(bytes);
    return text === undefined ? BINARY : this.scanText(text, options, checkpoint);
  }

  /** Like {@link scan}, for the result of {@link scannable}. */
  scanText(text: Buffer, options: ScanOptions, checkpoint: Checkpoint = NO_CHECKPOINT): ScanResult {
    const limit = options.firstOnly ? 1 : options.maxCount === 0 ? Number.POSITIVE_INFINITY : options.maxCount;
    // A line that does not match has no matching parts, so all of it counts.
    if (options.onlyMatching && !options.firstOnly && !this.#invert) {
      return this.#scanParts(text, { ...options, limit }, checkpoint);
    }
    if (options.collect <= 0 && options.afterLine === 0 && !this.#invert) {
      const count = this.#count(text, limit, checkpoint);
      return count === 0 ? NONE : { binary: false, count, skipped: 0, matches: [] };
    }
    return this.#invert
      ? new Collector(text, options).run(this.#others(text, checkpoint), limit)
      : new Collector(text, options, () => this.#foundAt).run(this.#matching(text, checkpoint), limit);
  }

  /** Like {@link scanText}, for the matching parts of lines. */
  #scanParts(text: Buffer, options: ScanOptions & { limit: number }, checkpoint: Checkpoint): ScanResult {
    const { collect, collectBytes, afterLine, afterPart = 0, limit } = options;
    const matches: ScannedMatch[] = [];
    let sizeBytes = 0;
    const hasRoom = () => matches.length < collect && sizeBytes <= collectBytes;
    let [line, position, lines, count, skipped] = [1, 0, 0, 0, 0];
    for (const start of this.#matching(text, checkpoint)) {
      // Numbers are only needed for parts that are collected.
      for (; hasRoom() && position < start; line++) position = lineAfter(text, position);
      let part = 0;
      for (const [from, to] of this.#parts(text, start, checkpoint)) {
        part++;
        count++;
        if (!hasRoom()) continue;
        if (line < afterLine || (line === afterLine && part <= afterPart)) skipped++;
        else {
          matches.push({
            line,
            text: text.toString("utf8", from, to),
            part,
            before: [],
            after: [],
            sizeBytes: to - from,
          });
          sizeBytes += to - from;
        }
      }
      if (++lines >= limit) break;
    }
    return { binary: false, count, skipped, matches };
  }

  /** Yields the matching parts of the line at this position, as offsets. */
  *#parts(text: Buffer, start: number, checkpoint: Checkpoint): Generator<readonly [number, number]> {
    const next = lineAfter(text, start);
    const end = text[next - 1] === 0x0a ? next - 1 : next;
    const literal = this.#literal;
    if (!this.#literalIsAll || literal === undefined || literal.length === 0) {
      this.#partFinder ??= new PartFinder(this.#pattern.automaton);
      yield* this.#partFinder.parts({ bytes: text, start, end }, checkpoint);
      return;
    }
    let found = text.indexOf(literal, start);
    for (; found !== -1 && found + literal.length <= end; found = text.indexOf(literal, found + literal.length)) {
      yield [found, found + literal.length];
    }
  }

  /** Counts matching lines, up to `limit`. */
  #count(text: Buffer, limit: number, checkpoint: Checkpoint): number {
    let count = 0;
    for (let position = 0; position < text.length; ) {
      const found = this.#find(text, position, checkpoint);
      if (found < 0 || ++count >= limit) break;
      position = lineAfter(text, found);
    }
    return count;
  }

  /** Yields the start of each matching line. */
  *#matching(text: Buffer, checkpoint: Checkpoint): Generator<number> {
    for (let position = 0; position < text.length; ) {
      const found = this.#find(text, position, checkpoint);
      if (found < 0) return;
      const start = found === 0 ? 0 : text.lastIndexOf(0x0a, found - 1) + 1;
      this.#foundAt = found + (this.#literalIsAll ? (this.#literal?.length ?? 0) : 0);
      yield start;
      position = lineAfter(text, found);
    }
  }

  /** Yields the start of each line that does not match. */
  *#others(text: Buffer, checkpoint: Checkpoint): Generator<number> {
    let position = 0;
    for (const start of this.#matching(text, checkpoint)) {
      for (; position < start; position = lineAfter(text, position)) yield position;
      position = lineAfter(text, start);
    }
    for (; position < text.length; position = lineAfter(text, position)) yield position;
  }

  /** Returns an offset in the first matching line at or after `from`, which must be a line start; or -1. */
  #find(text: Buffer, from: number, checkpoint: Checkpoint): number {
    const literal = this.#literal;
    if (literal === undefined) return this.#matcher.find(text, from, text.length, checkpoint);
    let vain = 0;
    for (let position = from; position < text.length; ) {
      // Searching for a literal that occurs in every other line only costs time.
      if (++vain > 16 && (position - from) / vain < MIN_BYTES_PER_LITERAL) {
        return this.#matcher.find(text, position, text.length, checkpoint);
      }
      const found = text.indexOf(literal, position);
      if (found === -1) return -1;
      if (this.#literalIsAll) return found;
      const start = Math.max(found === 0 ? 0 : text.lastIndexOf(0x0a, found - 1) + 1, from);
      const end = lineAfter(text, found);
      const match = this.#matcher.find(text, start, end, checkpoint);
      if (match >= 0) return match;
      position = end;
    }
    return -1;
  }
}

/** Returns the start of the next line. Most lines are short, and searching here is cheaper than a call. */
function lineAfter(text: Buffer, position: number): number {
  const near = Math.min(position + 64, text.length);
  for (let at = position; at < near; at++) if (text[at] === 0x0a) return at + 1;
  if (near === text.length) return near;
  const end = text.indexOf(0x0a, near);
  return end === -1 ? text.length : end + 1;
}

/** Returns the searchable text of a content; undefined if it is binary. */
export function scannable(bytes: Uint8Array): Buffer | undefined {
  const text = textOf(bytes);
  return text.includes(0) ? undefined : text;
}

/** Returns the bytes without a byte order mark; marked UTF-16 becomes UTF-8. */
function textOf(bytes: Uint8Array): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [first, second] = buffer;
  if (first === 0xef && second === 0xbb && buffer[2] === 0xbf) return buffer.subarray(3);
  if (first === 0xff && second === 0xfe) return Buffer.from(new TextDecoder("utf-16le").decode(buffer));
  if (first === 0xfe && second === 0xff) return Buffer.from(new TextDecoder("utf-16be").decode(buffer));
  return buffer;
}

/** Counts matching lines and collects some of them, with context. */
class Collector {
  readonly #text: Buffer;
  readonly #options: ScanOptions;
  readonly #foundAt: (() => number) | undefined;
  readonly #matches: (ScannedMatch & { after: string[]; sizeBytes: number })[] = [];
  #sizeBytes = 0;
  /** The line at #position has number #line. */
  #position = 0;
  #line = 1;
  /** The last line shown, and how many context lines can still follow it. */
  #shown = 0;
  #owed = 0;

  /** `foundAt` returns where the line that is being added matches. */
  constructor(text: Buffer, options: ScanOptions, foundAt?: () => number) {
    this.#text = text;
    this.#options = options;
    this.#foundAt = foundAt;
  }

  run(starts: Iterable<number>, limit: number): ScanResult {
    const { collect, collectBytes, afterLine } = this.#options;
    let count = 0;
    let skipped = 0;
    // The last collected match stays open for its following lines until the next match is known.
    let open = false;
    for (const start of starts) {
      count++;
      const room = this.#matches.length < collect && this.#sizeBytes <= collectBytes;
      if (room || (open && this.#owed > 0)) this.#advance(start, open);
      open = room && this.#add(start, afterLine);
      if (room && !open) skipped++;
      if (count >= limit) break;
    }
    if (open) this.#advance(this.#text.length, true);
    return { binary: false, count, skipped, matches: this.#matches };
  }

  /** Advances to the line at `target`, counts lines, and adds context lines to the open match. */
  #advance(target: number, open: boolean): void {
    let position = this.#position;
    let line = this.#line;
    const last = open ? this.#matches.at(-1) : undefined;
    while (position < target) {
      if (last === undefined || this.#owed === 0) {
        // Only the number of these lines matters. Far from the end of the text, there is nothing else to do.
        if (target >= this.#text.length) {
          position = target;
          break;
        }
      }
      const end = lineAfter(this.#text, position);
      if (this.#owed > 0 && line > this.#shown) {
        if (last !== undefined) {
          const before = this.#sizeBytes;
          last.after.push(this.#take(position, end));
          last.sizeBytes += this.#sizeBytes - before;
        }
        this.#shown = line;
        this.#owed--;
      }
      position = end;
      line++;
    }
    this.#position = position;
    this.#line = line;
  }

  /** Adds the match on the line at this position; false if it comes before the wanted ones. */
  #add(start: number, afterLine: number): boolean {
    const line = this.#line;
    const end = lineAfter(this.#text, start);
    const wanted = line > afterLine;
    if (wanted) {
      const sizeBefore = this.#sizeBytes;
      const before: string[] = [];
      let position = start;
      for (let back = 1; back <= this.#options.before && line - back > this.#shown; back++) {
        const previous = position <= 1 ? 0 : this.#text.lastIndexOf(0x0a, position - 2) + 1;
        before.unshift(this.#take(previous, position));
        position = previous;
      }
      const text = this.#take(start, end);
      const matchEnd = end - start > LONG_LINE_BYTES ? this.#matchEndIn(start) : {};
      this.#matches.push({ line, text, ...matchEnd, before, after: [], sizeBytes: this.#sizeBytes - sizeBefore });
    }
    this.#shown = line;
    this.#owed = this.#options.after;
    this.#position = end;
    this.#line = line + 1;
    return wanted;
  }

  #matchEndIn(start: number): { readonly matchEnd?: number } {
    const found = this.#foundAt?.();
    return found === undefined ? {} : { matchEnd: this.#text.toString("utf8", start, found).length };
  }

  #take(start: number, end: number): string {
    const stop = end > start && this.#text[end - 1] === 0x0a ? end - 1 : end;
    this.#sizeBytes += stop - start;
    return this.#text.toString("utf8", start, stop);
  }
}
