// Values that are too large for the main thread: they stay on another thread, and only what is needed of them comes over.
import type { ContentId } from "./content-id.js";
import type { Shrunk } from "./shrink.js";
import type { PathReading, Segment } from "./value-paths.js";

/** A value in the form in which it is stored. */
export interface SerializedValue {
  readonly bytes: Uint8Array;
  readonly id: ContentId;
  /** The file extension of the stored name. */
  readonly extension: string;
  /** The number of lines, if the bytes are worth reading line by line. */
  readonly lines: number;
}

/** A large value. Rejects with `RESULT_TOO_LARGE` if its thread has failed. */
export abstract class LargeValue {
  /** The size of its JSON. */
  abstract readonly sizeBytes: number;
  /**
   * For a content block: its type and other short fields, the `size` of its payload, whether that `isText`, and the
   * `head` of a text. For combined blocks: their `count`.
   */
  abstract readonly about: Readonly<Record<string, unknown>>;
  /** A digest of it, as JSON of at most about `maxBytes` bytes. */
  abstract shrink(maxBytes: number): Promise<Shrunk>;
  abstract serialized(): Promise<SerializedValue>;
  /** Serializes a list of blocks of one result, the last of which is this one. */
  abstract serializedAfter(
    before: readonly (LargeValue | Readonly<Record<string, unknown>>)[],
  ): Promise<SerializedValue>;
  /** Follows a path. The value found may be a large one too. */
  abstract read(path: readonly Segment[]): Promise<PathReading>;
  /** Its JSON, on one line. */
  abstract json(): Promise<string>;
  /** Builds the whole value on this thread: only for whoever needs all of it. */
  abstract whole(): Promise<unknown>;
  /** Frees the memory of this value and of everything else from the same result. Idempotent. */
  abstract release(): void;
}

/**
 * The large parts of a tool's result. Reading them with `fields` or `whole` gives them up; after `outcome`, call
 * `release` once its values are no longer needed. Otherwise they are held until they are garbage.
 */
export interface LargeResult {
  readonly sizeBytes: number;
  /** The URIs of resources in its content, as far as they are worth remembering. */
  readonly links: readonly string[];
  /** The size of its texts. */
  readonly textBytes: number;
  /** The large fields, each as JSON on one line. */
  fields(): Promise<Readonly<Record<string, Uint8Array>>>;
  /** The value of the result, and its blocks other than text. Blocks that are large are large values. */
  outcome(): Promise<{ readonly value: unknown; readonly blocks: readonly (LargeValue | Record<string, unknown>)[] }>;
  /** Builds the large fields on this thread. */
  whole(): Promise<Record<string, unknown>>;
  /** Frees the memory of the result and of every value that came from it. Idempotent. */
  release(): void;
}

/** The value itself, if it is a large one. */
export async function wholeOf(value: unknown): Promise<unknown> {
  return value instanceof LargeValue ? await value.whole() : value;
}
