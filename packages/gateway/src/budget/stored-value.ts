// How values are stored: a text as is, anything else as JSON in lines, so that line ranges, patterns and search work on
// it.
import {
  type ContentId,
  type ContentStore,
  contentIdOf,
  isRecord,
  LargeValue,
  linedJson,
  type SerializedValue,
  wholeSpan,
} from "@trunkline/core";

/** The collection for stored values. The store deletes its documents after seven days. */
export const RESULTS_COLLECTION = "results";

/** Field names that tools use for a result that is a single text. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(["text", "content", "result"]);

/** Serializes a value. A value that is just a text is stored as that text. */
export async function serializeValue(value: unknown): Promise<SerializedValue> {
  if (value instanceof LargeValue) return await value.serialized();
  const text = textOf(value);
  if (text === undefined) {
    const { bytes, lines } = linedJson(wholeSpan(new TextEncoder().encode(JSON.stringify(value) ?? "null")));
    return { bytes, id: contentIdOf(bytes), extension: "json", lines };
  }
  const bytes = new TextEncoder().encode(text);
  let lines = 1;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++;
  return { bytes, id: contentIdOf(bytes), extension: "txt", lines };
}

/** The text of a value that is nothing else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length !== 1 || only === undefined || !TEXT_FIELDS.has(only[0])) return undefined;
  return typeof only[1] === "string" ? only[1] : undefined;
}

/** Stores a value as a document in the results collection. */
export async function storeValue(
  store: ContentStore,
  serialized: SerializedValue,
  options: { op: string; signal?: AbortSignal },
): Promise<ContentId> {
  const { op, signal } = options;
  const time = new Date().toISOString().replaceAll(/[-:.]/g, "");
  const name = `${op.replaceAll(/[^\w.-]/g, "_")}-${time}-${serialized.id.slice(0, 8)}.${serialized.extension}`;
  await store.run(
    "add",
    { content: serialized.bytes, name, collection: RESULTS_COLLECTION, metadata: { op } },
    signal === undefined ? {} : { signal },
  );
  return serialized.id;
}
