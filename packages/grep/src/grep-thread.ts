// A grep thread: takes one batch at a time and answers with what it found.
import { parentPort, workerData } from "node:worker_threads";
import { TrunklineError } from "@trunkline/core";
import { serveRpc, Transferred } from "@trunkline/core/threads";
import { ContentCache, type ScannableText } from "./content-cache.js";
import type { Batch, GrepReader, GrepThreadStart, SentAnswer } from "./grep-messages.js";
import { compilePattern } from "./pattern.js";
import { type ScannedMatch, Scanner, scannable } from "./scan.js";

const { reader: wanted, cacheBytes } = workerData as GrepThreadStart;

const KEPT_SCANNERS = 8;
const scanners = new Map<string, Scanner>();
const cache = new ContentCache(cacheBytes);

/** Thrown by the checkpoint. */
class Stopped extends Error {}

/** Returns a scanner that keeps what it learned about a pattern for the next batch. */
function scannerFor(batch: Batch): Scanner {
  const key = JSON.stringify([batch.pattern, batch.options]);
  const scanner = scanners.get(key) ?? new Scanner(compilePattern(batch.pattern, batch.options));
  scanners.delete(key);
  scanners.set(key, scanner);
  if (scanners.size > KEPT_SCANNERS) scanners.delete(scanners.keys().next().value as string);
  return scanner;
}

let opening: Promise<GrepReader> | undefined;

async function openReader(): Promise<GrepReader> {
  if (wanted === undefined) throw new TrunklineError("INTERNAL", "This grep thread has no reader.");
  const module = (await import(wanted.module)) as { openGrepReader(data: unknown): GrepReader | Promise<GrepReader> };
  return await module.openGrepReader(wanted.data);
}

/** Searches documents in order. `next` stops when it has to wait for a content, and resumes later. */
class Run {
  readonly #batch: Batch;
  readonly #reader: GrepReader | undefined;
  readonly #shared: Int32Array;
  readonly #hashes: readonly string[];
  #paths: readonly string[] | undefined;
  readonly #counts: number[] = [];
  readonly #collected: [number, readonly ScannedMatch[]][] = [];
  readonly #binary: number[] = [];
  #collect: number;
  #collectBytes: number;
  #index = 0;

  constructor(batch: Batch, reader: GrepReader | undefined) {
    this.#batch = batch;
    this.#reader = reader;
    this.#shared = new Int32Array(batch.shared);
    this.#hashes = batch.hashes.split(" ");
    this.#collect = batch.scan.collect;
    this.#collectBytes = batch.scan.collectBytes;
  }

  async run(): Promise<SentAnswer> {
    try {
      const scanner = scannerFor(this.#batch);
      const slice = () => this.#slice(scanner);
      const together = this.#reader?.together;
      while (true) {
        const waiting = together === undefined ? slice() : together(slice);
        if (waiting === undefined) return this.#answer();
        this.#take(scanner, await waiting);
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      return { ...this.#answer(), stoppedAt: this.#index };
    }
  }

  /** Runs until it has to wait for a content; undefined when all is done. */
  #slice(scanner: Scanner): Promise<ScannableText> | undefined {
    while (this.#index < this.#hashes.length) {
      Atomics.store(this.#shared, 1, this.#index);
      this.#checkpoint();
      const text = this.#text(this.#index);
      if (text instanceof Promise) return text;
      this.#take(scanner, text);
    }
    return undefined;
  }

  /** Returns the content, as a promise only if the reader needs one. */
  #text(index: number): ScannableText | Promise<ScannableText> {
    const { bytes, data, keep } = this.#batch;
    const lies = bytes?.[index];
    if (lies !== undefined && data !== undefined) return scannable(new Uint8Array(data, ...lies));
    const hash = this.#hashes[index] as string;
    const kept = cache.get(hash);
    if (kept !== undefined) return kept.text;
    // Written by the pool.
    this.#paths ??= JSON.parse(this.#batch.paths) as string[];
    const path = this.#paths[index];
    if (path === undefined || this.#reader === undefined) {
      throw new TrunklineError("INTERNAL", "The batch has no such document.");
    }
    const take = (read: Uint8Array): ScannableText => {
      const text = scannable(read);
      if (keep) cache.add(hash, text);
      return text;
    };
    const read = this.#reader.read({ path, hash });
    return read instanceof Promise ? read.then(take) : take(read);
  }

  #take(scanner: Scanner, text: ScannableText): void {
    const index = this.#index;
    if (text === undefined) this.#binary.push(index);
    else {
      const { scan } = this.#batch;
      const afterLine = index === 0 ? scan.afterLine : 0;
      const options = { ...scan, afterLine, collect: this.#collect, collectBytes: this.#collectBytes };
      const { count, skipped, matches } = scanner.scanText(text, options, this.#checkpoint);
      if (count > 0) this.#counts.push(index, count, skipped);
      if (matches.length > 0) this.#collected.push([index, matches]);
      this.#collect -= matches.length;
      for (const match of matches) this.#collectBytes -= match.sizeBytes;
    }
    this.#index++;
  }

  readonly #checkpoint = (): void => {
    if (Atomics.load(this.#shared, 0) !== 0 || Date.now() > this.#batch.deadline) throw new Stopped();
  };

  #answer(): SentAnswer {
    return { counts: Int32Array.from(this.#counts), collected: this.#collected, binary: this.#binary };
  }
}

/** Opens the reader once. A failed attempt is not kept, so the next batch tries again. */
function opened(): Promise<GrepReader> {
  opening ??= openReader();
  opening.catch(() => {
    opening = undefined;
  });
  return opening;
}

// Open the reader before the first batch.
if (wanted !== undefined) void opened();

async function search(batch: Batch): Promise<Transferred<SentAnswer>> {
  cache.begin(batch.query);
  const answer = await new Run(batch, batch.data === undefined ? await opened() : undefined).run();
  return new Transferred(answer, [answer.counts.buffer as ArrayBuffer]);
}

// Batches come one at a time: the pool waits for an answer before it sends the next.
if (parentPort !== null) serveRpc(parentPort, { search }, { owner: "grep pool" });
