// Results that are passed on without being parsed: their large fields are JSON already.
import type { OutgoingMessage } from "./messages.js";

/** What is known about the content of a result without parsing it. */
interface ContentSummary {
  /** The URIs of its resources. */
  readonly links: readonly string[];
  /** The size of its texts. */
  readonly textBytes: number;
}

/** A field of a result whose JSON, on one line, is known. */
export class JsonBytes {
  readonly bytes: Uint8Array;
  readonly summary: ContentSummary | undefined;

  constructor(bytes: Uint8Array, summary?: ContentSummary) {
    this.bytes = bytes;
    this.summary = summary;
  }

  /** Builds the value, for code that does not use {@link encodeMessage}. */
  toJSON(): unknown {
    return JSON.parse(Buffer.from(this.bytes).toString("utf8"));
  }
}

/** Serializes a message: as text, or as bytes if its result has {@link JsonBytes} fields. */
export function encodeMessage(message: OutgoingMessage): string | Uint8Array {
  if (!hasJsonBytes(message.result)) return JSON.stringify(message);
  const { result, ...envelope } = message;
  const large: [string, JsonBytes][] = [];
  const small: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(result)) {
    if (field instanceof JsonBytes) large.push([name, field]);
    else small[name] = field;
  }
  const fields = JSON.stringify(small).slice(0, -1);
  const parts: Uint8Array[] = [Buffer.from(`${JSON.stringify(envelope).slice(0, -1)},"result":${fields}`)];
  for (const [index, [name, { bytes }]] of large.entries()) {
    parts.push(Buffer.from(`${index > 0 || fields !== "{" ? "," : ""}${JSON.stringify(name)}:`), bytes);
  }
  return Buffer.concat([...parts, Buffer.from("}}")]);
}

function hasJsonBytes(result: unknown): result is object {
  if (typeof result !== "object" || result === null) return false;
  for (const name in result) if ((result as Record<string, unknown>)[name] instanceof JsonBytes) return true;
  return false;
}

/** Serializes a batch. */
export function encodeBatch(messages: readonly OutgoingMessage[]): string | Uint8Array {
  const parts = messages.map(encodeMessage);
  if (parts.every((part) => typeof part === "string")) return `[${parts.join(",")}]`;
  const separated = parts.flatMap((part, index) => [Buffer.from(index === 0 ? "[" : ","), Buffer.from(part)]);
  return Buffer.concat([...separated, Buffer.from("]")]);
}
