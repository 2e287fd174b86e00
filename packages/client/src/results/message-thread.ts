// The thread that holds large messages. It answers questions about their values, so that only what is needed reaches the
// main thread.
import { isUtf8 } from "node:buffer";
import { parentPort } from "node:worker_threads";
import {
  ByteOutput,
  compactJson,
  contentIdOf,
  countOf,
  decodedText,
  fieldOf,
  fieldsOf,
  isRecord,
  itemsOf,
  linedJson,
  type PathReading,
  readPath,
  type Segment,
  type SerializedValue,
  type Shrunk,
  type Span,
  shrinkSpan,
  spanKind,
  spanText,
  spanValue,
  wholeSpan,
} from "@trunkline/core";
import { serveRpc, Transferred } from "@trunkline/core/threads";
import { HeldSpans } from "./held-spans.js";
import { type Envelope, outcomeOf, readLargeMessage } from "./large-message.js";

/** A value on this thread, as the main thread refers to it. */
export interface Reference {
  readonly reference: number;
  readonly sizeBytes: number;
}

/** A value, or where it is if it is large. */
export type Found = { readonly value: unknown } | Reference;

export interface ThreadAnswers {
  open: { readonly envelope: Envelope; readonly result?: Reference };
  fields: Readonly<Record<string, Uint8Array>>;
  outcome: {
    readonly value: Found;
    readonly blocks: readonly (Found & { readonly about?: Record<string, unknown> })[];
  };
  shrink: Shrunk;
  serialize: SerializedValue;
  serializeAfter: SerializedValue;
  read: { readonly found: Found; readonly missing: number };
  text: string;
  /** The JSON of the first items of a list in pieces, and whether these are all. */
  items: { readonly pieces: readonly string[]; readonly isAll: boolean };
}

export type ThreadRequest =
  | { readonly op: "open"; readonly bytes: Uint8Array }
  | { readonly op: "fields"; readonly reference: number; readonly names: readonly string[] }
  | { readonly op: "outcome" | "serialize" | "text"; readonly reference: number }
  | { readonly op: "serializeAfter"; readonly reference: number; readonly before: readonly (string | number)[] }
  | { readonly op: "shrink"; readonly reference: number; readonly maxBytes: number }
  | { readonly op: "read"; readonly reference: number; readonly path: readonly Segment[] }
  | {
      readonly op: "items";
      readonly reference: number;
      readonly name: string;
      readonly maxItems: number;
      readonly maxBytes: number;
    };

/** A value up to this size is passed to the main thread if it is cheap to build. */
const SMALL_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const PIECE_BYTES = 256 * 1024;
/** Field names under which tools return a result that is a single text. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(["text", "content", "result"]);

const spans = new HeldSpans();
/** Those of the spans that are content blocks. */
const blockReferences = new Set<number>();

function kept(span: Span): Reference {
  return { reference: spans.hold(span), sizeBytes: span.end - span.start };
}

function found(span: Span): Found {
  return span.end - span.start <= SMALL_BYTES ? { value: spanValue(span) } : kept(span);
}

function spanAt(reference: number): Span {
  const span = spans.get(reference);
  if (span === undefined) throw new Error("The value has been released.");
  return span;
}

function open(given: Uint8Array): ThreadAnswers["open"] {
  // Invalid characters become replacement characters, as on the main thread.
  const bytes = isUtf8(given) ? given : Buffer.from(Buffer.from(given).toString("utf8"));
  const { envelope, result } = readLargeMessage(bytes);
  return { envelope, result: result === undefined ? undefined : kept(result) };
}

function fields(result: Span, names: readonly string[]): ThreadAnswers["fields"] {
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = fieldOf(result, name);
      // A copy, because the bytes are handed over.
      return field === undefined ? [] : [[name, compactJson(field).slice()]];
    }),
  );
}

function outcome(result: Span): ThreadAnswers["outcome"] {
  const { value, blocks } = outcomeOf(result);
  return {
    value: found(value),
    blocks: blocks.map((block) => {
      if (!isSpan(block)) return { value: block };
      const reference = kept(block);
      blockReferences.add(reference.reference);
      return { ...reference, about: aboutBlock(block) };
    }),
  };
}

function isSpan(block: Span | Record<string, unknown>): block is Span {
  return block.bytes instanceof Uint8Array;
}

const BLOCK_FIELDS = ["type", "mimeType", "uri", "name"] as const;
const LONGEST_BLOCK_FIELD = 1_000;
/** The beginning of a large text, as much of it as an answer can have room for. */
const BLOCK_HEAD_CHARS = 64 * 1024;

