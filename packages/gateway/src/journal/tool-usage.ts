// Which upstream tools are used, and how often: read from the journal, plus the calls of this process. It decides which
// tools become favourites and which come first among equals, and never what a client may do. The journal is only a file,
// so everything in it is checked and bounded, and anything odd is skipped.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { hasControls, LOCAL_PRINCIPAL, systemCodeOf } from "@trunkline/core";
import { type CallRecord, isDefinitionNews } from "./journal.js";
import { listSegments, parseLine, type Segment } from "./journal-files.js";

/** How a tool was used. Failed and cancelled calls do not count. */
export interface ToolUse {
  readonly count: number;
  /** The number of days with at least one call. */
  readonly days: number;
  /**
   * Frequency that fades with a half-life of seven days. Each day counts with the logarithm of its calls, or a single
   * loop over hundreds of items would outweigh weeks of work. 1 is one call today.
   */
  readonly weight: number;
}

export interface ToolUsageOptions {
  /** The folder of the journal. */
  readonly folder: string;
  /** Counts the calls of this workspace and those that name none; undefined counts all. As in `workspaceKey`. */
  readonly workspace?: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const HALF_LIFE_DAYS = 7;
/** A call this old weighs less than a hundredth of one today. */
const MAX_AGE_DAYS = 49;
/** How much of the journal is read at most, newest first: about 25,000 calls. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const BLOCK_BYTES = 256 * 1024;
/** The journal's own lines are shorter than a kilobyte. */
const MAX_LINE_CHARS = 4_096;
const MAX_NAME_CHARS = 200;
/** The number of names, over all principals, that are kept for each file. */
const MAX_NAMES = 10_000;

const NO_USES: ReadonlyMap<string, ToolUse> = new Map();

/** Calls by day, for each principal and tool. */
type Tally = Map<string, Map<string, Map<number, number>>>;

interface ReadSegment {
  readonly inode: number;
  /** Everything before it has been read or skipped. */
  readonly offset: number;
  readonly tally: Tally;
  readonly names: number;
}

export class ToolUsage {
  readonly #options: ToolUsageOptions;
  readonly #segments = new Map<number, ReadSegment>();
  /** The calls of this process, by principal and tool. */
  readonly #own = new Map<string, Map<string, number>>();
  #uses: ReadonlyMap<string, ReadonlyMap<string, ToolUse>> = new Map();
  #loading: Promise<void> | undefined;

  constructor(options: ToolUsageOptions) {
    this.#options = options;
  }

  /** Reads what was added to the journal since the last time. Never rejects: without a journal there are no uses. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** The tools that a principal used according to the journal, as `<server>.<tool>`, as of the last {@link load}. */
  uses(principal: string = LOCAL_PRINCIPAL): ReadonlyMap<string, ToolUse> {
    return this.#uses.get(principal) ?? NO_USES;
  }

  /**
   * How much a principal uses a tool: its weight in the journal, plus the calls of this process, which count double
   * because they are in the journal too. 0 if it was never used.
   */
  weightOf(name: string, principal: string = LOCAL_PRINCIPAL): number {
    const own = this.#own.get(principal)?.get(name) ?? 0;
    return (this.#uses.get(principal)?.get(name)?.weight ?? 0) + Math.log2(1 + own);
  }

  /** Counts a successful call of this process. Called for every call, so it does next to nothing. */
  note(name: string, principal: string): void {
    let counts = this.#own.get(principal);
    if (counts === undefined) {
      counts = new Map();
      this.#own.set(principal, counts);
    }
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  async #load(): Promise<void> {
    try {
      const segments = (await listSegments(this.#options.folder)).reverse();
      const present = new Set(segments.map(({ number }) => number));
      for (const number of this.#segments.keys()) if (!present.has(number)) this.#segments.delete(number);
      let leftBytes = MAX_READ_BYTES;
      for (const segment of segments) {
        if (leftBytes <= 0) break;
        leftBytes -= await this.#read(segment, leftBytes);
      }
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
    }
    this.#uses = this.#sum();
  }

  /** Reads the end of a file, at most this much, and returns how much of the file is known now. */
  async #read(segment: Segment, mostBytes: number): Promise<number> {
    // A link or a pipe is not a file of the journal, and opening a pipe would wait for its writer.
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    let file: Awaited<ReturnType<typeof open>>;
    try {
      file = await open(segment.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
      return 0;
    }
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return 0;
      const { size, ino: inode } = stats;
      const before = this.#segments.get(segment.number);
      const known = before?.inode === inode && before.offset <= size ? before : undefined;
      const reader = new TallyReader(Date.now(), this.#options.workspace, known);
      let offset = Math.max(known?.offset ?? 0, size - mostBytes);
      const buffer = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, Math.max(0, size - offset)));
      while (offset < size) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - offset), offset);
        const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
        // A full block without a line break is not one of our lines; at the end, the line is still being written.
        if (end === 0 && bytesRead < BLOCK_BYTES) break;
        offset += end === 0 ? bytesRead : end;
        for (const line of buffer.toString("utf8", 0, end).split("\n")) reader.add(line);
      }
      this.#segments.set(segment.number, { inode, offset, tally: reader.tally, names: reader.names });
      return Math.min(size, mostBytes);
    } finally {
      await file.close();
    }
  }

