// Documents in memory, for grep tests.
import { contentIdOf } from "@trunkline/core";
import { compareText, type GrepDocument, type GrepRequest, type GrepSource, mayMatch } from "../../src/grep/index.js";

/** A source over names and bytes. `requests` records what it was asked for. */
export class MemorySource implements GrepSource {
  readonly requests: GrepRequest[] = [];
  readonly #documents: { document: GrepDocument; trigrams: Set<string> | undefined }[];

  constructor(files: readonly { name: string; bytes: Uint8Array }[], { filters = false } = {}) {
    this.#documents = files
      .map(({ name, bytes }) => ({
        document: { path: name, hash: contentIdOf(bytes), sizeBytes: bytes.length, read: async () => bytes },
        trigrams: filters ? trigramsOf(bytes) : undefined,
      }))
      .sort((a, b) => compareText(a.document.path, b.document.path));
  }

  async *documents(request: GrepRequest): AsyncGenerator<GrepDocument[]> {
    this.requests.push(request);
    for (const { document, trigrams } of this.#documents) {
      if (request.fromPath !== undefined && compareText(document.path, request.fromPath) < 0) continue;
      if (trigrams !== undefined && !mayMatch(request.trigrams, (trigram) => trigrams.has(trigram))) continue;
      yield [document];
    }
  }
}

/** Returns the trigrams of a text in an index that ignores ASCII case. */
export function trigramsOf(bytes: Uint8Array): Set<string> {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe ? "utf-16be" : "utf-8";
  const text = new TextDecoder(encoding).decode(bytes);
  const chars = [...text].map((char) =>
    /^[A-Z\u017f\u212a]$/.test(char) ? char.replace("\u017f", "s").replace("\u212a", "k").toLowerCase() : char,
  );
  const trigrams = new Set<string>();
  for (let index = 0; index + 3 <= chars.length; index++) trigrams.add(chars.slice(index, index + 3).join(""));
  return trigrams;
}