/** Describes a large block: its short fields, the size of its payload, and whether that is text. */
function aboutBlock(block: Span): Record<string, unknown> {
  const { payload, holder, isText } = payloadOf(block);
  const about: Record<string, unknown> = { isText, size: payload.end - payload.start };
  for (const record of [holder, block]) {
    if (spanKind(record) !== "record") continue;
    for (const [name, field] of fieldsOf(record)) {
      const isShort = spanKind(field) === "text" && field.end - field.start < LONGEST_BLOCK_FIELD;
      if (isShort && (BLOCK_FIELDS as readonly string[]).includes(name)) about[name] = spanValue(field);
    }
  }
  if (payload === block) return spanKind(block) === "list" ? { ...about, count: countOf(block) } : about;
  const text = String(spanValue(payload));
  about.size = Buffer.byteLength(text, isText ? "utf8" : "base64");
  // Half a surrogate pair is JSON that strict readers refuse.
  return isText ? { ...about, head: text.slice(0, BLOCK_HEAD_CHARS).replace(/[\ud800-\udbff]$/, "") } : about;
}

/** The base64 of an image, a sound or a file, or the text of an embedded resource; otherwise the block itself. */
function payloadOf(block: Span): { payload: Span; holder: Span; isText: boolean } {
  if (spanKind(block) === "record") {
    const data = fieldOf(block, "data");
    if (data !== undefined && isBase64(data)) return { payload: data, holder: block, isText: false };
    const resource = fieldOf(block, "resource");
    if (resource !== undefined && spanKind(resource) === "record") {
      const text = fieldOf(resource, "text");
      if (text !== undefined && spanKind(text) === "text") return { payload: text, holder: resource, isText: true };
      const blob = fieldOf(resource, "blob");
      if (blob !== undefined && isBase64(blob)) return { payload: blob, holder: resource, isText: false };
    }
  }
  return { payload: block, holder: block, isText: true };
}

function isBase64(span: Span): boolean {
  return spanKind(span) === "text" && /^"[A-Za-z0-9+/_-]*={0,2}"$/.test(spanText(span));
}

/** Blocks that were combined, after others: JSON texts, or blocks on this thread. */
function serializeAfter(before: readonly (string | number)[], combined: Span): SerializedValue {
  const out = new ByteOutput(combined.end - combined.start);
  const parts = before.map((part) => (typeof part === "string" ? Buffer.from(part) : compactJson(spanAt(part))));
  if (spanKind(combined) !== "list") parts.push(compactJson(combined));
  for (const [index, part] of parts.entries()) {
    out.copy(Buffer.from(index === 0 ? "[" : ","));
    out.copy(part);
  }
  if (spanKind(combined) === "list") {
    out.copy(Buffer.from(parts.length === 0 ? "[" : ","));
    out.copy(combined.bytes.subarray(combined.start + 1, combined.end));
  } else out.copy(Buffer.from("]"));
  return serialize(wholeSpan(out.take()));
}

function serializeBlock(block: Span): SerializedValue {
  const { payload, holder, isText } = payloadOf(block);
  if (payload === block) return serialize(block);
  const text = String(spanValue(payload));
  const bytes = isText ? Buffer.from(text) : Buffer.from(text, "base64");
  const mimeType = fieldOf(holder, "mimeType");
  const subtype =
    mimeType === undefined ? undefined : /\/(?:x-)?([a-z0-9]{2,8})/i.exec(String(spanValue(mimeType)))?.[1];
  return { bytes, id: contentIdOf(bytes), extension: isText ? "txt" : (subtype?.toLowerCase() ?? "bin"), lines: 1 };
}

/** A value that is just a text is stored as that text, and anything else as JSON in lines. */
function serialize(span: Span): SerializedValue {
  const text = onlyText(span);
  if (text === undefined) {
    const { bytes, lines } = linedJson(span);
    return { bytes, id: contentIdOf(bytes), extension: "json", lines };
  }
  const { bytes } = decodedText(text);
  let lines = 1;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) lines++;
  return { bytes, id: contentIdOf(bytes), extension: "txt", lines };
}

function onlyText(span: Span): Span | undefined {
  if (spanKind(span) === "text") return span;
  if (spanKind(span) !== "record") return undefined;
  let only: Span | undefined;
  for (const [name, field] of fieldsOf(span)) {
    if (only !== undefined || !TEXT_FIELDS.has(name) || spanKind(field) !== "text") return undefined;
    only = field;
  }
  return only;
}

