// Copies a store into another one, of the same or another engine: contents first, then the history that refers to them.
// The target notes how far the history was replayed, so a copy that was interrupted goes on where it ended.
import { type ContentId, type ToolProgress, TrunklineError } from "@trunkline/core";

/** One event in the history of a store. */
export type TransferEvent =
  | {
      readonly kind: "version";
      readonly collection: string;
      readonly path: string;
      readonly root: string | undefined;
      readonly title: string | undefined;
      readonly hash: string;
      readonly mode: number | null;
      readonly mtime: number | null;
      readonly tags: readonly string[];
      readonly metadata: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "hide"; readonly collection: string; readonly path: string; readonly state: "removed" | "trash" }
  | { readonly kind: "snapshot"; readonly collection: string; readonly label: string | undefined };

/** Events of another store, and how many of them are replayed after these. */
export interface Replay {
  readonly from: string;
  readonly events: readonly TransferEvent[];
  readonly through: number;
}

/** A store that can be copied, and into which one can be copied. */
export interface TransferStore {
  readonly id: string;
  bytes(id: ContentId): Promise<Uint8Array>;
  put(bytes: Uint8Array): Promise<ContentId>;
  has(id: ContentId): Promise<boolean>;
  /** All changes, in order. */
  history(): Promise<readonly TransferEvent[]>;
  /** How many events of the store with this id were replayed. */
  replayed(from: string): Promise<number>;
  /** Replays events whose contents are stored already. Durable when it resolves. */
  replay(replay: Replay): Promise<void>;
}

export interface CopyResult {
  readonly contents: number;
  readonly newBytes: number;
  readonly events: number;
  readonly snapshots: number;
  /** Events that an earlier, interrupted copy had replayed. */
  readonly resumed: number;
}

const BATCH_EVENTS = 100;

export async function copyStore(
  from: TransferStore,
  to: TransferStore,
  options: { signal?: AbortSignal | undefined; onProgress?: ((progress: ToolProgress) => void) | undefined } = {},
): Promise<CopyResult> {
  if (from.id === to.id) throw new TrunklineError("INVALID_ARGUMENT", "Both are the same store.");
  const { signal, onProgress } = options;
  const events = await from.history();
  const resumed = Math.min(await to.replayed(from.id), events.length);
  const hashes = [...new Set(events.flatMap((event) => (event.kind === "version" ? [event.hash] : [])))];
  let newBytes = 0;
  for (const [position, hash] of hashes.entries()) {
    signal?.throwIfAborted();
    onProgress?.({ progress: position, total: hashes.length, message: "contents" });
    // The history has only hashes of stored contents.
    const id = hash as ContentId;
    if (await to.has(id)) continue;
    const bytes = await from.bytes(id);
    await to.put(bytes);
    newBytes += bytes.length;
  }
  for (let start = resumed; start < events.length; start += BATCH_EVENTS) {
    signal?.throwIfAborted();
    onProgress?.({ progress: start, total: events.length, message: "history" });
    const through = Math.min(start + BATCH_EVENTS, events.length);
    await to.replay({ from: from.id, events: events.slice(start, through), through });
  }
  await requireSame(hashes, to, options);
  const snapshots = events.filter(({ kind }) => kind === "snapshot").length;
  return { contents: hashes.length, newBytes, events: events.length, snapshots, resumed };
}

/** Reads every content of the copy, which verifies it. */
async function requireSame(
  hashes: readonly string[],
  to: TransferStore,
  {
    signal,
    onProgress,
  }: { signal?: AbortSignal | undefined; onProgress?: ((progress: ToolProgress) => void) | undefined },
): Promise<void> {
  for (const [position, hash] of hashes.entries()) {
    signal?.throwIfAborted();
    onProgress?.({ progress: position, total: hashes.length, message: "verifying" });
    await to.bytes(hash as ContentId);
  }
}
