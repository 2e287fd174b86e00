// A thread of grep: takes batches, one at a time, and answers with what it found.
import { parentPort, workerData } from "node:worker_threads";
import { TrunklineError, toTrunklineError } from "@trunkline/core";
import { compilePattern } from "./pattern.js";
import type { Batch, BatchAnswer, DocumentMatches, GrepReader, GrepThreadData } from "./protocol.js";
import { Scanner } from "./scan.js";

const KEPT_SCANNERS = 8;
const scanners = new Map<string, Scanner>();

/** Thrown by the checkpoint. */
class Stopped extends Error {}

/** What was learned of a pattern is of use for the next batch. */
function scannerFor(batch: Batch): Scanner {
  const key = JSON.stringify([batch.pattern, batch.options]);
  const scanner = scanners.get(key) ?? new Scanner(compilePattern(batch.pattern, batch.options));
  scanners.delete(key);
  scanners.set(key, scanner);
  if (scanners.size > KEPT_SCANNERS) scanners.delete(scanners.keys().next().value as string);
  return scanner;
}

let reader: Promise<GrepReader> | undefined;

async function openReader(): Promise<GrepReader> {
  const { reader: wanted } = workerData as GrepThreadData;
  if (wanted === undefined) throw new TrunklineError("INTERNAL", "This thread of grep was given no reader.");
  const module = (await import(wanted.module)) as { openGrepReader(data: unknown): GrepReader | Promise<GrepReader> };
  return await module.openGrepReader(wanted.data);
}

async function bytesOf(batch: Batch, index: number): Promise<Uint8Array> {
  const document = batch.documents[index];
  if (document === undefined) throw new TrunklineError("INTERNAL", "The batch has no such document.");
  if (document.bytes !== undefined && batch.data !== undefined) return new Uint8Array(batch.data, ...document.bytes);
  reader ??= openReader();
  return await (await reader).read(document);
}

async function run(batch: Batch): Promise<BatchAnswer> {
  const shared = new Int32Array(batch.shared);
  const found: DocumentMatches[] = [];
  let binary = 0;
  let collect = batch.scan.collect;
  let collectBytes = batch.scan.collectBytes;
  const checkpoint = (): void => {
    if (Atomics.load(shared, 0) !== 0 || Date.now() > batch.deadline) throw new Stopped();
  };
  let index = 0;
  try {
    const scanner = scannerFor(batch);
    for (; index < batch.documents.length; index++) {
      Atomics.store(shared, 1, index);
      checkpoint();
      const bytes = await bytesOf(batch, index);
      const afterLine = index === 0 ? batch.scan.afterLine : 0;
      const result = scanner.scan(bytes, { ...batch.scan, afterLine, collect, collectBytes }, checkpoint);
      if (result.binary) binary++;
      if (result.count === 0) continue;
      const { count, skipped, matches } = result;
      found.push({ index, count, skipped, matches });
      collect -= result.matches.length;
      for (const match of result.matches) collectBytes -= match.sizeBytes;
    }
    return { id: batch.id, found, binary };
  } catch (error) {
    if (error instanceof Stopped) return { id: batch.id, found, binary, stoppedAt: index };
    const { code, message, hint, data } = toTrunklineError(error);
    return { id: batch.id, found: [], binary: 0, error: { code, message, hint, data } };
  }
}

const parent = parentPort;
// Batches come one at a time: the pool waits for an answer before it sends the next.
parent?.on("message", (batch: Batch) => void run(batch).then((answer) => parent.postMessage(answer)));
