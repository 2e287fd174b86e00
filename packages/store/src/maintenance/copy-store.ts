// Copies a store into another one, of the same or another engine: contents first, then the history that refers to them,
// then what is not history, such as sessions. The target notes how far the history was replayed, so a copy that was
// interrupted goes on where it ended, and a later one brings only what is new.
import { type ContentId, type ToolProgress, TrunklineError } from "@trunkline/core";

/** One event in the history of a store. `seq` is its place, which stays the same while other events are removed. */
export type TransferEvent = { readonly seq: number; readonly collection: string } & (
  | {
      readonly kind: "version";
      readonly path: string;
      readonly root: string | undefined;
      readonly title: string | undefined;
      readonly hash: string;
      readonly mode: number | null;
      readonly mtime: number | null;
      readonly tags: readonly string[];
      readonly metadata: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "hide"; readonly path: string; readonly state: "removed" | "trash" }
  | { readonly kind: "snapshot"; readonly id: string; readonly label: string | undefined; readonly created: number }
);

/** Events of another store, and the place in its history that is reached after these. */
export interface Replay {
  readonly from: string;
  readonly events: readonly TransferEvent[];
  readonly through: number;
}

/** The current state of a document, also of one that is not live. */
export interface TransferDocument {
  readonly collection: string;
  readonly path: string;
  readonly state: "live" | "removed" | "trash";
  readonly hash: string;
  readonly title: string | null;
  readonly root: string | null;
  readonly mode: number | null;
  readonly mtime: number | null;
  readonly created: number;
  readonly modified: number;
  readonly indexed: number;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface TransferSession {
  readonly id: string;
  readonly label: string | null;
  readonly started: number;
  readonly stopped: number | null;
  readonly documents: readonly { readonly collection: string; readonly path: string; readonly change: string }[];
  readonly pins: readonly { readonly hash: string; readonly pinned: number }[];
}

/** What a store has besides its history. */
export interface TransferState {
  readonly documents: readonly TransferDocument[];
  readonly sessions: readonly TransferSession[];
  /** Contents without a document, and until when they are kept. */
  readonly contents: readonly { readonly hash: string; readonly keptUntil: number }[];
  readonly roots: readonly { readonly collection: string; readonly path: string; readonly added: number }[];
}

/** The state of a store at a place in its history. */
export interface PlacedState extends TransferState {
  readonly seq: number;
}

/** A store that can be copied, and into which one can be copied. */
export interface TransferStore {
  readonly id: string;
  bytes(id: ContentId): Promise<Uint8Array>;
  put(bytes: Uint8Array): Promise<ContentId>;
  has(id: ContentId): Promise<boolean>;
  /** All changes, in order. */
  history(): Promise<readonly TransferEvent[]>;
  /** The place up to which the history of the store with this id was replayed; 0 for none of it. */
  replayed(from: string): Promise<number>;
  /** Replays events whose contents are stored already. Durable when it resolves. */
  replay(replay: Replay): Promise<void>;
  transferState(): Promise<PlacedState>;
  /** Takes over a state whose documents and contents are stored already. */
  takeState(state: TransferState): Promise<void>;
}

interface CopyResult {
  readonly contents: number;
  readonly newBytes: number;
  readonly events: number;
  readonly snapshots: number;
  readonly documents: number;
  readonly sessions: number;
  /** Events that an earlier copy had replayed. */
  readonly resumed: number;
}

interface CopyOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ToolProgress) => void;
}

const BATCH_EVENTS = 100;
const BATCH_DOCUMENTS = 500;

export async function copyStore(
  from: TransferStore,
  to: TransferStore,
  options: CopyOptions = {},
): Promise<CopyResult> {
  if (from.id === to.id) throw new TrunklineError("INVALID_ARGUMENT", "Both are the same store.");
  const { signal, onProgress } = options;
  // The state first: all that it mentions is then in the history and among the contents. Others may change the store
  // meanwhile; what they do is left to the next copy.
  const { seq: last, ...state } = await from.transferState();
  const events = (await from.history()).filter(({ seq }) => seq <= last);
  const reached = await to.replayed(from.id);
  const left = await eventsLeft(events, reached, to);
  const hashes = hashesOf(events, state);
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
  for (let start = 0; start < left.length; ) {
    signal?.throwIfAborted();
    onProgress?.({ progress: start, total: left.length, message: "history" });
    const end = endOfBatch(left, start);
    const batch = left.slice(start, end);
    await to.replay({ from: from.id, events: batch, through: batch.at(-1)?.seq ?? reached });
    start = end;
  }
  for (const part of partsOf(state)) {
    signal?.throwIfAborted();
    await to.takeState(part);
  }
  await requireContents(hashes, to, options);
  requireState(state, await to.transferState(), { isRepeated: reached > 0 });
  return {
    contents: hashes.length,
    newBytes,
    events: events.length,
    snapshots: events.filter(({ kind }) => kind === "snapshot").length,
    documents: state.documents.filter((document) => document.state === "live").length,
    sessions: state.sessions.length,
    resumed: events.length - left.length,
  };
}

