// Reads a large message without building its values: which request it answers, which of its fields are large, and the
// value of a tool's result. Runs on the message thread.
import {
  ByteOutput,
  checkJson,
  decodedText,
  fieldMap,
  fieldOf,
  fieldsOf,
  hasFewValues,
  isRecord,
  itemsOf,
  recordOfText,
  type Span,
  shrinkSpan,
  spanKind,
  spanText,
  spanValue,
  wholeSpan,
} from "@trunkline/core";
import { answeredId, ID_WINDOW_BYTES, isRpcId, MAX_MESSAGE_DEPTH, type RpcId } from "@trunkline/protocol";

/** What the main thread gets of a large message. */
export type Envelope =
  /** Few values, however long: the main thread parses it. */
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "refused"; readonly id: RpcId | undefined; readonly reason: "tooDeep" | "tooLarge" | "invalid" }
  | {
      readonly kind: "result";
      readonly id: RpcId;
      /** The small fields. */
      readonly result: Readonly<Record<string, unknown>>;
      /** The names of the large fields. */
      readonly large: readonly string[];
      readonly sizeBytes: number;
      readonly links: readonly string[];
      readonly textBytes: number;
    };

/** A message with at most this many values is cheap to build. */
const FEW_VALUES = 20_000;
/** A field of a result is large above this size, or if the small ones together exceed the second. */
const LARGE_FIELD_BYTES = 4 * 1024;
const SMALL_FIELDS_BYTES = 64 * 1024;
const MOST_FIELDS = 1_000;
const MOST_ERROR_BYTES = 16 * 1024;
const MOST_LINKS = 1_000;
const LONGEST_LINK = 2_000;
/** Blocks beyond this many are combined into one value. */
const MOST_BLOCKS = 60;
/** A block up to this size, apart from its base64, is built on the main thread. */
const SMALL_BLOCK_BYTES = 64 * 1024;
/** The most base64 that is ever sent to a client in one block. */
const MOST_BLOCK_CHARS = 1024 * 1024;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;

/** Reads a message. `result` is its result, for an envelope of that kind. */
export function readLargeMessage(bytes: Uint8Array): { readonly envelope: Envelope; readonly result?: Span } {
  const problem = checkJson(bytes, { maxDepth: MAX_MESSAGE_DEPTH });
  if (problem === "invalid") return { envelope: { kind: "refused", id: undefined, reason: "invalid" } };
  if (problem === "deep") return { envelope: { kind: "refused", id: idOfDeep(bytes), reason: "tooDeep" } };
  const message = wholeSpan(bytes);
  const plain = (): Envelope =>
    hasFewValues(message, FEW_VALUES)
      ? { kind: "plain", text: spanText(message) }
      : { kind: "refused", id, reason: "tooLarge" };
  let id: RpcId | undefined;
  if (spanKind(message) !== "record") return { envelope: plain() };
  const top = fieldMap(message);
  const result = top.get("result");
  const idSpan = top.get("id");
  const given = idSpan === undefined || idSpan.end - idSpan.start > 1_000 ? undefined : spanValue(idSpan);
  const isAnswer = !top.has("method") && isRpcId(given);
  if (isAnswer) id = given;
  const error = top.get("error");
  if (id !== undefined && error !== undefined) {
    const text = JSON.stringify({ jsonrpc: "2.0", id, error: shrinkSpan(error, MOST_ERROR_BYTES).value });
    return { envelope: { kind: "plain", text } };
  }
  if (id === undefined || result === undefined || spanKind(result) !== "record") return { envelope: plain() };
  const split = splitFields(result);
  if (split === undefined) return { envelope: { kind: "refused", id, reason: "tooLarge" } };
  const { small, large, content } = split;
  // A task, or questions: the conversation needs all of it.
  if (small.resultType !== undefined && small.resultType !== "complete") return { envelope: plain() };
  const { links, textBytes } =
    content !== undefined && spanKind(content) === "list" ? summaryOf(content) : { links: [], textBytes: 0 };
  const sizeBytes = result.end - result.start;
  return { envelope: { kind: "result", id, result: small, large, sizeBytes, links, textBytes }, result };
}

/** A message that is nested too deeply is not parsed at all, so its id is only found at the usual places. */
function idOfDeep(bytes: Uint8Array): RpcId | undefined {
  const text = (start: number, end?: number) => Buffer.from(bytes.subarray(start, end)).toString("utf8");
  return answeredId(text(0, ID_WINDOW_BYTES), text(-ID_WINDOW_BYTES));
}