  #sum(): Map<string, Map<string, ToolUse>> {
    const total: Tally = new Map();
    for (const { tally } of this.#segments.values()) {
      for (const [principal, tools] of tally) {
        for (const [name, days] of tools) for (const [day, count] of days) add(total, { principal, name, day, count });
      }
    }
    const today = dayNumber(Date.now());
    const used = (days: Map<number, number>): ToolUse => {
      let count = 0;
      let weight = 0;
      for (const [day, calls] of days) {
        count += calls;
        weight += Math.log2(1 + calls) * 2 ** (-Math.max(0, today - day) / HALF_LIFE_DAYS);
      }
      return { count, days: days.size, weight };
    };
    return new Map(
      [...total].map(([principal, tools]) => [
        principal,
        new Map([...tools].map(([name, days]) => [name, used(days)] as const)),
      ]),
    );
  }
}

/** Adds lines to a tally. */
class TallyReader {
  readonly tally: Tally;
  names: number;
  readonly #workspace: string | undefined;
  readonly #oldestMs: number;
  readonly #newestMs: number;

  constructor(nowMs: number, workspace: string | undefined, known: ReadSegment | undefined) {
    this.tally = known?.tally ?? new Map();
    this.names = known?.names ?? 0;
    this.#workspace = workspace;
    this.#oldestMs = nowMs - MAX_AGE_DAYS * DAY_MS;
    // Clocks differ a little; a call of next year would never fade.
    this.#newestMs = nowMs + DAY_MS;
  }

  add(line: string): void {
    if (line === "" || line.length > MAX_LINE_CHARS) return;
    const call = parseLine(line);
    if (call === undefined || !this.#counts(call)) return;
    const { principal = LOCAL_PRINCIPAL, operation: name, atMs } = call;
    const isNew = this.tally.get(principal)?.has(name) !== true;
    if (isNew && this.names >= MAX_NAMES) return;
    if (isNew) this.names++;
    add(this.tally, { principal, name, day: dayNumber(atMs), count: 1 });
  }

  /** Whether a line is a successful call of an upstream tool in this workspace. */
  #counts(call: CallRecord): boolean {
    const { atMs, outcome, operation, principal = "", workspace } = call;
    if (outcome !== "ok" || isDefinitionNews(call)) return false;
    if (atMs < this.#oldestMs || atMs > this.#newestMs) return false;
    if (workspace !== undefined && this.#workspace !== undefined && workspace !== this.#workspace) return false;
    const dot = operation.indexOf(".");
    if (dot <= 0 || dot === operation.length - 1) return false;
    if (operation.length > MAX_NAME_CHARS || principal.length > MAX_NAME_CHARS) return false;
    return !hasControls(operation);
  }
}

interface Calls {
  readonly principal: string;
  readonly name: string;
  readonly day: number;
  readonly count: number;
}

function add(tally: Tally, { principal, name, day, count }: Calls): void {
  let tools = tally.get(principal);
  if (tools === undefined) {
    tools = new Map();
    tally.set(principal, tools);
  }
  const days = tools.get(name);
  if (days === undefined) tools.set(name, new Map([[day, count]]));
  else days.set(day, (days.get(day) ?? 0) + count);
}

/** Numbers the days of the user's time zone. */
function dayNumber(atMs: number): number {
  return Math.floor((atMs - new Date(atMs).getTimezoneOffset() * 60_000) / DAY_MS);
}