/** Follows a path: field by field in the bytes, and item by item for a map, so that little is built at a time. */
function read(span: Span, path: readonly Segment[]): ThreadAnswers["read"] {
  let current = span;
  for (const [at, segment] of path.entries()) {
    const kind = spanKind(current);
    let next: Span | undefined;
    if (segment.kind === "field" && kind === "record") next = fieldOf(current, segment.name);
    else if (segment.kind === "index" && segment.index >= 0 && kind === "list") next = nth(current, segment.index);
    else if (segment.kind === "map" && kind === "list") return readEach(current, path.slice(at + 1));
    else return read1(spanValue(current), path.slice(at));
    if (next === undefined) return { found: { value: null }, missing: 1 };
    current = next;
  }
  return { found: found(current), missing: 0 };
}

function read1(value: unknown, path: readonly Segment[]): ThreadAnswers["read"] {
  const reading: PathReading = readPath(value, path);
  return { found: found(wholeSpan(Buffer.from(JSON.stringify(reading.value)))), missing: reading.missing };
}

function readEach(list: Span, path: readonly Segment[]): ThreadAnswers["read"] {
  const out = new ByteOutput(1024);
  const isNested = path.some(({ kind }) => kind === "map");
  let missing = 0;
  let separator = "[";
  const add = (value: unknown) => {
    out.copy(Buffer.from(separator + JSON.stringify(value)));
    separator = ",";
  };
  for (const item of itemsOf(list)) {
    const reading = readPath(spanValue(item), path);
    missing += reading.missing;
    if (isNested && Array.isArray(reading.value)) for (const inner of reading.value) add(inner);
    else add(reading.value);
  }
  out.copy(Buffer.from(separator === "[" ? "[]" : "]"));
  return { found: found(wholeSpan(out.take())), missing };
}

function nth(list: Span, index: number): Span | undefined {
  let at = 0;
  for (const item of itemsOf(list)) if (at++ === index) return item;
  return undefined;
}

function items({ reference, name, maxItems, maxBytes }: ThreadRequest & { op: "items" }): ThreadAnswers["items"] {
  const list = fieldOf(spanAt(reference), name);
  const pieces: string[] = [];
  let piece: string[] = [];
  let pieceBytes = 0;
  let sizeBytes = 0;
  let count = 0;
  const flush = () => {
    if (piece.length > 0) pieces.push(`[${piece.join(",")}]`);
    piece = [];
    pieceBytes = 0;
  };
  if (list === undefined || spanKind(list) !== "list") return { pieces, isAll: true };
  for (const item of itemsOf(list)) {
    const bytes = item.end - item.start;
    sizeBytes += bytes;
    if (++count > maxItems || sizeBytes > maxBytes) {
      flush();
      return { pieces, isAll: false };
    }
    piece.push(spanText(item));
    pieceBytes += bytes;
    if (pieceBytes > PIECE_BYTES) flush();
  }
  flush();
  return { pieces, isAll: true };
}

function answer(request: ThreadRequest): unknown {
  switch (request.op) {
    case "open":
      return open(request.bytes);
    case "fields":
      return fields(spanAt(request.reference), request.names);
    case "outcome":
      return outcome(spanAt(request.reference));
    case "shrink":
      return shrinkSpan(spanAt(request.reference), request.maxBytes, { digest: true });
    case "serialize":
      return (blockReferences.has(request.reference) ? serializeBlock : serialize)(spanAt(request.reference));
    case "serializeAfter":
      return serializeAfter(request.before, spanAt(request.reference));
    case "read":
      return read(spanAt(request.reference), request.path);
    case "text":
      return Buffer.from(compactJson(spanAt(request.reference))).toString("utf8");
    case "items":
      return items(request);
  }
}

/** The memory of large answers is handed over instead of copied. */
function memoryIn(value: unknown): ArrayBuffer[] {
  if (value instanceof Uint8Array) {
    const isOwn = value.byteLength > SMALL_BYTES && value.buffer instanceof ArrayBuffer && !spans.use(value.buffer);
    return isOwn ? [value.buffer as ArrayBuffer] : [];
  }
  return isRecord(value) ? Object.values(value).flatMap(memoryIn) : [];
}

function handle(request: ThreadRequest): Transferred<unknown> {
  const value = answer(request);
  return new Transferred(value, memoryIn(value));
}

function release(reference: number): void {
  spans.release(reference);
  blockReferences.delete(reference);
}

if (parentPort !== null)
  serveRpc(parentPort, (method) => (method === "release" ? release : handle), { owner: "large message" });
