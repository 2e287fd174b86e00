// Batches with an idempotency key: a repeated batch gets the first one's answer. Answers are kept for a day, in memory
// and as documents in the results collection, so that a batch does not run twice after a restart. Gateways that share a
// store claim a batch in its database, so that it runs once whichever of them is asked.
import {
  abortable,
  abortError,
  type BatchKey,
  type ContentStore,
  contentIdOf,
  type Gateway,
  isRecord,
  isTrunklineError,
  jsonBytes,
  parseJson,
  sleep,
  TrunklineError,
} from "@trunkline/core";
import { JsonBytes } from "@trunkline/protocol";
import { RESULTS_COLLECTION } from "../budget/stored-value.js";
import type { ToolResult } from "../interfaces/served-tool.js";

/** A batch and its result. */
interface Kept {
  /** Hash of the batch. */
  readonly batch: string;
  readonly atMs: number;
  readonly result: Promise<ToolResult>;
}

/** A finished batch. `hasRun`: something was started, so running the batch again would do it twice. */
interface BatchRun {
  readonly result: ToolResult;
  readonly hasRun: boolean;
}

const KEPT_MS = 24 * 60 * 60 * 1000;
const MOST_KEPT = 1_000;
/** A larger result is only kept as a document. */
const MOST_KEPT_BYTES = 1024 * 1024;
const FORMAT = 1;
/** How long an outcome that could not be written is tried again. */
const WRITE_ATTEMPTS = 300;
const WRITE_AGAIN_MS = 1_000;

interface BatchesOptions {
  readonly principal: string;
  /** The store that the principal sees. */
  readonly store: () => Promise<ContentStore>;
  /** This gateway, if it shares its store with others. */
  readonly gateway?: () => Promise<Gateway | undefined>;
}

interface Identity {
  readonly key: string;
  readonly batch: unknown;
  readonly signal: AbortSignal;
}

interface OnceResult {
  readonly result: ToolResult;
  readonly isRepeated: boolean;
}

/** Remembers the batches of one principal by their keys. */
export class IdempotentBatches {
  readonly #options: BatchesOptions;
  readonly #store: () => Promise<ContentStore>;
  readonly #kept = new Map<string, Kept>();

  constructor(options: BatchesOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  /**
   * Runs a batch, or returns its earlier result. Rejects with `INVALID_ARGUMENT` if the key was used for a different
   * batch.
   */
  async once(identity: Identity, run: () => Promise<BatchRun>): Promise<OnceResult> {
    const gateway = await this.#options.gateway?.();
    return gateway === undefined
      ? await this.#onceHere(identity, run)
      : await onceInTeam(gateway, {
          ...identity,
          principal: this.#options.principal,
          run,
        });
  }

  async #onceHere({ key, batch, signal }: Identity, run: () => Promise<BatchRun>): Promise<OnceResult> {
    const { id, hash } = digestsOf(key, batch);
    this.#forgetOld();
    const known = this.#kept.get(id);
    if (known !== undefined) {
      requireSame(known.batch, hash, key);
      return { result: await abortable(signal, known.result), isRepeated: true };
    }
    const result = this.#find(id, { hash, key }).then(async (found) => {
      if (found !== undefined) return { result: found, isRepeated: true };
      await this.#write(id, { batch: hash });
      const { result: made, hasRun } = await run();
      if (hasRun) {
        await this.#write(id, { batch: hash, result: made });
        if (isLarge(made)) this.#kept.delete(id);
      } else {
        this.#kept.delete(id);
        await this.#forget(id);
      }
      return { result: made, isRepeated: false };
    });
    const kept: Kept = { batch: hash, atMs: Date.now(), result: result.then((made) => made.result) };
    this.#kept.set(id, kept);
    // The awaiting caller handles the failure; this only removes the entry.
    kept.result.catch(() => {
      if (this.#kept.get(id) === kept) this.#kept.delete(id);
    });
    return await result;
  }

  #forgetOld(): void {
    const oldest = Date.now() - KEPT_MS;
    for (const [id, { atMs }] of this.#kept) {
      if (atMs >= oldest && this.#kept.size < MOST_KEPT) break;
      this.#kept.delete(id);
    }
  }

  /** Finds the result saved by an earlier process. */
  async #find(id: string, { hash, key }: { hash: string; key: string }): Promise<ToolResult | undefined> {
    const store = await this.#store();
    let written: Readonly<Record<string, unknown>>;
    try {
      written = await store.run("get", { path: nameOf(id), collection: RESULTS_COLLECTION, include_content: true });
    } catch (error) {
      if (isTrunklineError(error, "NOT_FOUND")) return undefined;
      throw error;
    }
    const note =
      typeof written.content === "string" && written.state === undefined ? parseJson(written.content) : undefined;
    if (!isRecord(note) || note.format !== FORMAT || typeof note.atMs !== "number") return undefined;
    if (note.atMs < Date.now() - KEPT_MS) return undefined;
    requireSame(String(note.batch), hash, key);
    const result = toolResultOf(note.result);
    if (result === undefined) throw unknownOutcome(key);
    return result;
  }

  async #write(id: string, note: { batch: string; result?: ToolResult }): Promise<void> {
    const store = await this.#store();
    const content = JSON.stringify({ format: FORMAT, atMs: Date.now(), ...note });
    await store.run("add", { content, name: nameOf(id), collection: RESULTS_COLLECTION });
  }

  async #forget(id: string): Promise<void> {
    const store = await this.#store();
    await store.run("delete", { names: [nameOf(id)], collection: RESULTS_COLLECTION });
  }
}