/** Returns the events behind a place, and the snapshots that were taken at it after the last copy. */
async function eventsLeft(
  events: readonly TransferEvent[],
  reached: number,
  to: TransferStore,
): Promise<readonly TransferEvent[]> {
  const here = events.filter(({ seq, kind }) => seq === reached && kind === "snapshot");
  const copied = new Set(
    here.length === 0 ? [] : (await to.history()).flatMap((event) => (event.kind === "snapshot" ? [event.id] : [])),
  );
  const isNew = (event: TransferEvent) => event.kind === "snapshot" && event.seq === reached && !copied.has(event.id);
  return events.filter((event) => event.seq > reached || isNew(event));
}

function hashesOf(events: readonly TransferEvent[], state: TransferState): string[] {
  return [
    ...new Set([
      ...events.flatMap((event) => (event.kind === "version" ? [event.hash] : [])),
      ...state.contents.map(({ hash }) => hash),
      ...state.sessions.flatMap(({ pins }) => pins.map(({ hash }) => hash)),
    ]),
  ];
}

/** Events with the same place stay together: a copy goes on behind a place. */
function endOfBatch(events: readonly TransferEvent[], start: number): number {
  let end = Math.min(start + BATCH_EVENTS, events.length);
  while (end < events.length && events[end]?.seq === events[end - 1]?.seq) end++;
  return end;
}

function partsOf(state: TransferState): TransferState[] {
  const none = { documents: [], sessions: [], contents: [], roots: [] };
  const parts: TransferState[] = [];
  for (let at = 0; at < state.documents.length; at += BATCH_DOCUMENTS) {
    parts.push({ ...none, documents: state.documents.slice(at, at + BATCH_DOCUMENTS) });
  }
  return [...parts, { ...state, documents: [] }];
}

/** Reads every content of the copy, which verifies it. */
async function requireContents(
  hashes: readonly string[],
  to: TransferStore,
  { signal, onProgress }: CopyOptions,
): Promise<void> {
  for (const [position, hash] of hashes.entries()) {
    signal?.throwIfAborted();
    onProgress?.({ progress: position, total: hashes.length, message: "verifying" });
    await to.bytes(hash as ContentId);
  }
}

/**
 * Compares every document and session of the copy with the original. Since an earlier copy, gc may have emptied the trash
 * of one store: then a document that is not live must only not be live in the other.
 */
function requireState(
  wanted: TransferState,
  found: TransferState,
  { isRepeated }: { readonly isRepeated: boolean },
): void {
  const keyOf = ({ collection, path }: { collection: string; path: string }) => JSON.stringify([collection, path]);
  const documents = new Map(found.documents.map((each) => [keyOf(each), each]));
  const compared = new Set<string>();
  for (const document of wanted.documents) {
    const copy = documents.get(keyOf(document));
    if (isRepeated && document.state !== "live") {
      if (copy?.state === "live") throw differs(document.path);
      continue;
    }
    if (copy === undefined || textOf(copy) !== textOf(document)) throw differs(document.path);
    compared.add(keyOf(document));
  }
  const sessions = new Map(found.sessions.map((each) => [each.id, each]));
  const count = (session: TransferSession) => session.documents.filter((each) => compared.has(keyOf(each))).length;
  for (const session of wanted.sessions) {
    const copy = sessions.get(session.id);
    if (copy === undefined || copy.pins.length < session.pins.length || count(copy) < count(session))
      throw differs(`session ${session.id}`);
  }
}

function textOf({ tags, metadata, indexed: _, ...rest }: TransferDocument): string {
  const facts = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1));
  const keys = Object.keys(metadata).sort();
  return JSON.stringify([facts, [...tags].sort(), keys.map((key) => [key, metadata[key]])]);
}

function differs(what: string): TrunklineError {
  return new TrunklineError("IO", `The copy of "${what}" differs from the original.`, {
    hint: "If one of the stores was changed meanwhile, copy again; only what is new is copied.",
  });
}