function splitFields(
  result: Span,
): { small: Record<string, unknown>; large: string[]; content: Span | undefined } | undefined {
  const small: Record<string, unknown> = {};
  const large = new Set<string>();
  let content: Span | undefined;
  let smallBytes = 0;
  let count = 0;
  for (const [name, field] of fieldsOf(result)) {
    if (++count > MOST_FIELDS) return undefined;
    if (name === "__proto__") continue;
    if (name === "content") content = field;
    const bytes = field.end - field.start;
    const isSmall = bytes <= LARGE_FIELD_BYTES && smallBytes + bytes <= SMALL_FIELDS_BYTES;
    large.delete(name);
    delete small[name];
    if (isSmall) small[name] = spanValue(field);
    else large.add(name);
    if (isSmall) smallBytes += bytes;
  }
  return { small, large: [...large], content };
}

function summaryOf(content: Span): { links: string[]; textBytes: number } {
  const links: string[] = [];
  let textBytes = 0;
  for (const block of itemsOf(content)) {
    if (spanKind(block) !== "record") continue;
    const text = textOfBlock(block);
    if (text !== undefined) textBytes += text.end - text.start;
    else if (links.length < MOST_LINKS) {
      const resource = fieldOf(block, "resource");
      const holder = resource !== undefined && spanKind(resource) === "record" ? resource : block;
      const uri = fieldOf(holder, "uri");
      if (uri !== undefined && spanKind(uri) === "text" && uri.end - uri.start < LONGEST_LINK) {
        links.push(String(spanValue(uri)));
      }
    }
  }
  return { links, textBytes };
}

/** The text of a text block. */
function textOfBlock(block: Span): Span | undefined {
  const fields = fieldMap(block);
  const type = fields.get("type");
  if (type === undefined || type.end - type.start !== '"text"'.length || spanText(type) !== '"text"') return undefined;
  const text = fields.get("text");
  return text !== undefined && spanKind(text) === "text" ? text : undefined;
}

/**
 * The value of a tool's result: its structured content, the JSON in its only text, or its text. And its other blocks: a
 * small one as it is, a large one as a span.
 */
export function outcomeOf(result: Span): {
  readonly value: Span;
  readonly blocks: readonly (Span | Record<string, unknown>)[];
} {
  const fields = fieldMap(result);
  const content = fields.get("content");
  const texts: Span[] = [];
  const blocks: (Span | Record<string, unknown>)[] = [];
  const rest = new ByteOutput(0);
  if (content !== undefined && spanKind(content) === "list") {
    for (const block of itemsOf(content)) {
      if (spanKind(block) !== "record") continue;
      const text = textOfBlock(block);
      if (text !== undefined) texts.push(text);
      else if (blocks.length < MOST_BLOCKS) blocks.push(smallBlock(block) ?? block);
      else {
        rest.byte(rest.length === 0 ? OPEN_LIST : COMMA);
        rest.copy(block.bytes.subarray(block.start, block.end));
      }
    }
  }
  if (rest.length > 0) {
    rest.byte(CLOSE_LIST);
    blocks.push(wholeSpan(rest.take()));
  }
  const structured = fields.get("structuredContent");
  if (
    structured !== undefined &&
    spanText({ ...structured, end: Math.min(structured.end, structured.start + 4) }) !== "null"
  )
    return { value: structured, blocks };
  const [only] = texts;
  if (texts.length === 1 && only !== undefined) return { value: jsonIn(only) ?? recordOfText("text", only), blocks };
  if (texts.length === 0 && blocks.length > 0) return { value: wholeSpan(Buffer.from("{}")), blocks };
  const joined = texts.map((text) => String(spanValue(text))).join("\n");
  return { value: wholeSpan(Buffer.from(JSON.stringify({ text: joined }))), blocks };
}

/** Builds a block that is cheap and may be sent to a client; undefined for any other. */
function smallBlock(block: Span): Record<string, unknown> | undefined {
  const isSmall = block.end - block.start <= SMALL_BLOCK_BYTES;
  const mayBeSent = block.end - block.start <= MOST_BLOCK_CHARS + SMALL_BLOCK_BYTES && hasFewValues(block, 100);
  const value = isSmall || mayBeSent ? spanValue(block) : undefined;
  return isRecord(value) ? value : undefined;
}

/** A text whose content begins like an object or a list, maybe with escapes. */
const LIKE_JSON = /^"(?:\s|\\[nrt]|\\u00(?:09|0a|0d|20))*(?:[[{]|\\u00[57]b)/i;
const LIKE_JSON_BYTES = 200;

/** The object or list that a text contains as JSON. */
function jsonIn(text: Span): Span | undefined {
  const start = spanText({ ...text, end: Math.min(text.end, text.start + LIKE_JSON_BYTES) });
  if (!LIKE_JSON.test(start)) return undefined;
  const { bytes } = decodedText(text);
  return checkJson(bytes, { maxDepth: MAX_MESSAGE_DEPTH }) === undefined ? wholeSpan(bytes) : undefined;
}