/** Runs a batch at this gateway, or returns the result of the gateway that has run it or is running it. */
async function onceInTeam(
  gateway: Gateway,
  { key, batch, signal, principal, run }: Identity & { principal: string; run: () => Promise<BatchRun> },
): Promise<OnceResult> {
  const { id, hash } = digestsOf(key, batch);
  const claimed: BatchKey = { principal, id, batch: hash };
  for (;;) {
    if (signal.aborted) throw abortError(signal, "The batch");
    const claim = await gateway.claimBatch(claimed, KEPT_MS);
    if (claim.kind === "claimed") return { result: await runClaimed(gateway, claimed, run), isRepeated: false };
    requireSame(claim.batch, hash, key);
    if (claim.kind === "running") await gateway.waitForBatch(claimed, signal);
    else {
      const kept = claim.kind === "ended" ? parseJson(Buffer.from(claim.result).toString("utf8")) : undefined;
      const result = toolResultOf(kept);
      if (result === undefined) throw unknownOutcome(key);
      return { result, isRepeated: true };
    }
  }
}

async function runClaimed(gateway: Gateway, claimed: BatchKey, run: () => Promise<BatchRun>): Promise<ToolResult> {
  let made: BatchRun;
  try {
    made = await run();
  } catch (error) {
    await endClaim(gateway, claimed, "lost");
    throw error;
  }
  await endClaim(gateway, claimed, made.hasRun ? Buffer.from(JSON.stringify(made.result)) : "released");
  return made.result;
}

/** Never rejects. If the database is away, the outcome is written later; until then nothing can run the batch again. */
async function endClaim(gateway: Gateway, claimed: BatchKey, outcome: Uint8Array | "released" | "lost"): Promise<void> {
  const tryAgain = async () => {
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt += 1) {
      await sleep(WRITE_AGAIN_MS);
      try {
        return await gateway.endBatch(claimed, outcome);
      } catch (error) {
        if (!isTrunklineError(error, "STORE_UNAVAILABLE")) return;
      }
    }
  };
  try {
    await gateway.endBatch(claimed, outcome);
  } catch {
    void tryAgain();
  }
}

/** Whether a result is worth no memory: the document has it. */
function isLarge({ structuredContent }: ToolResult): boolean {
  return structuredContent instanceof JsonBytes || jsonBytes(structuredContent, MOST_KEPT_BYTES) > MOST_KEPT_BYTES;
}

function digestsOf(key: string, batch: unknown): { id: string; hash: string } {
  return { id: contentIdOf(JSON.stringify([key])), hash: contentIdOf(JSON.stringify(batch)) };
}

function toolResultOf(kept: unknown): ToolResult | undefined {
  return isRecord(kept) && Array.isArray(kept.content) ? { ...kept, content: kept.content } : undefined;
}

function unknownOutcome(key: string): TrunklineError {
  return new TrunklineError(
    "INVALID_ARGUMENT",
    `A batch with the key "${key}" was started earlier, but its outcome is unknown.`,
    { hint: "Check what it did, then use another key.", data: { parameter: "idempotency_key" } },
  );
}

function nameOf(id: string): string {
  return `execute/${id}.json`;
}

function requireSame(known: string, batch: string, key: string): void {
  if (known === batch) return;
  throw new TrunklineError("INVALID_ARGUMENT", `The key "${key}" was used for a batch with other operations.`, {
    hint: "Use another idempotency_key, or the same operations.",
    data: { parameter: "idempotency_key" },
  });
}
