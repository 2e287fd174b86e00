import { createHash } from "node:crypto";
import type { Embedder } from "@trunkline/core";

/** Words that the fake model treats as synonyms, so tests can tell meaning from spelling. */
const SAME: Readonly<Record<string, string>> = { kitten: "cat", feline: "cat", automobile: "car", vehicle: "car" };

/** Equal text gives equal vectors: the sum of one direction per word, at length 1. */
export class FakeEmbedder implements Embedder {
  readonly model: string;
  readonly dimensions = 64;
  /** Every text that was embedded, in order. */
  readonly seen: string[] = [];
  /** Called before each list of texts; can wait or throw. */
  before: ((texts: readonly string[]) => Promise<void> | void) | undefined;

  constructor(model = "fake-1") {
    this.model = model;
  }

  async embed(texts: readonly string[], options: { signal?: AbortSignal } = {}): Promise<readonly Float32Array[]> {
    await this.before?.(texts);
    options.signal?.throwIfAborted();
    this.seen.push(...texts);
    return texts.map((text) => this.#vector(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #vector(text: string): Float32Array {
    const vector = new Float32Array(this.dimensions);
    for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
      const digest = createHash("sha256")
        .update(`${this.model}/${SAME[word] ?? word}`)
        .digest();
      for (let n = 0; n < this.dimensions; n++) {
        const bit = ((digest[n >> 3] as number) >> (n & 7)) & 1;
        vector[n] = (vector[n] as number) + (bit === 1 ? 1 : -1);
      }
    }
    const length = Math.hypot(...vector) || 1;
    return vector.map((number) => number / length);
  }
}
